//! `Display` of callbacks and of CB_COMPOUND.

use core::fmt::{self, Write};

use crate::show::{Names, Outcome, Short, clipped, display_family, list};
use crate::{CbArgOp, CbCall, CbCompound, CbCompoundRes, CbResOp, NotifyEvent, OffloadInfo, RecallTypes};

fn event_of(w: &mut dyn Write, event: &NotifyEvent) -> fmt::Result {
    match event {
        NotifyEvent::ChildAttrs(e) => write!(w, " CHANGE_CHILD_ATTRS {}{}", e.file, e.attrs),
        NotifyEvent::DirAttrs(e) => write!(w, " CHANGE_DIR_ATTRS{}", e.attrs),
        NotifyEvent::RemoveEntry(e) => write!(w, " REMOVE_ENTRY {}", e.old_entry.file),
        NotifyEvent::AddEntry(e) => write!(w, " ADD_ENTRY {}{}", e.new_entry.file, e.new_entry.attrs),
        NotifyEvent::RenameEntry(e) => {
            write!(w, " RENAME_ENTRY {} {}", e.old_entry.old_entry.file, e.new_entry.new_entry.file)
        }
        NotifyEvent::VerifierChanged(e) => write!(w, " CHANGE_COOKIE_VERIFIER {}", Short(&e.new_cookieverf)),
    }
}

fn arg(w: &mut dyn Write, op: &CbArgOp) -> fmt::Result {
    w.write_str(op.num().name())?;
    match op {
        CbArgOp::Getattr(a) => write!(w, " {} {}", Short(&a.fh), a.attr_request),
        CbArgOp::Recall(a) => {
            write!(w, " {} {}{}", a.stateid, Short(&a.fh), if a.truncate { " truncate" } else { "" })
        }
        CbArgOp::Layoutrecall(a) => write!(w, " {} {}", a.layout_type, a.iomode),
        CbArgOp::Notify(a) => {
            write!(w, " {} {}", a.stateid, Short(&a.fh))?;
            a.changes
                .iter()
                .try_for_each(|change| change.events().iter().try_for_each(|event| event_of(w, event)))
        }
        CbArgOp::PushDeleg(a) => write!(w, " {} {}", Short(&a.fh), a.delegation),
        CbArgOp::RecallAny(a) | CbArgOp::RecallableObjAvail(a) => {
            write!(w, " {} {}", a.objects_to_keep, Names(RecallTypes::from_bitmap(&a.type_mask)))
        }
        CbArgOp::RecallSlot(a) => write!(w, " {}", a.target_highest_slotid),
        CbArgOp::Sequence(a) => {
            write!(w, " {} {}:{}", Short(&a.sessionid), a.slotid, a.sequenceid)?;
            for list in &a.referring_call_lists {
                for call in &list.referring_calls {
                    write!(w, " refers {} {}:{}", Short(&list.sessionid), call.slotid, call.sequenceid)?;
                }
            }
            Ok(())
        }
        CbArgOp::WantsCancelled(a) => {
            let (contended, resourced) = (a.contended_wants_cancelled, a.resourced_wants_cancelled);
            write!(
                w,
                "{}{}",
                if contended { " contended" } else { "" },
                if resourced { " resourced" } else { "" }
            )
        }
        CbArgOp::NotifyLock(a) => write!(w, " {} {}", Short(&a.fh), Short(&a.lock_owner.owner)),
        CbArgOp::NotifyDeviceid(a) => write!(w, " {} changes", a.changes.len()),
        CbArgOp::Offload(a) => match a.info {
            OffloadInfo::Ok(r) => write!(w, " {} OK {}", a.stateid, r.count),
            OffloadInfo::Failed { status, bytes_copied } => {
                write!(w, " {} {status} after {bytes_copied}", a.stateid)
            }
        },
        CbArgOp::Illegal => Ok(()),
    }
}

fn res(w: &mut dyn Write, op: &CbResOp) -> fmt::Result {
    write!(w, "{} {}", op.num(), Outcome(op.status()))?;
    if let CbResOp::Getattr(Ok(r)) = op {
        write!(w, "{}", r.obj_attributes.mask())?;
    }
    if let CbResOp::Sequence(Ok(r)) = op {
        write!(w, " {}:{}", r.slotid, r.sequenceid)?;
    }
    Ok(())
}

display_family!(CbArgOp, CbResOp, CbCompound, CbCompoundRes, CbCall);
