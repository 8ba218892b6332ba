//! Any events: the machine and the model give the same answers.

use alloc::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::model::{self, Model};

type Step = (u8, u8, u8, u8);

struct Job {
    permit: Permit,
    theirs: u64,
    client: ClientKey,
    intent: Intent,
    want: u8,
}

struct Pair {
    m: Delegations,
    o: Model,
    now: Now,
    seq: u32,
    jobs: Vec<Job>,
    /// Who waits: the machine's name, the model's, and what for.
    parked: Vec<(WaitId, u64, ClientKey, Option<Intent>)>,
    opens: Vec<(ClientKey, Oid, Share)>,
    /// The model's names of delegations.
    names: BTreeMap<DelegId, u64>,
    /// Callbacks that are out: of what, to whom, and whether CB_GETATTR.
    out: Vec<(CbId, ClientKey, Oid, Option<u64>)>,
}

fn pick(which: u8, len: usize) -> Option<usize> {
    usize::from(which).checked_rem(len)
}

fn same_kind(kind: Kind) -> model::Kind {
    if kind == Kind::Read { model::Kind::Read } else { model::Kind::Write }
}

impl Pair {
    fn new() -> Self {
        let config = Config {
            quiet: Millis(5_000),
            delegations: 5,
            waiters: 5,
            retry_most: Millis(2_000),
            cb_timeout: Millis(u64::MAX),
            ..Config::default()
        };
        let theirs =
            model::Config { quiet: Millis(5_000), delegations: 5, waiters: 5, ..model::Config::default() };
        let mut pair = Self {
            m: Delegations::new(config),
            o: Model::new(theirs),
            now: Now::from_millis(1_000),
            seq: 0,
            jobs: vec![],
            parked: vec![],
            opens: vec![],
            names: BTreeMap::new(),
            out: vec![],
        };
        for client in [A, B, C] {
            pair.event(Event::Client(client));
            pair.event(Event::BackChannel { client, up: true });
            pair.o.client(client);
            pair.o.back_channel(client, true);
        }
        pair
    }

    fn event(&mut self, event: Event) {
        self.m.handle_event(self.now, event);
    }

    fn step(&mut self, (what, x, y, z): Step) {
        let client = ClientKey(u64::from(x % 3) + 1);
        match what {
            0..=11 => self.begin(client, what, Oid(u128::from(y & 1)), z),
            12..=19 => self.finish(x, z & 3 != 0),
            20..=23 => self.close(x),
            24..=26 => self.ask(client, Oid(u128::from(y & 1))),
            27..=31 => self.answer(x, y % 6),
            32..=34 => self.give_back(x),
            35 => self.free(x),
            36 => self.seen(x),
            37 if y % 4 == 0 => {
                // The machine takes at once what it has asked for attributes; the model waits for the answer.
                if self.out.iter().all(|(_, to, _, other)| *to != client || other.is_some()) {
                    self.event(Event::Expired(client));
                    self.o.expired(self.now, client);
                }
            }
            37 => {
                self.event(Event::Renewed(client));
                self.o.renewed(client);
            }
            38 => {
                let up = y & 1 == 0;
                self.event(Event::BackChannel { client, up });
                self.o.back_channel(client, up);
            }
            _ => self.sleep(u64::from(x) * 100),
        }
        self.settle();
        self.m.check_invariants().unwrap();
        self.o.check_facts().unwrap();
        assert_eq!(self.m.poll_timeout().map(Now::as_millis).filter(|at| *at < u64::MAX), self.deadline());
        assert_eq!(self.m.len(), self.o.delegations().len());
    }

    fn deadline(&self) -> Option<u64> {
        self.o.next_deadline().map(Now::as_millis)
    }

    fn begin(&mut self, client: ClientKey, what: u8, oid: Oid, z: u8) {
        let share =
            Share { read: z & 1 == 0, write: z & 2 != 0, deny_read: z & 7 == 7, deny_write: z & 7 == 5 };
        let intent = match what {
            0..=5 => Intent::Open { oid, share, truncate: what == 5 },
            6 => Intent::Read { oid },
            7 => Intent::Write { oid },
            8 => Intent::SetAttr { oid, size: false },
            9 => Intent::Remove { dir: Oid(99), target: Some(oid) },
            10 => Intent::Rename { from: Oid(99), to: Oid(99), source: Some(oid), victim: Some(Oid(1)) },
            _ => Intent::Lock { oid },
        };
        let mine = self.m.admit(self.now, Party::Client(client), &intent);
        let theirs = self.o.admit(self.now, Party::Client(client), &intent);
        self.admitted(mine, theirs, client, intent, z >> 3);
    }

    fn admitted(&mut self, mine: Admit, theirs: model::Admit, client: ClientKey, intent: Intent, want: u8) {
        match (mine, theirs) {
            (Admit::Permit(permit), model::Admit::Go(theirs)) => {
                self.jobs.push(Job { permit, theirs, client, intent, want });
            }
            (Admit::Wait(mine), model::Admit::Wait(theirs)) => {
                self.parked.push((mine, theirs, client, Some(intent)));
            }
            (Admit::Delay, model::Admit::Delay) => {}
            other => panic!("{other:?}"),
        }
    }

