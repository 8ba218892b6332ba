//! `Display` of operations and of COMPOUND: `PUTFH 3f…a1 LOOKUP "src" GETATTR[type,change,size]`.

use core::fmt::{self, Write};

use nfs4_xdr::XdrEnum;

use crate::show::{Names, Outcome, Range, Short, clipped, display_family, list};
use crate::{
    ArgOp, Bitmap4, Call, CallbackSecParms, Compound, CompoundRes, CreateHow, CreateType, DelegClaim,
    GetDirDelegationRes, LockError, Locker, NetLoc, NoDelegation, NotifyType, OpenArgs, OpenClaim,
    OpenDelegation, OpenHow, ResOp, ShareAccess, ShareDeny, StateProtectArgs, Want,
};

impl fmt::Display for ShareAccess {
    /// `READ`, `BOTH, want R`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.contains(Self::READ), self.contains(Self::WRITE)) {
            (false, false) => "0",
            (true, false) => "READ",
            (false, true) => "WRITE",
            (true, true) => "BOTH",
        })?;
        match self.want() {
            Want::NoPreference => {}
            Want::Read => f.write_str(", want R")?,
            Want::Write => f.write_str(", want W")?,
            Want::Any => f.write_str(", want any")?,
            Want::No => f.write_str(", want none")?,
            Want::Cancel => f.write_str(", want cancel")?,
            Want::Unknown(n) => write!(f, ", want {n:#x}")?,
        }
        let more = self.difference(Self::BOTH.union(Self::WANT_DELEG_MASK));
        if more.is_empty() { Ok(()) } else { write!(f, ", {}", Names(more)) }
    }
}

/// Kinds of notifications by name.
struct Notices<'a>(&'a Bitmap4);

impl fmt::Display for Notices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, bit) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match NotifyType::from_wire(bit).and_then(NotifyType::name) {
                Some(name) => write!(f, "{comma}{}", name.trim_start_matches("NOTIFY4_"))?,
                None => write!(f, "{comma}#{bit}")?,
            }
        }
        f.write_str("]")
    }
}

impl fmt::Display for OpenClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null(file) => write!(f, "CLAIM_NULL {file}"),
            Self::Previous(deleg) => write!(f, "CLAIM_PREVIOUS {deleg}"),
            Self::DelegateCur { stateid, file } => write!(f, "CLAIM_DELEGATE_CUR {stateid} {file}"),
            Self::DelegatePrev(file) => write!(f, "CLAIM_DELEGATE_PREV {file}"),
            Self::Fh => f.write_str("CLAIM_FH"),
            Self::DelegCurFh(stateid) => write!(f, "CLAIM_DELEG_CUR_FH {stateid}"),
            Self::DelegPrevFh => f.write_str("CLAIM_DELEG_PREV_FH"),
        }
    }
}

impl fmt::Display for OpenDelegation {
    /// `R-deleg 07a1:1`, `no deleg (WND4_CONTENTION)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no deleg"),
            Self::Read(d) => write!(f, "R-deleg {}", d.stateid),
            Self::Write(d) => write!(f, "W-deleg {}", d.stateid),
            Self::ReadAttrs(d) => write!(f, "R+T-deleg {}", d.stateid),
            Self::WriteAttrs(d) => write!(f, "W+T-deleg {}", d.stateid),
            Self::NoneExt(why) => write!(f, "no deleg ({why})"),
        }
    }
}

impl fmt::Display for NoDelegation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWanted => f.write_str("WND4_NOT_WANTED"),
            Self::Contention { will_push } => write!(f, "WND4_CONTENTION, push {will_push}"),
            Self::Resource { will_signal } => write!(f, "WND4_RESOURCE, signal {will_signal}"),
            Self::NotSuppFtype => f.write_str("WND4_NOT_SUPP_FTYPE"),
            Self::WriteDelegNotSuppFtype => f.write_str("WND4_WRITE_DELEG_NOT_SUPP_FTYPE"),
            Self::NotSuppUpgrade => f.write_str("WND4_NOT_SUPP_UPGRADE"),
            Self::NotSuppDowngrade => f.write_str("WND4_NOT_SUPP_DOWNGRADE"),
            Self::Cancelled => f.write_str("WND4_CANCELLED"),
            Self::IsDir => f.write_str("WND4_IS_DIR"),
            Self::Other(n) => write!(f, "why_no_delegation4({n})"),
        }
    }
}

