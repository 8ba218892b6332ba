//! The sheet's scenarios FS, by number; all that must hold is looked at after each step.

use alloc::vec;
use alloc::vec::Vec;

use nfs4_proto::{SeqStatusFlags, Status};

use super::*;
use crate::Millis;

mod bounds;
mod compare;
mod files;
mod held;
mod wanted;

const A: ClientKey = ClientKey(1);
const B: ClientKey = ClientKey(2);
const C: ClientKey = ClientKey(3);
const F: Oid = Oid(7);
const G: Oid = Oid(8);
const READ: Share = Share { read: true, write: false, deny_read: false, deny_write: false };
const WRITE: Share = Share { read: false, write: true, deny_read: false, deny_write: false };

fn calm() -> Config {
    Config { quiet: Millis(0), ..Config::default() }
}

struct World {
    m: Delegations,
    now: Now,
    seq: u32,
}

impl World {
    fn new() -> Self {
        Self::with(calm())
    }

    fn with(config: Config) -> Self {
        let mut w = Self { m: Delegations::new(config), now: Now::from_millis(1_000), seq: 0 };
        for client in [A, B, C] {
            w.event(Event::Client(client));
            w.event(Event::BackChannel { client, up: true });
        }
        w
    }

    fn event(&mut self, event: Event) {
        self.m.handle_event(self.now, event);
        self.m.check_invariants().unwrap();
    }

    fn call(&self) -> Triple {
        Triple { session: [1; 16], slot: 1, seq: self.seq }
    }

    fn want(&mut self, client: ClientKey, share: Share, wanted: Wanted) -> Want {
        self.seq += 1;
        Want {
            client,
            oid: F,
            file: FileType::Regular,
            share,
            wanted,
            times: false,
            signal: false,
            push: false,
            claim: Claim::Fresh,
            call: self.call(),
            change: 100,
        }
    }

    fn admit(&mut self, client: ClientKey, intent: &Intent) -> Admit {
        let answer = self.m.admit(self.now, Party::Client(client), intent);
        self.m.check_invariants().unwrap();
        answer
    }

    fn waits(&mut self, client: ClientKey, intent: &Intent) -> WaitId {
        let Admit::Wait(id) = self.admit(client, intent) else { panic!("{intent:?} does not wait") };
        id
    }

    fn goes(&mut self, client: ClientKey, intent: &Intent) -> Permit {
        let Admit::Permit(permit) = self.admit(client, intent) else { panic!("{intent:?} does not go on") };
        permit
    }

    fn does(&mut self, client: ClientKey, intent: &Intent) {
        let permit = self.goes(client, intent);
        self.m.commit(self.now, permit, &[]);
    }

    fn open(&mut self, client: ClientKey, share: Share, wanted: Wanted) -> Result<Grant, Refusal> {
        let want = self.want(client, share, wanted);
        self.open_with(&want)
    }

    fn open_with(&mut self, want: &Want) -> Result<Grant, Refusal> {
        let permit = self.goes(want.client, &opening(want.oid, want.share));
        let granted = self.m.grant(self.now, &permit, want);
        let write = want.share.write || want.share.deny_read;
        let opened = Effect::Opened { oid: want.oid, client: want.client, write };
        self.m.commit(self.now, permit, &[opened]);
        self.m.check_invariants().unwrap();
        granted
    }

    fn close(&mut self, client: ClientKey, share: Share) {
        self.m.effect(Effect::Closed { oid: F, client, write: share.write || share.deny_read });
    }

    /// A delegation whose reply was seen and whose open is closed.
    fn holds(&mut self, client: ClientKey, kind: Kind) -> DelegRef {
        let wanted = if kind == Kind::Read { Wanted::Read } else { Wanted::Write };
        let granted = self.open(client, READ, wanted).unwrap();
        assert_eq!((granted.kind, granted.deleg.seqid), (kind, 1));
        self.close(client, READ);
        self.event(Event::ReplySeen { client, call: self.call() });
        granted.deleg
    }

    fn out(&mut self) -> Vec<Action> {
        core::iter::from_fn(|| self.m.poll_action()).collect()
    }

    fn recalls(&mut self) -> Vec<(ClientKey, CbId)> {
        let recall = |a| if let Action::Recall { client, cb, .. } = a { Some((client, cb)) } else { None };
        self.out().into_iter().filter_map(recall).collect()
    }

    fn back(&mut self, client: ClientKey, deleg: DelegRef) -> Result<(), Status> {
        let done = self.m.give_back(self.now, client, F, deleg);
        self.m.check_invariants().unwrap();
        done
    }

    fn done(&mut self, cb: CbId, outcome: CbOutcome) {
        self.event(Event::CbDone { cb, outcome });
    }

    fn go_on(&mut self, ms: u64) {
        self.now = self.now.plus(Millis(ms));
        self.m.handle_timeout(self.now);
        self.m.check_invariants().unwrap();
    }
}

fn opening(oid: Oid, share: Share) -> Intent {
    Intent::Open { oid, share, truncate: false }
}

fn open_intent(share: Share) -> Intent {
    opening(F, share)
}
