//! Extended attributes of users (RFC 8276): the kernel's, in its "user." name space.

use std::ffi::CString;

use bytes::Bytes;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::attr::R;
use super::cache::Object;
use super::{Inner, sys};
use crate::backend::{ChangeInfo, Fault, Who, XattrSet};

const PREFIX: &[u8] = b"user.";
/// `XATTR_NAME_MAX`, the prefix included.
const NAME_MOST: usize = 255;
/// `XATTR_SIZE_MAX` and `XATTR_LIST_MAX`.
const MOST: usize = 64 * 1024;
/// A buffer that most values fit.
const USUAL: usize = 1024;

fn kernel_name(name: &[u8]) -> Result<CString, Fault> {
    if name.is_empty() {
        return Err(Fault::Inval);
    }
    // The kernel says ERANGE, which is also a buffer's.
    if PREFIX.len() + name.len() > NAME_MOST {
        return Err(Fault::NameTooLong);
    }
    CString::new([PREFIX, name].concat()).map_err(|_| Fault::Inval)
}

/// Runs `get` with a buffer that fits.
fn with_room(get: impl Fn(&mut Vec<u8>) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = Vec::with_capacity(USUAL);
    match get(&mut buffer) {
        Err(Errno::RANGE) => {
            buffer = Vec::with_capacity(MOST);
            get(&mut buffer)?;
        }
        other => {
            other?;
        }
    }
    Ok(buffer)
}

impl Inner {
    fn xattr_fault(&self, errno: Errno) -> Fault {
        match errno {
            // A value that does not fit the inode's blocks is ENOSPC on ext4.
            Errno::TOOBIG | Errno::RANGE | Errno::NOSPC => Fault::Xattr2Big,
            Errno::NODATA => Fault::NoXattr,
            other => self.fault(other),
        }
    }

    pub(super) fn getxattr(&self, who: &Who, object: &Object, name: &[u8]) -> Result<Bytes, Fault> {
        let name = kernel_name(name)?;
        self.alive(object)?;
        let _as = self.creds.user(who)?;
        let path = sys::proc_path(object.fd());
        let get =
            |buffer: &mut Vec<u8>| rustix::fs::getxattr(&path, &name, rustix::buffer::spare_capacity(buffer));
        with_room(get).map(Bytes::from).map_err(|errno| self.xattr_fault(errno))
    }

    pub(super) fn setxattr(
        &self,
        who: &Who,
        object: &Object,
        name: &[u8],
        value: &[u8],
        how: XattrSet,
    ) -> Result<ChangeInfo, Fault> {
        self.writable()?;
        let name = kernel_name(name)?;
        let flags = match how {
            XattrSet::Either => XattrFlags::empty(),
            XattrSet::Create => XattrFlags::CREATE,
            XattrSet::Replace => XattrFlags::REPLACE,
        };
        self.change_xattr(who, object, |path| rustix::fs::setxattr(path, &name, value, flags))
    }

    pub(super) fn removexattr(&self, who: &Who, object: &Object, name: &[u8]) -> Result<ChangeInfo, Fault> {
        self.writable()?;
        let name = kernel_name(name)?;
        self.change_xattr(who, object, |path| rustix::fs::removexattr(path, &name))
    }

    fn change_xattr(
        &self,
        who: &Who,
        object: &Object,
        change: impl FnOnce(&CString) -> Result<(), Errno>,
    ) -> Result<ChangeInfo, Fault> {
        let _turn = object.turn();
        let before = self.before(object)?;
        {
            let _as = self.creds.user(who)?;
            change(&sys::proc_path(object.fd())).map_err(|errno| self.xattr_fault(errno))?;
        }
        self.after(object, before)
    }

    pub(super) fn listxattrs(&self, who: &Who, object: &Object) -> Result<Vec<Bytes>, Fault> {
        let stat = self.alive(object)?;
        // The kernel asks for nothing here; RFC 8276 §8.4.3 lists NFS4ERR_ACCESS, and ACCESS4_XALIST tells it.
        if self.permits(who, object, &stat, R)? != R {
            return Err(Fault::Access);
        }
        let path = sys::proc_path(object.fd());
        let get = |buffer: &mut Vec<u8>| rustix::fs::listxattr(&path, rustix::buffer::spare_capacity(buffer));
        let all = match with_room(get) {
            Ok(all) => all,
            Err(Errno::OPNOTSUPP) => return Err(Fault::NotSupp),
            Err(errno) => return Err(self.xattr_fault(errno)),
        };
        let mut names: Vec<_> = all
            .split(|byte| *byte == 0)
            .filter_map(|name| name.strip_prefix(PREFIX))
            .map(Bytes::copy_from_slice)
            .collect();
        names.sort_unstable();
        Ok(names)
    }
}
