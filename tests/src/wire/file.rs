//! What tests do all the time with files and directories.

use nfs4_proto::{ArgOp, Attr, Attrs, Fh, OpenClaim, OpenHow, ShareAccess, ShareDeny, StateId, Status, Want};

use super::{Peer, ops};

/// An open file.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its handle.
    pub fh: Fh,
    /// The open's state.
    pub stateid: StateId,
}

impl Peer {
    /// Creates a file (or opens the one that is there) for reading and writing, by owner "o". A delegation is not wanted:
    /// nobody would return it.
    pub async fn create(&mut self, dir: &Fh, name: impl AsRef<[u8]>) -> Opened {
        let how = OpenHow::Create(ops::unchecked(ops::mode(0o644)));
        let access = ShareAccess::BOTH.with_want(Want::No);
        let open = ops::open("o", access, ShareDeny::NONE, how, OpenClaim::Null(ops::name(name)));
        let done = self.run(vec![ops::putfh(dir), open, ArgOp::Getfh]).await.ok();
        Opened { fh: done.fh(), stateid: done.open().stateid }
    }

    /// Creates a file with content, closed.
    pub async fn file(&mut self, dir: &Fh, name: impl AsRef<[u8]>, content: &[u8]) -> Fh {
        let file = self.create(dir, name).await;
        if !content.is_empty() {
            self.write(&file, 0, content).await;
        }
        self.close(&file).await;
        file.fh
    }

    /// Opens a file that is there.
    pub async fn open(
        &mut self,
        dir: &Fh,
        name: impl AsRef<[u8]>,
        owner: &str,
        access: ShareAccess,
        deny: ShareDeny,
    ) -> Result<Opened, Status> {
        let op = ops::open_name(owner, name, access, deny);
        let done = self.run(vec![ops::putfh(dir), op, ArgOp::Getfh]).await;
        if done.status() != Status::Ok {
            return Err(done.status());
        }
        let done = done.ok();
        Ok(Opened { fh: done.fh(), stateid: done.open().stateid })
    }

    /// Closes.
    pub async fn close(&mut self, file: &Opened) {
        let _ = self.run(vec![ops::putfh(&file.fh), ops::close(file.stateid)]).await.ok();
    }

    /// Writes all of it.
    pub async fn write(&mut self, file: &Opened, offset: u64, data: &[u8]) {
        let op = ops::write(file.stateid, offset, data);
        let done = self.run(vec![ops::putfh(&file.fh), op]).await.ok().write();
        assert_eq!(usize::try_from(done.count).unwrap(), data.len());
    }

    /// Reads.
    pub async fn read(&mut self, file: &Opened, offset: u64, count: u32) -> (Vec<u8>, bool) {
        let op = ops::read(file.stateid, offset, count);
        let done = self.run(vec![ops::putfh(&file.fh), op]).await.ok().read();
        (done.data.into_bytes().to_vec(), done.eof)
    }

    /// Makes a directory.
    pub async fn mkdir(&mut self, dir: &Fh, name: impl AsRef<[u8]>) -> Fh {
        self.run(vec![ops::putfh(dir), ops::mkdir(name), ArgOp::Getfh]).await.ok().fh()
    }

    /// Looks a name up.
    pub async fn lookup(&mut self, dir: &Fh, name: impl AsRef<[u8]>) -> Result<Fh, Status> {
        let done = self.run(vec![ops::putfh(dir), ops::lookup(name), ArgOp::Getfh]).await;
        if done.status() == Status::Ok { Ok(done.ok().fh()) } else { Err(done.status()) }
    }

    /// Removes a name.
    pub async fn remove(&mut self, dir: &Fh, name: impl AsRef<[u8]>) {
        let _ = self.run(vec![ops::putfh(dir), ops::remove(name)]).await.ok();
    }

    /// Reads attributes.
    pub async fn attrs(&mut self, fh: &Fh, want: &[Attr]) -> Attrs {
        self.run(vec![ops::putfh(fh), ops::getattr(want)]).await.ok().attrs()
    }

    /// An object's change attribute.
    pub async fn change(&mut self, fh: &Fh) -> u64 {
        self.attrs(fh, &[Attr::Change]).await.change().unwrap()
    }

    /// Lists a directory page by page: names with their cookies, in order.
    pub async fn list(&mut self, dir: &Fh, maxcount: u32) -> Vec<(Vec<u8>, u64)> {
        let (mut cookie, mut verifier) = (0, [0; 8]);
        let mut names = Vec::new();
        loop {
            let op = ops::readdir(cookie, verifier, maxcount, &[Attr::Fileid]);
            let page = self.run(vec![ops::putfh(dir), op]).await.ok().readdir();
            verifier = page.cookieverf;
            assert!(page.reply.eof || !page.reply.entries.0.is_empty(), "a page without progress");
            for entry in page.reply.entries.0 {
                cookie = entry.cookie;
                names.push((entry.name.to_vec(), cookie));
            }
            if page.reply.eof {
                return names;
            }
        }
    }

    /// The names of a directory, sorted.
    pub async fn names(&mut self, dir: &Fh) -> Vec<String> {
        let list = self.list(dir, 32 << 10).await;
        let mut names: Vec<_> =
            list.into_iter().map(|(name, _)| String::from_utf8_lossy(&name).into_owned()).collect();
        names.sort();
        names
    }
}
