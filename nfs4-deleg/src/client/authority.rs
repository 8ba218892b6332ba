//! What may be served now, and why not (RFC 8881 §10.4).

use super::Holdings;
use super::facts::{Kind, Opened, Query, Serve, WhyNot};
use super::holding::{File, Stage, State};
use crate::Now;

impl Holdings {
    /// Whether this may be answered without the server. See [`Query`] for what a local answer enters in the account.
    pub fn may_serve(&mut self, now: Now, query: &Query<'_>) -> Serve {
        let oid = query.oid();
        let lease = self.lease_end.is_some_and(|end| now < end);
        let (opens, locks) = (self.config.opens, self.config.locks);
        let Some(file) = self.files.get_mut(&oid) else { return Serve::Ask(WhyNot::NoDelegation) };
        let answer = match *query {
            Query::Close { owner, share, .. } => close(file, owner, share),
            Query::Unlock { owner, start, last, .. } => unlock(file, owner, start, last),
            Query::Read { .. } | Query::Attrs { .. } => match standing(file, lease, true) {
                Ok(()) => covered(file, query, opens, locks),
                Err(why) => Serve::Ask(why),
            },
            Query::Open { .. }
            | Query::Write { .. }
            | Query::Truncate { .. }
            | Query::SetAttr { .. }
            | Query::Lock { .. }
            | Query::LockTest { .. } => match standing(file, lease, false) {
                Ok(()) => covered(file, query, opens, locks),
                Err(why) => Serve::Ask(why),
            },
        };
        if matches!(answer, Serve::Local(_)) {
            self.touch(now, oid);
        } else {
            self.settle(oid);
        }
        answer
    }
}

/// Whether the delegation can vouch for anything at all. On its way back it stands until DELEGRETURN is given out: what
/// it covers may be looked at, above all what was written under it and is not flushed yet, but not be added to.
fn standing(file: &File, lease: bool, looks: bool) -> Result<(), WhyNot> {
    let Some(hold) = &file.hold else { return Err(WhyNot::NoDelegation) };
    if !lease {
        return Err(WhyNot::Lease);
    }
    match hold.state {
        State::Reclaiming { .. } => Err(WhyNot::Reclaiming),
        State::Returning(_) if !looks || hold.return_sent() => Err(WhyNot::Returning),
        State::Held | State::Returning(_) if hold.doubt => Err(WhyNot::Doubt),
        State::Held | State::Returning(_) => Ok(()),
    }
}

