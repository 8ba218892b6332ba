//! What must hold of the whole machine after each step.

use super::object::State;
use super::{Delegations, Intent, Need, Party};

/// What does not hold: the number of the invariant in the design's list, and in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// 1 to 16.
    pub invariant: u8,
    /// In words.
    pub what: &'static str,
}

fn must(holds: bool, invariant: u8, what: &'static str) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { invariant, what }) }
}

impl Delegations {
    /// Looks at everything: slow, for tests and debug builds.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        for deleg in self.held.iter() {
            must(deleg.seqid >= 1, 3, "a seqid is at least one")?;
            match &deleg.state {
                State::Recalling(recall) => {
                    let revoke = super::deadlines::Timer::Revoke(deleg.id);
                    let due = (recall.since.plus(self.config.lease), revoke);
                    must(self.timers.contains(&due), 6, "what is recalled is revoked a lease after")?;
                    let both = recall.again.is_some() && recall.cb.is_some();
                    must(!both, 5, "one recall is out or scheduled")?;
                    let known = recall.cb.is_none_or(|cb| self.cbs.contains_key(&cb));
                    must(known, 5, "a recall that is out is waited for")?;
                }
                State::Held | State::Revoked(_) => {}
            }
            must(deleg.told >= deleg.sc, 15, "change never goes back")?;
            if !deleg.lives() {
                continue;
            }
            for other in self.held.on(deleg.oid).filter(|d| d.lives() && d.id != deleg.id) {
                must(other.client != deleg.client, 3, "one delegation per client and object")?;
                must(!deleg.writes() && !other.writes(), 1, "a writer's delegation is alone")?;
            }
            let opens = self.opens.elsewhere(deleg.oid, deleg.client, !deleg.writes());
            must(
                !opens,
                if deleg.writes() { 1 } else { 2 },
                "no open stands beside a delegation that excludes it",
            )?;
            let running = self.permits.forbid(deleg.oid, deleg.client, None, deleg.writes());
            must(!running, 2, "no operation runs that a delegation excludes")?;
        }
        for (key, client) in &self.clients {
            let revoked = self.held.of(*key).filter(|d| !d.lives()).count();
            must(client.held == self.held.of(*key).count(), 16, "a client's delegations are counted")?;
            must(client.revoked() == revoked, 4, "a client's revoked delegations are counted")?;
        }
        let sum: usize = self.clients.values().map(|c| c.held).sum();
        must(sum == self.held.len(), 16, "the clients' delegations are all there are")?;
        must(self.held.consistent() && self.wants.consistent(), 16, "indexes point both ways")?;
        for waiting in self.waiting.values().filter(|w| !w.resumed) {
            must(self.blocked(waiting), 9, "nobody waits for nobody")?;
        }
        for (id, waiting) in self.waiting.iter().filter(|(_, w)| !w.resumed) {
            let due = (waiting.since.plus(self.config.patience()), super::deadlines::Timer::Patience(*id));
            must(self.timers.contains(&due), 9, "whoever waits gives up in time")?;
            if let (Party::Client(client), super::wait::Waits::Do(intent)) = (waiting.party, waiting.what) {
                must(!self.only_own(client, &intent), 11, "nobody waits for itself")?;
            }
        }
        Ok(())
    }

    fn only_own(&self, client: crate::ClientKey, intent: &Intent) -> bool {
        let mut in_way = intent.touches().into_iter().flatten().flat_map(|(oid, row)| {
            self.held.on(oid).filter(move |d| d.lives() && row.need(d.writes()) != Need::Nothing)
        });
        in_way.all(|d| d.client == client)
    }
}
