//! One client as seen from the hot path: its lease and what SEQUENCE tells it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use nfs4_deleg::{Millis, Now};
use nfs4_proto::{ClientId, Verifier};

/// `SEQ4_STATUS_*`: RFC 8881 §18.46.1. All are levels: set while the cause lasts.
pub mod seq4 {
    /// No session of the client has a working back channel.
    pub const CB_PATH_DOWN: u32 = 0x01;
    /// GSS contexts of the back channel are about to expire.
    pub const CB_GSS_CONTEXTS_EXPIRING: u32 = 0x02;
    /// GSS contexts of the back channel have expired.
    pub const CB_GSS_CONTEXTS_EXPIRED: u32 = 0x04;
    /// The lease expired and all state went.
    pub const EXPIRED_ALL_STATE_REVOKED: u32 = 0x08;
    /// The lease expired and some state went.
    pub const EXPIRED_SOME_STATE_REVOKED: u32 = 0x10;
    /// An administrator took state away.
    pub const ADMIN_STATE_REVOKED: u32 = 0x20;
    /// Something that was recalled and not returned was taken away.
    pub const RECALLABLE_STATE_REVOKED: u32 = 0x40;
    /// The lease is another server's now.
    pub const LEASE_MOVED: u32 = 0x80;
    /// The server restarted: reclaim, then say RECLAIM_COMPLETE.
    pub const RESTART_RECLAIM_NEEDED: u32 = 0x100;
    /// This session has no back channel.
    pub const CB_PATH_DOWN_SESSION: u32 = 0x200;
    /// The back channel cannot be repaired.
    pub const BACKCHANNEL_FAULT: u32 = 0x400;
}

/// Who sends: flavor and user, as bytes that are compared and nothing else. RFC 8881 §18.35.4.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Bytes);

impl Principal {
    /// AUTH_NONE.
    #[must_use]
    pub fn none() -> Self {
        Self(Bytes::from_static(&[0; 4]))
    }

    /// AUTH_SYS with this user.
    #[must_use]
    pub fn sys(uid: u32) -> Self {
        let [a, b, c, d] = uid.to_be_bytes();
        Self(Bytes::copy_from_slice(&[0, 0, 0, 1, a, b, c, d]))
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_first_chunk::<4>().map(|(_, uid)| uid.try_into()) {
            Some(Ok(uid)) => write!(f, "sys:{}", u32::from_be_bytes(uid)),
            Some(Err(_)) | None => f.write_str("none"),
        }
    }
}

/// The renewal time of a client that is no more.
const GONE: u64 = u64::MAX;

/// One client ID. Shared by its sessions; what only the client table needs is there.
pub struct Client {
    pub(super) id: ClientId,
    pub(super) owner: Bytes,
    pub(super) verifier: Verifier,
    pub(super) principal: Principal,
    pub(super) peer: Option<SocketAddr>,
    /// Last renewal, ms; [`GONE`] when the client was removed.
    renewed: AtomicU64,
    /// `SEQ4_STATUS_*` set by others.
    flags: AtomicU32,
    /// Those of revoked delegations.
    delegation_flags: AtomicU32,
    /// Holds state of the boot before and may reclaim it. Set on confirmation.
    pub(super) on_record: AtomicBool,
    /// RECLAIM_COMPLETE was done.
    pub(super) complete: AtomicBool,
    /// Sessions with a working back channel.
    pub(super) backs: AtomicU32,
    /// A session was given a back channel once.
    pub(super) back_wanted: AtomicBool,
    /// Callbacks that wait or are under way.
    callbacks: AtomicU32,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("id", &self.id).field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// One callback of a client, counted until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Calling<'a>(&'a Client);

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.0.callbacks.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Client {
    /// Counts one more callback; none where `most` wait already.
    pub fn calling(&self, most: u32) -> Option<Calling<'_>> {
        if self.callbacks.fetch_add(1, Ordering::Relaxed) < most {
            return Some(Calling(self));
        }
        self.callbacks.fetch_sub(1, Ordering::Relaxed);
        None
    }
}

impl Client {
    pub(super) fn new(
        now: Now,
        id: ClientId,
        owner: Bytes,
        verifier: Verifier,
        principal: Principal,
        peer: Option<SocketAddr>,
    ) -> Self {
        Self {
            id,
            owner,
            verifier,
            principal,
            peer,
            renewed: AtomicU64::new(now.as_millis()),
            flags: AtomicU32::new(0),
            delegation_flags: AtomicU32::new(0),
            on_record: AtomicBool::new(false),
            complete: AtomicBool::new(false),
            backs: AtomicU32::new(0),
            back_wanted: AtomicBool::new(false),
            callbacks: AtomicU32::new(0),
        }
    }

    /// The client ID.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.id
    }

    /// `co_ownerid`.
    #[must_use]
    pub fn owner(&self) -> &Bytes {
        &self.owner
    }

    /// Whether the client ID was removed: nothing may be opened for it any more, also by a compound that runs.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.renewed.load(Ordering::SeqCst) == GONE
    }

    /// Whether RECLAIM_COMPLETE was done. RFC 8881 §18.51.
    #[must_use]
    pub fn reclaim_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    /// Sets status flags ([`seq4`]); they stay until cleared.
    pub fn set_flags(&self, flags: u32) {
        self.flags.fetch_or(flags, Ordering::Relaxed);
    }

    /// Clears status flags, when the cause has gone.
    pub fn clear_flags(&self, flags: u32) {
        self.flags.fetch_and(!flags, Ordering::Relaxed);
    }

    /// The flags of revoked delegations, as they are now.
    pub fn set_delegation_flags(&self, flags: u32) {
        self.delegation_flags.store(flags, Ordering::Relaxed);
    }

    /// Flags set by others.
    pub(super) fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed) | self.delegation_flags.load(Ordering::Relaxed)
    }

    /// A SEQUENCE succeeded: renews the lease, unless the client is to be told that all state went with it (§18.46.3).
    /// False where the client is gone.
    pub(super) fn touch(&self, now: Now) -> bool {
        if self.flags() & seq4::EXPIRED_ALL_STATE_REVOKED != 0 {
            return !self.is_gone();
        }
        self.renew(now)
    }

    /// Starts a new lease. False where the client is gone. A time before the last renewal changes nothing.
    pub(super) fn renew(&self, now: Now) -> bool {
        let now = now.as_millis().min(GONE - 1);
        self.renewed
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| (old != GONE).then_some(old.max(now)))
            .is_ok()
    }

    /// When the lease was last renewed.
    pub(super) fn renewed(&self) -> Now {
        Now::from_millis(self.renewed.load(Ordering::SeqCst))
    }

    /// Whether the lease ran out, requests in progress not counted. A lease covers its last millisecond.
    pub(super) fn lease_over(&self, now: Now, lease: Millis) -> bool {
        now.since(self.renewed()) > lease
    }

    /// Makes it gone, if the lease was not renewed since `seen`.
    pub(super) fn kill(&self, seen: Now) -> bool {
        self.renewed.compare_exchange(seen.as_millis(), GONE, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Makes it gone.
    pub(super) fn kill_now(&self) {
        self.renewed.store(GONE, Ordering::SeqCst);
    }
}
