//! Any events: the facts never contradict each other, and whoever waits gets an answer in time.

use proptest::prelude::*;

use alloc::vec;

use super::*;

#[derive(Clone, Debug)]
enum Move {
    Begin { client: u8, what: u8, oid: u8, share: u8, want: u8 },
    Finish { which: u8, done: bool },
    Close { which: u8 },
    Attrs { client: u8, oid: u8 },
    Answer { which: u8, how: u8 },
    Return { which: u8 },
    Free { which: u8 },
    Seen { which: u8 },
    Expire { client: u8 },
    Renew { client: u8 },
    Admin { which: u8 },
    Channel { client: u8, up: bool },
    Sleep { ms: u32 },
    Gone { client: u8 },
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        12 => (1..4_u8, 0..10_u8, 0..2_u8, 0..8_u8, 0..4_u8)
            .prop_map(|(client, what, oid, share, want)| Move::Begin { client, what, oid, share, want }),
        9 => (any::<u8>(), any::<bool>()).prop_map(|(which, done)| Move::Finish { which, done }),
        6 => any::<u8>().prop_map(|which| Move::Close { which }),
        3 => (1..4_u8, 0..2_u8).prop_map(|(client, oid)| Move::Attrs { client, oid }),
        6 => (any::<u8>(), 0..6_u8).prop_map(|(which, how)| Move::Answer { which, how }),
        4 => any::<u8>().prop_map(|which| Move::Return { which }),
        2 => any::<u8>().prop_map(|which| Move::Free { which }),
        2 => any::<u8>().prop_map(|which| Move::Seen { which }),
        1 => (1..4_u8).prop_map(|client| Move::Expire { client }),
        2 => (1..4_u8).prop_map(|client| Move::Renew { client }),
        1 => any::<u8>().prop_map(|which| Move::Admin { which }),
        1 => (1..4_u8, any::<bool>()).prop_map(|(client, up)| Move::Channel { client, up }),
        4 => (0..30_000_u32).prop_map(|ms| Move::Sleep { ms }),
        1 => (1..4_u8).prop_map(|client| Move::Gone { client }),
    ]
}

/// A running operation: what it will have done.
#[derive(Clone, Copy, Debug)]
struct Job {
    id: u64,
    client: ClientKey,
    intent: Intent,
    want: u8,
}

struct Run {
    w: World,
    jobs: Vec<Job>,
    parked: Vec<(Job, u64)>,
    asking: Vec<(u64, u64)>,
    out: Vec<Out>,
}

fn pick(which: u8, len: usize) -> Option<usize> {
    usize::from(which).checked_rem(len)
}

impl Run {
    fn step(&mut self, step: &Move) {
        let now = at(self.w.now);
        match *step {
            Move::Begin { client, what, oid, share, want } => {
                self.begin(ClientKey(u64::from(client)), what, Oid(u128::from(oid)), share, want);
            }
            Move::Finish { which, done } => {
                if let Some(which) = pick(which, self.jobs.len()) {
                    let job = self.jobs.swap_remove(which);
                    self.finish(job, done);
                }
            }
            Move::Close { which } => {
                if let Some(which) = pick(which, self.w.m.opens.len()) {
                    let open = self.w.m.opens[which];
                    self.w.m.closed(open.client, open.oid, open.share);
                }
            }
            Move::Attrs { client, oid } => {
                let asker = Party::Client(ClientKey(u64::from(client)));
                if let AttrsFrom::Ask(id) = self.w.m.attrs_of(now, asker, Oid(u128::from(oid))) {
                    self.asking.push((id, self.w.now));
                }
            }
            Move::Answer { which, how } => self.answer(which, how),
            Move::Return { which } => {
                if let Some(which) = pick(which, self.w.m.delegs.len()) {
                    let d = self.w.m.delegs[which];
                    self.w.m.give_back(now, d.client, d.oid, d.sid);
                }
            }
            Move::Free { which } => {
                if let Some(which) = pick(which, self.w.m.delegs.len()) {
                    let d = self.w.m.delegs[which];
                    let freed = self.w.m.free(d.client, d.sid.other);
                    assert_eq!(freed == Status::Ok, !d.lives(), "only what was taken can be freed");
                }
            }
            Move::Seen { which } => {
                if let Some(which) = pick(which, self.w.m.delegs.len()) {
                    let d = self.w.m.delegs[which];
                    if let Some(call) = d.unseen {
                        self.w.m.reply_seen(d.client, call);
                    }
                }
            }
            Move::Expire { client } => self.w.m.expired(now, ClientKey(u64::from(client))),
            Move::Renew { client } => self.w.m.renewed(ClientKey(u64::from(client))),
            Move::Admin { which } => {
                if let Some(which) = pick(which, self.w.m.delegs.len()) {
                    let d = self.w.m.delegs[which];
                    self.w.m.admin_revoke(now, d.client, d.sid.other);
                }
            }
            Move::Channel { client, up } => self.w.m.back_channel(ClientKey(u64::from(client)), up),
            Move::Sleep { ms } => self.sleep(u64::from(ms)),
            Move::Gone { client } => self.gone(ClientKey(u64::from(client))),
        }
        self.settle();
        self.w.m.check_facts().unwrap();
    }