impl fmt::Display for NetLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Url(text) => write!(f, "{text}"),
            Self::NetAddr(a) => write!(f, "{} {}", a.netid, a.addr),
        }
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(d) => {
                write!(
                    f,
                    "NFS4ERR_DENIED by {} {} {}",
                    d.locktype,
                    Range(d.offset, d.length),
                    Short(&d.owner.owner)
                )
            }
            Self::Status(status) => write!(f, "{status}"),
        }
    }
}

fn open_args(w: &mut dyn Write, a: &OpenArgs) -> fmt::Result {
    write!(w, "({}, {}", a.claim, a.share_access)?;
    if a.share_deny != ShareDeny::NONE {
        write!(w, ", deny {}", Names(a.share_deny))?;
    }
    match &a.openhow {
        OpenHow::NoCreate => {}
        OpenHow::Create(CreateHow::Unchecked(attrs)) => write!(w, ", create UNCHECKED4 {}", attrs.mask())?,
        OpenHow::Create(CreateHow::Guarded(attrs)) => write!(w, ", create GUARDED4 {}", attrs.mask())?,
        OpenHow::Create(CreateHow::Exclusive(verf)) => write!(w, ", create EXCLUSIVE4 {}", Short(verf))?,
        OpenHow::Create(CreateHow::Exclusive41 { verifier, attrs }) => {
            write!(w, ", create EXCLUSIVE4_1 {} {}", Short(verifier), attrs.mask())?;
        }
    }
    w.write_str(")")
}

fn create_type(w: &mut dyn Write, objtype: &CreateType) -> fmt::Result {
    match objtype {
        CreateType::Lnk(target) => write!(w, "NF4LNK {target}"),
        CreateType::Blk(dev) => write!(w, "NF4BLK {}:{}", dev.specdata1, dev.specdata2),
        CreateType::Chr(dev) => write!(w, "NF4CHR {}:{}", dev.specdata1, dev.specdata2),
        CreateType::Sock => w.write_str("NF4SOCK"),
        CreateType::Fifo => w.write_str("NF4FIFO"),
        CreateType::Dir => w.write_str("NF4DIR"),
        CreateType::Other(n) => write!(w, "nfs_ftype4({n})"),
    }
}

fn sec_parms(w: &mut dyn Write, parms: &[CallbackSecParms]) -> fmt::Result {
    for parm in parms {
        match parm {
            CallbackSecParms::None => w.write_str(" AUTH_NONE")?,
            CallbackSecParms::Sys(sys) => write!(w, " AUTH_SYS {}:{}", sys.uid, sys.gid)?,
            CallbackSecParms::Gss(_) => w.write_str(" RPCSEC_GSS")?,
        }
    }
    Ok(())
}

