//! The server's half: what stands around every operation that may conflict with a delegation.

mod intent;
mod opens;
mod permit;

pub use intent::{Effect, Intent, Party, Share};
pub use permit::Permit;

use crate::{ClientKey, Now, Oid};
use opens::Opens;
use permit::Permits;

/// Bounds of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Most permits at one time; beyond it [`Admit::Delay`]. Each stands for one running operation.
    pub permits: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { permits: 65_536 }
    }
}

/// The answer to [`Delegations::admit`].
#[derive(Debug)]
#[must_use = "a permit that is not given back stands for ever"]
pub enum Admit {
    /// Go on; give the permit back by [`commit`](Delegations::commit) or [`abandon`](Delegations::abandon).
    Permit(Permit),
    /// Too many operations are running: NFS4ERR_DELAY.
    Delay,
}

/// The delegations of one export. They grant nothing yet; see the crate's page.
#[derive(Debug)]
pub struct Delegations {
    config: Config,
    permits: Permits,
    opens: Opens,
}

impl Delegations {
    /// An empty machine.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, permits: Permits::default(), opens: Opens::default() }
    }

    /// Asks to begin an operation. All or nothing; from here to commit or abandon the operation's needs stand on its
    /// objects, so that no grant can contradict it.
    pub fn admit(&mut self, _now: Now, party: Party, intent: &Intent) -> Admit {
        if self.permits.len() >= self.config.permits {
            return Admit::Delay;
        }
        Admit::Permit(self.permits.begin(party, intent))
    }

    /// The operation was done, with these effects.
    pub fn commit(&mut self, _now: Now, permit: Permit, effects: &[Effect]) {
        self.permits.end(permit);
        for effect in effects {
            self.effect(*effect);
        }
    }

    /// The operation was not done.
    pub fn abandon(&mut self, _now: Now, permit: Permit) {
        self.permits.end(permit);
    }

    /// Something that needs no permit: a close.
    pub fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Opened { oid, client, write } => self.opens.add(oid, client, write),
            Effect::Closed { oid, client, write } => self.opens.remove(oid, client, write),
            Effect::Changed { .. } | Effect::Entry { .. } => {}
        }
    }

    /// Permits that stand: the number of running operations that were admitted.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.permits.len()
    }

    /// Whether a client other than `client` has the object open.
    #[must_use]
    pub fn open_elsewhere(&self, oid: Oid, client: ClientKey) -> bool {
        self.opens.elsewhere(oid, client, false)
    }

    /// Whether a client other than `client` has the object open for writing.
    #[must_use]
    pub fn written_elsewhere(&self, oid: Oid, client: ClientKey) -> bool {
        self.opens.elsewhere(oid, client, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(oid: u128) -> Intent {
        Intent::Write { oid: Oid(oid) }
    }

    #[test]
    fn a_permit_stands_until_it_is_committed_or_abandoned() {
        let mut m = Delegations::new(Config::default());
        let now = Now::from_millis(1);
        let Admit::Permit(a) = m.admit(now, Party::Local, &write(1)) else { panic!("refused") };
        let Admit::Permit(b) = m.admit(now, Party::Client(ClientKey(3)), &write(1)) else {
            panic!("refused")
        };
        assert_eq!(m.permits(), 2, "permits exclude grants, not each other");
        m.commit(now, a, &[]);
        assert_eq!(m.permits(), 1);
        m.abandon(now, b);
        assert_eq!(m.permits(), 0);
    }

    #[test]
    fn beyond_the_bound_of_permits_an_operation_is_delayed() {
        let mut m = Delegations::new(Config { permits: 1 });
        let now = Now::from_millis(1);
        let Admit::Permit(a) = m.admit(now, Party::Local, &write(1)) else { panic!("refused") };
        assert!(matches!(m.admit(now, Party::Local, &write(2)), Admit::Delay));
        m.abandon(now, a);
        let Admit::Permit(b) = m.admit(now, Party::Local, &write(2)) else { panic!("refused") };
        m.abandon(now, b);
    }

    #[test]
    fn opens_are_counted_by_object_and_client() {
        let mut m = Delegations::new(Config::default());
        let (oid, me, other) = (Oid(9), ClientKey(1), ClientKey(2));
        m.effect(Effect::Opened { oid, client: me, write: false });
        m.effect(Effect::Opened { oid, client: me, write: true });
        assert!(!m.open_elsewhere(oid, me));
        assert!(m.open_elsewhere(oid, other));
        assert!(m.written_elsewhere(oid, other));
        m.effect(Effect::Closed { oid, client: me, write: true });
        assert!(m.open_elsewhere(oid, other));
        assert!(!m.written_elsewhere(oid, other));
        m.effect(Effect::Closed { oid, client: me, write: false });
        assert!(!m.open_elsewhere(oid, other));
    }

    #[test]
    fn a_close_without_an_open_changes_nothing() {
        let mut m = Delegations::new(Config::default());
        let (oid, client) = (Oid(9), ClientKey(1));
        m.effect(Effect::Closed { oid, client, write: true });
        m.effect(Effect::Opened { oid, client, write: true });
        assert!(m.written_elsewhere(oid, ClientKey(2)));
    }
}