/// The table of the two kinds.
fn covered(file: &mut File, query: &Query<'_>, opens: usize, locks: usize) -> Serve {
    let File { locals, hold: Some(hold) } = file else { return Serve::Ask(WhyNot::NoDelegation) };
    let write_kind = hold.kind == Kind::Write;
    match *query {
        Query::Open { owner, share, who, allowed, create, truncate, .. } => {
            if create {
                return Serve::Ask(WhyNot::Name);
            }
            // A read delegation covers opens that read and deny nobody; what denies must be known to the server.
            if !write_kind && (share.write || share.deny_read || share.deny_write || truncate) {
                return Serve::Ask(WhyNot::ReadOnly);
            }
            if locals.denies(owner, share) {
                return Serve::Denied;
            }
            if !allowed && !hold.ace.as_ref().is_some_and(|ace| ace.allows(who, share)) {
                return Serve::Ask(WhyNot::Access);
            }
            if locals.find_open(owner, share).is_none() && locals.opens.len() >= opens {
                return Serve::Ask(WhyNot::Full);
            }
            if truncate {
                hold.cut(0);
            }
            locals.add_open(Opened { owner, share, on_server: false });
            Serve::Local(hold.facts())
        }
        Query::Read { copy, .. } => {
            if hold.data_valid(copy) {
                Serve::Local(hold.facts())
            } else {
                Serve::Ask(WhyNot::NotValidated)
            }
        }
        Query::Write { end, bytes, .. } => {
            if !write_kind {
                return Serve::Ask(WhyNot::ReadOnly);
            }
            hold.wrote(end, bytes);
            Serve::Local(hold.facts())
        }
        Query::Truncate { size, .. } => {
            if !write_kind {
                return Serve::Ask(WhyNot::ReadOnly);
            }
            hold.cut(size);
            Serve::Local(hold.facts())
        }
        Query::Attrs { copy, access_time, .. } => {
            if access_time && !hold.times {
                Serve::Ask(WhyNot::AccessTime)
            } else if hold.changing > 0 {
                Serve::Ask(WhyNot::OwnChange)
            } else if hold.attrs_valid(copy) {
                Serve::Local(hold.facts())
            } else {
                Serve::Ask(WhyNot::NotValidated)
            }
        }
        Query::SetAttr { times_to_now, .. } => {
            if times_to_now && write_kind && hold.times {
                Serve::Local(hold.facts())
            } else {
                Serve::Ask(WhyNot::Always)
            }
        }
        Query::Lock { lock, .. } => {
            if !write_kind {
                return Serve::Ask(WhyNot::ReadOnly);
            }
            if locals.lock_denied(&lock) {
                return Serve::Denied;
            }
            if locals.locked_on_server(lock.owner, lock.start, lock.last) {
                return Serve::Ask(WhyNot::OnServer);
            }
            if locals.locks.len() >= locks {
                return Serve::Ask(WhyNot::Full);
            }
            locals.add_lock(lock, false);
            Serve::Local(hold.facts())
        }
        Query::LockTest { lock, .. } => {
            if !write_kind {
                Serve::Ask(WhyNot::ReadOnly)
            } else if locals.lock_denied(&lock) {
                Serve::Denied
            } else {
                Serve::Local(hold.facts())
            }
        }
        // Answered before: they do not depend on what the delegation still covers.
        Query::Close { .. } | Query::Unlock { .. } => Serve::Ask(WhyNot::Always),
    }
}

/// A close is this client's own business as long as it holds a delegation; what the server knows is closed at leisure.
fn close(file: &mut File, owner: super::OwnerKey, share: crate::server::Share) -> Serve {
    let File { locals, hold } = file;
    if let Some(hold) = hold.as_ref().filter(|h| h.held() && h.over_limit()) {
        debug_assert!(hold.writes(), "only a write delegation has dirty data");
        return Serve::Ask(WhyNot::SpaceLimit);
    }
    let Some(record) = locals.find_open(owner, share) else { return Serve::Ask(WhyNot::OnServer) };
    record.users = record.users.saturating_sub(1);
    let (last, on_server) = (record.users == 0, record.open.on_server);
    let local = match hold {
        Some(hold) if hold.held() => Some(hold.facts()),
        Some(hold) if !last || !on_server => Some(hold.facts()),
        Some(_) | None => None,
    };
    if let Some(facts) = local {
        // An open whose step is out may become real in this moment: it stays until that is known.
        if !matches!(hold, Some(h) if matches!(h.state, State::Returning(_))) {
            locals.sweep();
        }
        return Serve::Local(facts);
    }
    let why = if hold.is_some() { WhyNot::Returning } else { WhyNot::NoDelegation };
    locals.opens.retain(|o| o.users > 0 || o.open.owner != owner);
    Serve::Ask(why)
}

fn unlock(file: &mut File, owner: super::OwnerKey, start: u64, last: u64) -> Serve {
    let File { locals, hold } = file;
    let on_server = locals.locked_on_server(owner, start, last);
    let held = hold.as_ref().filter(|h| h.writes());
    // Once the locks are being made real, the server may know this one already.
    let moving =
        hold.as_ref().is_some_and(|h| matches!(&h.state, State::Returning(r) if r.stage > Stage::Locks));
    locals.unlock(owner, start, last);
    match held {
        Some(hold) if !on_server && !moving => Serve::Local(hold.facts()),
        Some(_) if on_server => Serve::Ask(WhyNot::OnServer),
        Some(_) => Serve::Ask(WhyNot::Returning),
        None => Serve::Ask(if hold.is_some() { WhyNot::ReadOnly } else { WhyNot::NoDelegation }),
    }
}