/// What follows the name of an operation.
#[allow(clippy::too_many_lines, reason = "one arm for each operation")]
fn args(w: &mut dyn Write, op: &ArgOp) -> fmt::Result {
    match op {
        ArgOp::Access(a) => write!(w, " {}", Names(a.access)),
        ArgOp::Close(a) => write!(w, " {}", a.open_stateid),
        ArgOp::Commit(a) => write!(w, " {}", Range(a.offset, a.count.into())),
        ArgOp::Create(a) => {
            write!(w, " {} ", a.objname)?;
            create_type(w, &a.objtype)?;
            write!(w, " {}", a.createattrs.mask())
        }
        ArgOp::Delegpurge(a) => write!(w, " {:x}", a.clientid.0),
        ArgOp::Delegreturn(a) => write!(w, " {}", a.deleg_stateid),
        ArgOp::Getattr(a) => write!(w, "{}", a.attr_request),
        ArgOp::Getfh
        | ArgOp::Lookupp
        | ArgOp::Putpubfh
        | ArgOp::Putrootfh
        | ArgOp::Readlink
        | ArgOp::Restorefh
        | ArgOp::Savefh
        | ArgOp::Illegal => Ok(()),
        ArgOp::Link(a) => write!(w, " {}", a.newname),
        ArgOp::Lock(a) => {
            write!(w, " {} {}", a.locktype, Range(a.offset, a.length))?;
            if a.reclaim {
                w.write_str(" reclaim")?;
            }
            match &a.locker {
                Locker::Exist { lock_stateid, .. } => write!(w, " {lock_stateid}"),
                Locker::New { open_stateid, lock_owner, .. } => {
                    write!(w, " {open_stateid} new {}", Short(&lock_owner.owner))
                }
            }
        }
        ArgOp::Lockt(a) => {
            write!(w, " {} {} {}", a.locktype, Range(a.offset, a.length), Short(&a.owner.owner))
        }
        ArgOp::Locku(a) => write!(w, " {} {}", Range(a.offset, a.length), a.lock_stateid),
        ArgOp::Lookup(a) => write!(w, " {}", a.objname),
        ArgOp::Nverify(a) | ArgOp::Verify(a) => write!(w, "{}", a.obj_attributes.mask()),
        ArgOp::Open(a) => open_args(w, a),
        ArgOp::Openattr(a) => w.write_str(if a.createdir { " create" } else { "" }),
        ArgOp::OpenConfirm(a) => write!(w, " {}", a.open_stateid),
        ArgOp::OpenDowngrade(a) => {
            write!(w, " {} ({}, deny {})", a.open_stateid, a.share_access, Names(a.share_deny))
        }
        ArgOp::Putfh(a) => write!(w, " {}", Short(&a.object)),
        ArgOp::Read(a) => write!(w, " {} {}", a.stateid, Range(a.offset, a.count.into())),
        ArgOp::Readdir(a) => {
            write!(w, " from {} max {}/{} {}", a.cookie, a.dircount, a.maxcount, a.attr_request)
        }
        ArgOp::Remove(a) => write!(w, " {}", a.target),
        ArgOp::Rename(a) => write!(w, " {} {}", a.oldname, a.newname),
        ArgOp::Renew(a) => write!(w, " {:x}", a.clientid.0),
        ArgOp::Secinfo(a) => write!(w, " {}", a.name),
        ArgOp::Setattr(a) => write!(w, " {} {}", a.stateid, a.obj_attributes.mask()),
        ArgOp::Setclientid(a) => write!(w, " {}", Short(&a.id)),
        ArgOp::SetclientidConfirm(a) => write!(w, " {:x}", a.clientid.0),
        ArgOp::Write(a) => write!(w, " {} {}+{} {}", a.stateid, a.offset, a.data.len(), a.stable),
        ArgOp::ReleaseLockowner(a) => write!(w, " {}", Short(&a.lock_owner.owner)),
        ArgOp::BackchannelCtl(a) => {
            write!(w, " {:#x}", a.cb_program)?;
            sec_parms(w, &a.sec_parms)
        }
        ArgOp::BindConnToSession(a) => write!(w, " {} {}", Short(&a.sessid), a.dir),
        ArgOp::ExchangeId(a) => {
            let protect = match a.state_protect {
                StateProtectArgs::None => "SP4_NONE",
                StateProtectArgs::MachCred(_) => "SP4_MACH_CRED",
                StateProtectArgs::Ssv(_) => "SP4_SSV",
            };
            write!(w, " {} {} {protect}", Short(&a.clientowner.ownerid), Names(a.flags))
        }
        ArgOp::CreateSession(a) => {
            write!(w, " {:x}:{} {}", a.clientid.0, a.sequence, Names(a.flags))?;
            sec_parms(w, &a.sec_parms)
        }
        ArgOp::DestroySession(a) => write!(w, " {}", Short(&a.sessionid)),
        ArgOp::FreeStateid(a) => write!(w, " {}", a.stateid),
        ArgOp::GetDirDelegation(a) => write!(w, " notify {}", Notices(&a.notification_types)),
        ArgOp::Getdeviceinfo(a) => write!(w, " {} {}", Short(&a.device_id), a.layout_type),
        ArgOp::Getdevicelist(a) => write!(w, " {} from {}", a.layout_type, a.cookie),
        ArgOp::Layoutcommit(a) => write!(w, " {} {}", a.stateid, Range(a.offset, a.length)),
        ArgOp::Layoutget(a) => {
            write!(w, " {} {} {} {}", a.stateid, a.layout_type, a.iomode, Range(a.offset, a.length))
        }
        ArgOp::Layoutreturn(a) => write!(w, " {} {}", a.layout_type, a.iomode),
        ArgOp::SecinfoNoName(style) => write!(w, " {style}"),
        ArgOp::Sequence(a) => write!(
            w,
            " {} {}:{}{}",
            Short(&a.sessionid),
            a.slotid,
            a.sequenceid,
            if a.cachethis { " cache" } else { "" }
        ),
        ArgOp::SetSsv(a) => write!(w, " {} bytes", a.ssv.len()),
        ArgOp::TestStateid(a) => a.stateids.iter().try_for_each(|stateid| write!(w, " {stateid}")),
        ArgOp::WantDelegation(a) => {
            write!(w, "({}, ", a.want)?;
            match a.claim {
                DelegClaim::Fh => w.write_str("CLAIM_FH)"),
                DelegClaim::DelegPrevFh => w.write_str("CLAIM_DELEG_PREV_FH)"),
                DelegClaim::Previous(deleg) => write!(w, "CLAIM_PREVIOUS {deleg})"),
            }
        }
        ArgOp::DestroyClientid(a) => write!(w, " {:x}", a.clientid.0),
        ArgOp::ReclaimComplete(a) => w.write_str(if a.one_fs { " one fs" } else { "" }),
        ArgOp::Allocate(a) | ArgOp::Deallocate(a) => {
            write!(w, " {} {}", a.stateid, Range(a.offset, a.length))
        }
        ArgOp::Copy(a) => {
            write!(
                w,
                " {} {} → {} {}",
                a.src_stateid,
                Range(a.src_offset, a.count),
                a.dst_stateid,
                a.dst_offset
            )?;
            w.write_str(if a.synchronous { " sync" } else { "" })?;
            a.source_server.iter().try_for_each(|server| write!(w, " from {server}"))
        }
        ArgOp::CopyNotify(a) => write!(w, " {} to {}", a.src_stateid, a.destination_server),
        ArgOp::IoAdvise(a) => write!(w, " {} {} {:?}", a.stateid, Range(a.offset, a.count), a.hints),
        ArgOp::Layouterror(a) => write!(w, " {} {} errors", a.stateid, a.errors.len()),
        ArgOp::Layoutstats(a) => write!(w, " {}", a.stateid),
        ArgOp::OffloadCancel(a) | ArgOp::OffloadStatus(a) => write!(w, " {}", a.stateid),
        ArgOp::ReadPlus(a) => write!(w, " {} {}", a.stateid, Range(a.offset, a.count.into())),
        ArgOp::Seek(a) => write!(w, " {} {} from {}", a.stateid, a.what, a.offset),
        ArgOp::WriteSame(a) => {
            write!(w, " {} {} {}×{}", a.stateid, a.adb.offset, a.adb.block_count, a.adb.block_size)
        }
        ArgOp::Clone(a) => {
            write!(
                w,
                " {} {} → {} {}",
                a.src_stateid,
                Range(a.src_offset, a.count),
                a.dst_stateid,
                a.dst_offset
            )
        }
        ArgOp::Getxattr(a) => write!(w, " {}", a.name),
        ArgOp::Setxattr(a) => write!(w, " {} {} bytes {}", a.key, a.value.len(), a.option),
        ArgOp::Listxattrs(a) => write!(w, " from {} max {}", a.cookie, a.maxcount),
        ArgOp::Removexattr(a) => write!(w, " {}", a.name),
    }
}