    fn finish(&mut self, which: u8, done: bool) {
        let Some(which) = pick(which, self.jobs.len()) else { return };
        let job = self.jobs.swap_remove(which);
        let mut effects = vec![];
        if let (Intent::Open { oid, share, .. }, true) = (job.intent, done) {
            self.grant(&job, oid, share);
            effects.push(Effect::Opened { oid, client: job.client, write: share.write || share.deny_read });
            self.o.opened(job.client, oid, share);
            self.opens.push((job.client, oid, share));
        }
        self.m.commit(self.now, job.permit, &effects);
        self.o.finish(job.theirs);
    }

    fn grant(&mut self, job: &Job, oid: Oid, share: Share) {
        self.seq += 1;
        let pairs = [
            (Wanted::NoPreference, model::Wanted::NoPreference),
            (Wanted::Read, model::Wanted::Read),
            (Wanted::Write, model::Wanted::Write),
            (Wanted::Any, model::Wanted::Any),
        ];
        let (wanted, theirs) = pairs[usize::from(job.want & 3)];
        let times = job.want & 4 != 0;
        let want = Want {
            client: job.client,
            oid,
            file: FileType::Regular,
            share,
            wanted,
            times,
            signal: false,
            push: false,
            claim: Claim::Fresh,
            call: Triple { session: [0; 16], slot: 1, seq: self.seq },
            change: 100,
        };
        let asked = model::Want {
            client: job.client,
            oid,
            share,
            wanted: theirs,
            times,
            claim: model::Claim::Fresh,
            call: model::Call { slot: 1, seq: self.seq },
            change: 100,
        };
        let mine = self.m.grant(self.now, &job.permit, &want);
        let theirs = self.o.grant(self.now, job.theirs, &asked);
        match (mine, theirs) {
            (Ok(mine), Ok(theirs)) => {
                let name = *self.names.entry(mine.deleg.id).or_insert(theirs.sid.other);
                let got = (name, mine.deleg.seqid, same_kind(mine.kind), mine.times);
                assert_eq!(got, (theirs.sid.other, theirs.sid.seqid, theirs.kind, theirs.times));
            }
            (Err(Refusal::Contention { .. }), Err(model::Why::Contention))
            | (Err(Refusal::Resource { .. }), Err(model::Why::Resource)) => {}
            other => panic!("{other:?}"),
        }
    }

    fn close(&mut self, which: u8) {
        let Some(which) = pick(which, self.opens.len()) else { return };
        let (client, oid, share) = self.opens.swap_remove(which);
        self.m.effect(Effect::Closed { oid, client, write: share.write || share.deny_read });
        self.o.closed(client, oid, share);
    }

