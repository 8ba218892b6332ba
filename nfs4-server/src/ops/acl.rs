//! Access control lists between the wire and the backend. RFC 8881 §6.2.1.

use bytes::Bytes;
use nfs4_proto::{Ace as WireAce, AceFlags, AceType, Acl, Owner, Status};

use super::attrs::id_of;
use crate::backend::acl::{INHERITANCE, INHERITS};
use crate::backend::{Ace, AceWho};

const OWNER: &[u8] = b"OWNER@";
const GROUP: &[u8] = b"GROUP@";
const EVERYONE: &[u8] = b"EVERYONE@";

/// An entry of a list for a directory, or for something else.
///
/// Audit and alarm entries are not supported, nor is inheritance from what is no directory or of an entry for children
/// that goes to none: ATTRNOTSUPP (§6.2.1.1, §6.2.1.4.1). The remaining special names mean nothing here: BADOWNER.
fn entry(ace: &WireAce, dir: bool) -> Result<Ace, Status> {
    let allow = match ace.ace_type {
        AceType::Allowed => true,
        AceType::Denied => false,
        AceType::Audit | AceType::Alarm => return Err(Status::AttrNotSupp),
        AceType::Other(_) => return Err(Status::Inval),
    };
    let group = ace.flag.contains(AceFlags::IDENTIFIER_GROUP);
    // INHERITED has no place in `acl` (§6.2.1.4.1); the group flag is in `who`.
    let flags = ace.flag.difference(AceFlags::INHERITED | AceFlags::IDENTIFIER_GROUP);
    if !INHERITANCE.contains(flags) || !nfs4_proto::AceMask::all().contains(ace.access_mask) {
        return Err(Status::Inval);
    }
    let only = flags.contains(AceFlags::INHERIT_ONLY) && !flags.intersects(INHERITS);
    if only || (!dir && !flags.is_empty()) {
        return Err(Status::AttrNotSupp);
    }
    let who = match ace.who.as_name().map(|name| &**name) {
        Some(name) if *name == *OWNER => AceWho::Owner,
        Some(name) if *name == *GROUP => AceWho::OwnerGroup,
        Some(name) if *name == *EVERYONE => AceWho::Everyone,
        Some(_) | None if group => AceWho::Group(id_of(&ace.who)?),
        Some(_) | None => AceWho::User(id_of(&ace.who)?),
    };
    Ok(Ace { allow, who, flags, mask: ace.access_mask })
}

/// A list that a client sets, of at most `most` entries. More are NOSPC: nothing is wrong with them (so not INVAL), and
/// there is no room.
pub(crate) fn from_wire(acl: &Acl, dir: bool, most: u32) -> Result<Box<[Ace]>, Status> {
    if u32::try_from(acl.len()).map_or(true, |len| len > most) {
        return Err(Status::NoSpc);
    }
    acl.iter().map(|ace| entry(ace, dir)).collect()
}

fn special(name: &'static [u8]) -> Owner {
    Owner::new(Bytes::from_static(name)).unwrap_or(Owner::number(u32::MAX))
}

fn wire(ace: &Ace) -> WireAce {
    let (who, group) = match ace.who {
        AceWho::Owner => (special(OWNER), false),
        AceWho::OwnerGroup => (special(GROUP), false),
        AceWho::Everyone => (special(EVERYONE), false),
        AceWho::User(uid) => (Owner::number(uid), false),
        AceWho::Group(gid) => (Owner::number(gid), true),
    };
    let mut flag = ace.flags;
    flag.set(AceFlags::IDENTIFIER_GROUP, group);
    let ace_type = if ace.allow { AceType::Allowed } else { AceType::Denied };
    WireAce { ace_type, flag, access_mask: ace.mask, who }
}

/// A list for a client. `GROUP@` and the like go without the group flag (§6.2.1.5).
pub(crate) fn to_wire(acl: &[Ace]) -> Result<Acl, Status> {
    Acl::new(acl.iter().map(wire).collect()).ok_or(Status::ServerFault)
}
