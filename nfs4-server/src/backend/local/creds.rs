//! Whose rights a system call has: file-system user, group and groups of the thread.
//!
//! Linux keeps credentials per thread. A thread of the pool only runs this backend's jobs, so it keeps what the
//! last job set and the next job of the same caller costs nothing; any other thread (one of the runtime's) gets
//! its own identity back when the guard drops. All work that needs an identity says so by a guard.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::thread;

use rustix::thread::CapabilitySet;

use super::sys;
use crate::backend::{Fault, Who};

thread_local! {
    /// Who this thread is now; `None`: the server.
    static NOW: RefCell<Option<Who>> = const { RefCell::new(None) };
    /// This thread belongs to a pool.
    static POOLED: Cell<bool> = const { Cell::new(false) };
    /// CAP_SYS_RESOURCE was looked at.
    static SETTLED: Cell<bool> = const { Cell::new(false) };
}

/// How to become somebody else, and who the server itself is.
#[derive(Debug)]
pub(super) struct Creds {
    /// May this process become its callers?
    switch: bool,
    own: Who,
}

/// While this lives, the thread has the asked identity.
#[must_use]
pub(super) struct As<'a> {
    creds: &'a Creds,
    /// What to go back to, where the thread is not ours.
    back: Back,
    /// It belongs to the thread that made it.
    thread: PhantomData<*const ()>,
}

/// What happens when an [`As`] ends.
enum Back {
    /// Nothing: nothing was changed, or the thread is the pool's.
    Stay,
    /// The thread was this before.
    To(Option<Who>),
}

/// Says that this thread belongs to a pool: it keeps the last job's identity.
pub(super) fn pooled() {
    POOLED.set(true);
}

impl Creds {
    /// Looks what this process may do. With `single`, or where it may not switch, everything is done as the
    /// server's own user.
    pub(super) fn new(single: bool) -> Self {
        let own = Who {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            groups: rustix::process::getgroups()
                .map(|groups| groups.iter().map(|gid| gid.as_raw()).collect())
                .unwrap_or_default(),
        };
        // Tried on a thread of its own, which ends with whatever identity it got.
        let switch = !single
            && own.uid == 0
            && thread::spawn(|| {
                sys::set_groups(&[65_533]).is_ok() && sys::set_fsgid(65_533) && sys::set_fsuid(65_533)
            })
            .join()
            .unwrap_or(false);
        Self { switch, own }
    }

    /// Whether callers are told apart.
    pub(super) fn switches(&self) -> bool {
        self.switch
    }

    /// Becomes the caller.
    pub(super) fn user(&self, who: &Who) -> Result<As<'_>, Fault> {
        self.become_(Some(who))
    }

    /// Becomes the server itself.
    pub(super) fn server(&self) -> Result<As<'_>, Fault> {
        self.become_(None)
    }

    /// Gives `CAP_SYS_RESOURCE` up on this thread, before it works for a caller without becoming that caller.
    pub(super) fn settle(&self) {
        if self.switch {
            settle();
        }
    }

    fn become_(&self, who: Option<&Who>) -> Result<As<'_>, Fault> {
        let same = As { creds: self, back: Back::Stay, thread: PhantomData };
        if !self.switch {
            return Ok(same);
        }
        settle();
        let who = who.filter(|who| **who != self.own);
        if NOW.with_borrow(|now| now.as_ref() == who) {
            return Ok(same);
        }
        let back = NOW.with_borrow(Clone::clone);
        if self.set(who) {
            let back = if POOLED.get() { Back::Stay } else { Back::To(back) };
            Ok(As { creds: self, back, thread: PhantomData })
        } else {
            self.restore(back.as_ref());
            Err(Fault::Access)
        }
    }

    /// Sets the thread's identity; false where it did not take in full.
    fn set(&self, who: Option<&Who>) -> bool {
        let whom = who.unwrap_or(&self.own);
        // -1 means "leave it" to the kernel.
        if whom.uid == u32::MAX || whom.gid == u32::MAX {
            return false;
        }
        let done =
            sys::set_groups(&whom.groups).is_ok() && sys::set_fsgid(whom.gid) && sys::set_fsuid(whom.uid);
        NOW.with_borrow_mut(|now| *now = who.cloned());
        done
    }

    /// Goes back. A thread that stays somebody else must not run anything more.
    fn restore(&self, back: Option<&Who>) {
        if !self.set(back) {
            tracing::error!("a thread cannot get its own credentials back");
            std::process::abort();
        }
    }
}

impl Drop for As<'_> {
    fn drop(&mut self) {
        if let Back::To(back) = &self.back {
            self.creds.restore(back.as_ref());
        }
    }
}

/// A thread that works for callers gives `CAP_SYS_RESOURCE` up (it could take it again): with it, quotas and
/// the blocks reserved for root would not hold for callers. Changing fsuid drops the file capabilities only.
fn settle() {
    if SETTLED.replace(true) {
        return;
    }
    if let Ok(mut sets) = rustix::thread::capabilities(None)
        && sets.effective.contains(CapabilitySet::SYS_RESOURCE)
    {
        sets.effective.remove(CapabilitySet::SYS_RESOURCE);
        if let Err(error) = rustix::thread::set_capabilities(None, sets) {
            tracing::debug!(%error, "CAP_SYS_RESOURCE stays");
        }
    }
}