    fn begin(&mut self, client: ClientKey, what: u8, oid: Oid, share: u8, want: u8) {
        let share = Share {
            read: share & 1 == 0,
            write: share & 2 != 0,
            deny_read: share == 7,
            deny_write: share == 5,
        };
        let intent = match what {
            0..4 => Intent::Open { oid, share, truncate: what == 3 },
            4 => Intent::Read { oid },
            5 => Intent::Write { oid },
            6 => Intent::SetAttr { oid, size: false },
            7 => Intent::Remove { dir: Oid(99), target: Some(oid) },
            8 => Intent::Rename { from: Oid(99), to: Oid(99), source: Some(oid), victim: Some(Oid(1)) },
            _ => Intent::Lock { oid },
        };
        // Another client's open that denies this is the open table's business, not the delegations'.
        match self.w.m.admit(at(self.w.now), Party::Client(client), &intent) {
            Admit::Go(id) => self.jobs.push(Job { id, client, intent, want }),
            Admit::Wait(id) => self.parked.push((Job { id, client, intent, want }, self.w.now)),
            Admit::Delay => {}
        }
    }

    fn finish(&mut self, job: Job, done: bool) {
        if let (Intent::Open { oid, share, .. }, true) = (job.intent, done) {
            let wanted =
                [Wanted::NoPreference, Wanted::Read, Wanted::Write, Wanted::Any][usize::from(job.want)];
            let want = Want { oid, ..self.w.want(job.client, share, wanted) };
            let granted = self.w.m.grant(at(self.w.now), job.id, &want);
            if let Ok(granted) = granted {
                assert!(granted.sid.seqid > 0);
            }
            self.w.m.opened(job.client, oid, share);
        }
        self.w.m.finish(job.id);
    }

    /// Answers a callback that was sent.
    fn answer(&mut self, which: u8, how: u8) {
        let Some(which) = pick(which, self.out.len()) else { return };
        let now = at(self.w.now);
        match self.out.swap_remove(which) {
            Out::Recall { client, sid, .. } => {
                let outcome = match how {
                    0 => CbOutcome::Delay,
                    1 => CbOutcome::Unknown,
                    2 => CbOutcome::Lost,
                    _ => CbOutcome::Ok,
                };
                self.w.m.recall_answered(now, client, sid.other, outcome);
            }
            Out::GetAttr { client, oid, .. } => {
                let answer = if how == 0 { None } else { Some((100 + u64::from(how & 1), 50)) };
                self.w.m.attrs_answered(now, client, oid, answer);
            }
            Out::Resume(_) | Out::GiveUp(_) | Out::Revoked { .. } => {}
        }
    }

    fn gone(&mut self, client: ClientKey) {
        for (job, _) in self.parked.iter().filter(|(job, _)| job.client == client) {
            self.w.m.forget_waiter(job.id);
        }
        self.parked.retain(|(job, _)| job.client != client);
        for job in self.jobs.iter().filter(|job| job.client == client) {
            self.w.m.finish(job.id);
        }
        self.jobs.retain(|job| job.client != client);
        self.w.m.gone(at(self.w.now), client);
        self.w.m.client(client);
        self.w.m.back_channel(client, true);
    }

    /// Time passes from deadline to deadline.
    fn sleep(&mut self, ms: u64) {
        let end = self.w.now + ms;
        while let Some(next) = self.w.m.next_deadline().filter(|next| next.as_millis() <= end) {
            self.w.now = self.w.now.max(next.as_millis());
            self.w.m.timeout(at(self.w.now));
            self.settle();
            let later = self.w.m.next_deadline().is_none_or(|after| after > at(self.w.now));
            assert!(later, "a deadline that does nothing");
        }
        self.w.now = end;
    }

    /// Whoever may go on goes on; whoever gave up is told.
    fn settle(&mut self) {
        loop {
            let new = self.w.m.take_out();
            if new.is_empty() {
                break;
            }
            for out in new {
                match out {
                    Out::Resume(id) => self.resume(id),
                    Out::GiveUp(id) => {
                        let known = self.parked.len() + self.asking.len();
                        self.parked.retain(|(job, _)| job.id != id);
                        self.asking.retain(|(asker, _)| *asker != id);
                        assert_eq!(
                            known - 1,
                            self.parked.len() + self.asking.len(),
                            "gave up what does not wait"
                        );
                    }
                    Out::Recall { .. } | Out::GetAttr { .. } => self.out.push(out),
                    Out::Revoked { .. } => {}
                }
            }
        }
        let patience = self.w.m.config.patience.0;
        for since in self.parked.iter().map(|p| p.1).chain(self.asking.iter().map(|a| a.1)) {
            assert!(since + patience > self.w.now, "it has waited too long");
        }
    }

    fn resume(&mut self, id: u64) {
        if let Some(at_) = self.asking.iter().position(|(asker, _)| *asker == id) {
            self.asking.remove(at_);
            let _ = self.w.m.attrs_again(id, 100, 50);
            return;
        }
        let at_ = self.parked.iter().position(|(job, _)| job.id == id).expect("resumed what does not wait");
        let (job, since) = self.parked.remove(at_);
        match self.w.m.admit_again(at(self.w.now), id) {
            Admit::Go(id) => self.jobs.push(Job { id, ..job }),
            Admit::Wait(id) => self.parked.push((Job { id, ..job }, since)),
            Admit::Delay => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_events_keep_the_facts_consistent_and_every_wait_ends(script in prop::collection::vec(moves(), 1..150)) {
        let config = Config { quiet: Millis(5_000), delegations: 5, waiters: 5, ..Config::default() };
        let w = World::with(config);
        let mut run = Run { w, jobs: Vec::new(), parked: Vec::new(), asking: Vec::new(), out: Vec::new() };
        for step in &script {
            run.step(step);
        }
        run.sleep(200_000);
        prop_assert!(run.parked.is_empty() && run.asking.is_empty());
    }
}
