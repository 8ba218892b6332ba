//! The form of the records' file: a header, then entries, each with a checksum.
//!
//! Only one entry is ever appended at a time, and synced before the next. So after a crash at most one entry, the last,
//! is not whole; anything else is damage that no crash explains.

use std::collections::BTreeMap;
use std::hash::Hasher;

use bytes::Bytes;
use siphasher::sip::SipHasher13;

/// First bytes of the file: what it is, and the version of its form.
pub(super) const MAGIC: &[u8; 8] = b"nfs4rec1";

/// Owners are at most this long (NFS4_OPAQUE_LIMIT).
const OWNER: usize = nfs4_proto::NFS4_OPAQUE_LIMIT;
/// Length (2), its complement (2), kind (1), boot (4).
const HEAD: usize = 9;
const SUM: usize = 8;
/// Bytes of the largest entry.
pub(super) const LARGEST: usize = HEAD + OWNER + SUM;

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A boot began.
    Boot(u32),
    /// This is the owner's record.
    Put { owner: Bytes, boot: u32, reclaimed: bool },
    /// The owner has none any more.
    Forget(Bytes),
}

/// All that the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// The last boot.
    pub(super) boot: u32,
    /// By owner: boot and whether it may reclaim.
    pub(super) owners: BTreeMap<Bytes, (u32, bool)>,
}

impl Content {
    pub(super) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Boot(boot) => self.boot = boot,
            Entry::Put { owner, boot, reclaimed } => {
                self.owners.insert(owner, (boot, reclaimed));
            }
            Entry::Forget(owner) => {
                self.owners.remove(&owner);
            }
        }
    }

    /// The shortest file that says it.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        encode(&Entry::Boot(self.boot), &mut out);
        for (owner, &(boot, reclaimed)) in &self.owners {
            encode(&Entry::Put { owner: owner.clone(), boot, reclaimed }, &mut out);
        }
        out
    }
}

/// Damage: where, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// Appends an entry. An owner is never longer than the protocol allows.
pub(super) fn encode(entry: &Entry, out: &mut Vec<u8>) {
    let (kind, boot, owner): (u8, u32, &[u8]) = match entry {
        Entry::Boot(boot) => (0, *boot, &[]),
        Entry::Put { owner, boot, reclaimed } => (1 + u8::from(*reclaimed), *boot, owner),
        Entry::Forget(owner) => (3, 0, owner),
    };
    let len = u16::try_from(owner.len()).unwrap_or(u16::MAX);
    let start = out.len();
    out.extend(len.to_be_bytes());
    out.extend((!len).to_be_bytes());
    out.push(kind);
    out.extend(boot.to_be_bytes());
    out.extend(owner);
    let sum = sum(out.get(start..).unwrap_or_default());
    out.extend(sum.to_be_bytes());
}

fn sum(bytes: &[u8]) -> u64 {
    let mut hash = SipHasher13::new_with_keys(0x6e66_7334, 0x7265_6331);
    hash.write(bytes);
    hash.finish()
}

/// The whole entry at the start of `bytes`, and its length.
fn entry(bytes: &[u8]) -> Option<(Entry, usize)> {
    let (head, _) = bytes.split_first_chunk::<HEAD>()?;
    let [l0, l1, n0, n1, kind, b0, b1, b2, b3] = *head;
    let len = u16::from_be_bytes([l0, l1]);
    if len != !u16::from_be_bytes([n0, n1]) || usize::from(len) > OWNER {
        return None;
    }
    let body = HEAD + usize::from(len);
    let owner = Bytes::copy_from_slice(bytes.get(HEAD..body)?);
    let (want, _) = bytes.get(body..)?.split_first_chunk::<SUM>()?;
    if sum(bytes.get(..body)?) != u64::from_be_bytes(*want) {
        return None;
    }
    let boot = u32::from_be_bytes([b0, b1, b2, b3]);
    let entry = match kind {
        0 if owner.is_empty() => Entry::Boot(boot),
        1 | 2 => Entry::Put { owner, boot, reclaimed: kind == 2 },
        3 => Entry::Forget(owner),
        _ => return None,
    };
    Some((entry, body + SUM))
}

/// Reads a file. A torn last entry is not an error: what is before it counts.
pub(super) fn decode(bytes: &[u8]) -> Result<Content, Damage> {
    if bytes.get(..MAGIC.len()) != Some(MAGIC) {
        return Err(Damage { at: 0, what: "not a file of client records, or of another version" });
    }
    let mut content = Content::default();
    let mut at = MAGIC.len();
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((entry, len)) = entry(rest) {
            content.apply(entry);
            at += len;
        } else if torn(rest) {
            break;
        } else {
            return Err(Damage { at, what: "an entry's checksum is wrong" });
        }
    }
    if content.boot == 0 {
        return Err(Damage { at: MAGIC.len(), what: "no boot is on record" });
    }
    Ok(content)
}

/// Whether one interrupted append explains this: no longer than an entry, and no whole entry in it.
fn torn(rest: &[u8]) -> bool {
    rest.len() <= LARGEST && (1..rest.len()).all(|n| rest.get(n..).and_then(entry).is_none())
}