    fn ask(&mut self, client: ClientKey, oid: Oid) {
        // The model does not bound those that ask, and does not know that an expired holder is not there to ask.
        let busy = self.parked.len() >= 5 || self.m.clients.values().any(|c| c.expired);
        if busy {
            return;
        }
        let mine = self.m.attrs_of(self.now, Party::Client(client), oid);
        match (mine, self.o.attrs_of(self.now, Party::Client(client), oid)) {
            (AttrsFrom::Backend, model::AttrsFrom::Backend) => {}
            (AttrsFrom::Ask(mine), model::AttrsFrom::Ask(theirs)) => {
                self.parked.push((mine, theirs, client, None));
            }
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, which: u8, how: u8) {
        let Some(which) = pick(which, self.out.len()) else { return };
        let (cb, client, oid, recall) = self.out.swap_remove(which);
        if let Some(other) = recall {
            let (mine, theirs) = match how {
                0 => (CbOutcome::Delay, model::CbOutcome::Delay),
                1 => (CbOutcome::Unknown, model::CbOutcome::Unknown),
                2 => (CbOutcome::Lost, model::CbOutcome::Lost),
                _ => (CbOutcome::Ok, model::CbOutcome::Ok),
            };
            self.event(Event::CbDone { cb, outcome: mine });
            self.o.recall_answered(self.now, client, other, theirs);
        } else {
            let answer = (how != 0).then(|| (100 + u64::from(how & 1), 50));
            let outcome = answer.map_or(CbOutcome::Lost, |(change, size)| CbOutcome::Attrs {
                change,
                size,
                access: None,
                modify: None,
            });
            // One that is over: the model knows it by file and holder, and would take it for a later one.
            if self.m.cbs.contains_key(&cb) {
                self.event(Event::CbDone { cb, outcome });
                self.o.attrs_answered(self.now, client, oid, answer);
            }
        }
    }

    fn some(&self, which: u8) -> Option<(model::Deleg, DelegId)> {
        let deleg = self.o.delegations()[pick(which, self.o.delegations().len())?];
        let id = self.names.iter().find(|(_, name)| **name == deleg.sid.other).map(|(id, _)| *id)?;
        Some((deleg, id))
    }

    fn give_back(&mut self, which: u8) {
        let Some((d, id)) = self.some(which) else { return };
        let deleg = DelegRef { id, seqid: d.sid.seqid };
        let mine = self.m.give_back(self.now, d.client, d.oid, deleg);
        assert_eq!(mine.err().unwrap_or(Status::Ok), self.o.give_back(self.now, d.client, d.oid, d.sid));
    }

    fn free(&mut self, which: u8) {
        let Some((d, id)) = self.some(which) else { return };
        let mine = self.m.free(self.now, d.client, id);
        assert_eq!(mine.err().unwrap_or(Status::Ok), self.o.free(d.client, d.sid.other));
    }

    fn seen(&mut self, which: u8) {
        let Some((d, _)) = self.some(which) else { return };
        let Some(call) = d.unseen else { return };
        let mine = Triple { session: [0; 16], slot: call.slot, seq: call.seq };
        self.event(Event::ReplySeen { client: d.client, call: mine });
        self.o.reply_seen(d.client, call);
    }

    fn sleep(&mut self, ms: u64) {
        let end = self.now.plus(Millis(ms));
        while let Some(next) = self.deadline().filter(|next| *next <= end.as_millis()) {
            self.now = Now::from_millis(next.max(self.now.as_millis()));
            self.m.handle_timeout(self.now);
            self.o.timeout(self.now);
            self.settle();
        }
        self.now = end;
    }

    /// What is to be done is the same, callbacks in any order; whoever may go on goes on.
    fn settle(&mut self) {
        loop {
            let mut mine: Vec<model::Out> = vec![];
            let mut resumed = vec![];
            while let Some(action) = self.m.poll_action() {
                let refers = |t: Option<Triple>| t.map(|t| model::Call { slot: t.slot, seq: t.seq });
                mine.push(match action {
                    Action::Recall { cb, client, deleg, oid, truncate, referring } => {
                        let other = self.names[&deleg.id];
                        self.out.push((cb, client, oid, Some(other)));
                        let sid = model::Sid { other, seqid: deleg.seqid };
                        model::Out::Recall { client, sid, oid, truncate, referring: refers(referring) }
                    }
                    Action::GetAttr { cb, client, oid, referring, .. } => {
                        self.out.push((cb, client, oid, None));
                        model::Out::GetAttr { client, oid, referring: refers(referring) }
                    }
                    Action::Resume(id) => {
                        let parked = *self.parked.iter().find(|p| p.0 == id).expect("it waits");
                        resumed.push(parked);
                        model::Out::Resume(parked.1)
                    }
                    Action::GiveUp(id) => {
                        let theirs = self.parked.iter().find(|p| p.0 == id).expect("it waits").1;
                        self.parked.retain(|p| p.0 != id);
                        model::Out::GiveUp(theirs)
                    }
                    Action::Revoked { client, id, cause } => {
                        let cause = match cause {
                            Cause::Late => model::Cause::Late,
                            Cause::Expired => model::Cause::Expired,
                            Cause::Admin => model::Cause::Admin,
                        };
                        model::Out::Revoked { client, other: self.names[&id], cause }
                    }
                    Action::Advance { .. } | Action::RecallAny { .. } => continue,
                    other @ (Action::Push { .. }
                    | Action::Available { .. }
                    | Action::WantsCancelled { .. }) => {
                        panic!("{other:?}")
                    }
                });
            }
            let mut theirs = self.o.take_out();
            mine.sort_unstable();
            theirs.sort_unstable();
            assert_eq!(mine, theirs);
            if mine.is_empty() {
                return;
            }
            for (mine, theirs, client, intent) in resumed {
                self.parked.retain(|p| p.0 != mine);
                if let Some(intent) = intent {
                    let again = self.m.admit_again(self.now, mine);
                    let theirs = self.o.admit_again(self.now, theirs);
                    self.admitted(again, theirs, client, intent, 0);
                } else {
                    let own = OwnAttrs { change: 100, size: 50 };
                    let mine = self.m.attrs_again(self.now, mine, own);
                    match (mine, self.o.attrs_again(theirs, 100, 50)) {
                        (AttrsFrom::Backend, model::AttrsFrom::Backend) => {}
                        (AttrsFrom::Overlay(m), model::AttrsFrom::Overlay(o)) => {
                            assert_eq!((m.change, m.size, m.touched), (o.change, o.size, o.touched));
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}

extern crate std;

/// Scripts of 75 events on the average: 3,000, or as many as `NFS4_CASES` says.
fn cases() -> u32 {
    std::env::var("NFS4_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(3_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn machine_and_model_agree(
        script in prop::collection::vec((0..44_u8, any::<u8>(), any::<u8>(), any::<u8>()), 1..150),
    ) {
        let mut pair = Pair::new();
        for step in script {
            pair.step(step);
        }
    }
}
