//! Many delegations, and many that are called back at once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nfs4_proto::{ArgOp, CbArgOp, Fh, OpenClaim, OpenHow, ShareAccess, ShareDeny, StateId, Status, Want};
use tokio::task::JoinHandle;

use super::Told;
use crate::wire::{Peer, Spec, delegation_of, give_back, ops};

/// A client and the files that it has made; then, what it holds on them.
pub struct Holder {
    peer: Peer,
    files: Vec<Fh>,
}

/// What came of a storm.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// OPENs sent, those that came again too.
    pub opens: u64,
    /// Those answered NFS4ERR_DELAY.
    pub delays: u64,
    /// CB_RECALLs.
    pub recalls: u64,
    /// DELEGRETURNs.
    pub returns: u64,
    /// How long it took.
    pub took: Duration,
}

/// A client that can be called.
async fn client(address: SocketAddr, owner: &str) -> Peer {
    let mut spec = Spec::new(owner);
    spec.fore.maxrequests = 64;
    spec.back.maxrequests = 64;
    Peer::callable(address, spec).await
}

/// Clients with files of their own, on which nothing is held.
pub async fn holders(address: SocketAddr, clients: u64, each: u64, told: Told<'_>) -> Vec<Holder> {
    let mut all = Vec::new();
    for n in 0..clients {
        let mut peer = client(address, &format!("holder-{n}")).await;
        let root = peer.root.clone();
        let dir = peer.mkdir(&root, format!("of-{n}")).await;
        let mut files = Vec::new();
        for file in 0..each {
            let access = ShareAccess::BOTH.with_want(Want::No);
            let claim = OpenClaim::Null(ops::name(format!("{file}")));
            let how = OpenHow::Create(ops::unchecked(ops::mode(0o666)));
            let open = ops::open("o", access, ShareDeny::NONE, how, claim);
            let made = vec![ops::putfh(&dir), open, ArgOp::Getfh, ops::close(StateId::CURRENT)];
            files.push(peer.run(made).await.ok().fh());
            told(n * each + file + 1, clients * each);
        }
        all.push(Holder { peer, files });
    }
    all
}

impl Holder {
    /// A delegation of each file, and no open.
    ///
    /// # Panics
    /// Where the server gives none.
    pub async fn hold(&mut self, write: bool) {
        let access = if write { ShareAccess::BOTH } else { ShareAccess::READ };
        for fh in self.files.clone() {
            let done = self.peer.open_fh(&fh, "o", access | ShareAccess::WANT_OPEN_XOR_DELEGATION).await;
            let shown = done.to_string();
            assert!(delegation_of(&fh, &done.ok().open().delegation).is_some(), "{shown}");
        }
    }

    /// Returns what is called back, until `stop`; the client's counts.
    fn serve(mut self, stop: Arc<AtomicBool>, recalls: Arc<AtomicU64>) -> JoinHandle<()> {
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let _ = self.peer.raw.wait_for_callback(Duration::from_millis(50)).await;
                for callback in std::mem::take(&mut self.peer.raw.callbacks) {
                    for op in callback.args.ops {
                        let CbArgOp::Recall(recall) = op else { continue };
                        recalls.fetch_add(1, Ordering::Relaxed);
                        let back = vec![ops::putfh(&recall.fh), give_back(recall.stateid)];
                        let _ = self.peer.run(back).await.ok();
                    }
                }
            }
        })
    }
}

/// One client opens `files` that others hold for writing, 32 at a time.
///
/// # Panics
/// Where the server answers what it may not.
pub async fn storm(address: SocketAddr, holders: Vec<Holder>, files: usize, told: Told<'_>) -> Storm {
    let all: Vec<Fh> = holders.iter().flat_map(|holder| holder.files.iter().cloned()).take(files).collect();
    let (stop, recalls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let serving: Vec<_> =
        holders.into_iter().map(|holder| holder.serve(Arc::clone(&stop), Arc::clone(&recalls))).collect();
    let mut writer = client(address, "writer").await;
    let (mut opens, mut delays, began) = (0_u64, 0_u64, Instant::now());
    let open = |fh: &Fh| {
        let access = ShareAccess::WRITE.with_want(Want::No);
        vec![ops::putfh(fh), ops::open("w", access, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh)]
    };
    let mut running = std::collections::VecDeque::new();
    let mut left = all.iter();
    let mut done = 0;
    for slot in 0..32 {
        let Some(fh) = left.next() else { break };
        opens += 1;
        running.push_back((slot, fh, writer.begin(slot, open(fh)).await));
    }
    while let Some((slot, fh, begun)) = running.pop_front() {
        let answer = writer.end(begun).await;
        let next = if answer.status() == Status::Delay {
            delays += 1;
            Some(fh)
        } else {
            let _ = answer.ok();
            done += 1;
            told(done, files as u64);
            left.next()
        };
        if let Some(fh) = next {
            opens += 1;
            running.push_back((slot, fh, writer.begin(slot, open(fh)).await));
        }
    }
    let took = began.elapsed();
    stop.store(true, Ordering::Relaxed);
    for one in serving {
        one.await.expect("a holder fails");
    }
    let recalls = recalls.load(Ordering::Relaxed);
    Storm { opens, delays, recalls, returns: recalls, took }
}
