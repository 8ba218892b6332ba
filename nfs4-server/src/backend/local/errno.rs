//! The one table from the kernel's errors to [`Fault`].

use rustix::io::Errno;

use crate::backend::Fault;

/// What a failed system call on a name or an object means. Calls whose errors mean something else (extended
/// attributes, rename's matrix) look at the error first.
pub(super) fn fault(errno: Errno) -> Fault {
    match errno {
        Errno::PERM => Fault::Perm,
        Errno::NOENT => Fault::NoEnt,
        Errno::IO | Errno::UCLEAN | Errno::BADMSG => Fault::Io,
        Errno::NXIO | Errno::NODEV => Fault::NxIo,
        // EBUSY: a mount point is removed or replaced; another try would not help.
        Errno::ACCESS | Errno::BUSY | Errno::TXTBSY => Fault::Access,
        Errno::EXIST => Fault::Exist,
        Errno::XDEV => Fault::XDev,
        Errno::NOTDIR => Fault::NotDir,
        Errno::ISDIR => Fault::IsDir,
        Errno::INVAL => Fault::Inval,
        Errno::FBIG | Errno::OVERFLOW => Fault::FBig,
        Errno::NOSPC => Fault::NoSpc,
        Errno::ROFS => Fault::RoFs,
        Errno::MLINK => Fault::MLink,
        Errno::NAMETOOLONG => Fault::NameTooLong,
        Errno::NOTEMPTY => Fault::NotEmpty,
        Errno::DQUOT => Fault::DQuot,
        Errno::STALE => Fault::Stale,
        Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY => Fault::NotSupp,
        Errno::LOOP => Fault::Symlink,
        Errno::ILSEQ => Fault::BadName,
        Errno::NODATA => Fault::NoXattr,
        Errno::TOOBIG | Errno::RANGE => Fault::Xattr2Big,
        Errno::AGAIN | Errno::INTR | Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::DEADLK => {
            Fault::Delay
        }
        other => {
            tracing::warn!(error = %other, "a system call failed in a way that has no name in NFS");
            Fault::ServerFault
        }
    }
}