/// What follows the name and `OK`.
#[allow(clippy::wildcard_enum_match_arm, reason = "of most results there is nothing to tell but the status")]
fn ok(w: &mut dyn Write, op: &ResOp) -> fmt::Result {
    match op {
        ResOp::Access(Ok(r)) => write!(w, " {}", Names(r.access)),
        ResOp::Close(Ok(stateid)) | ResOp::Locku(Ok(stateid)) | ResOp::OpenConfirm(Ok(stateid)) => {
            write!(w, " {stateid}")
        }
        ResOp::Getattr(Ok(r)) => write!(w, "{}", r.obj_attributes.mask()),
        ResOp::Setattr(Ok(set)) => write!(w, "{set}"),
        ResOp::Getfh(Ok(r)) => write!(w, " {}", Short(&r.object)),
        ResOp::Lock(Ok(r)) => write!(w, " {}", r.lock_stateid),
        ResOp::Open(Ok(r)) => write!(w, " {} {}", r.stateid, r.delegation),
        ResOp::OpenDowngrade(Ok(r)) => write!(w, " {}", r.open_stateid),
        ResOp::WantDelegation(Ok(deleg)) => write!(w, " {deleg}"),
        ResOp::Read(Ok(r)) => write!(w, " {} bytes{}", r.data.len(), if r.eof { " eof" } else { "" }),
        ResOp::Readdir(Ok(r)) => {
            write!(w, " {} entries{}", r.reply.entries.0.len(), if r.reply.eof { " eof" } else { "" })
        }
        ResOp::Readlink(Ok(r)) => write!(w, " {}", r.link),
        ResOp::Write(Ok(r)) => write!(w, " {} {}", r.count, r.committed),
        ResOp::ExchangeId(Ok(r)) => write!(w, " {:x}:{} {}", r.clientid.0, r.sequenceid, Names(r.flags)),
        ResOp::CreateSession(Ok(r)) => {
            write!(w, " {} {} slots", Short(&r.sessionid), r.fore_chan_attrs.maxrequests)
        }
        ResOp::Sequence(Ok(r)) => {
            write!(w, " {}:{}", r.slotid, r.sequenceid)?;
            if r.status_flags.is_empty() { Ok(()) } else { write!(w, " {}", Names(r.status_flags)) }
        }
        ResOp::GetDirDelegation(Ok(GetDirDelegationRes::Ok(r))) => {
            write!(w, " D-deleg {} notify {}", r.stateid, Notices(&r.notification))
        }
        ResOp::GetDirDelegation(Ok(GetDirDelegationRes::Unavail { .. })) => w.write_str(" GDD4_UNAVAIL"),
        ResOp::TestStateid(Ok(r)) => r.status_codes.iter().try_for_each(|status| write!(w, " {status}")),
        ResOp::Copy(Ok(r)) => write!(w, " {} {}", r.response.count, r.response.committed),
        ResOp::WriteSame(Ok(r)) => write!(w, " {} {}", r.count, r.committed),
        ResOp::Seek(Ok(r)) => write!(w, " {}{}", r.offset, if r.eof { " eof" } else { "" }),
        ResOp::Getxattr(Ok(r)) => write!(w, " {} bytes", r.value.len()),
        ResOp::Listxattrs(Ok(r)) => write!(w, " {} names{}", r.names.len(), if r.eof { " eof" } else { "" }),
        _ => Ok(()),
    }
}

fn arg(w: &mut dyn Write, op: &ArgOp) -> fmt::Result {
    w.write_str(op.num().name())?;
    args(w, op)
}

fn res(w: &mut dyn Write, op: &ResOp) -> fmt::Result {
    // The only errors that say more than their status.
    if let ResOp::Lock(Err(e)) | ResOp::Lockt(Err(e)) = op {
        return write!(w, "{} {e}", op.num());
    }
    write!(w, "{} {}", op.num(), Outcome(op.status()))?;
    ok(w, op)
}

display_family!(ArgOp, ResOp, Compound, CompoundRes, Call);
