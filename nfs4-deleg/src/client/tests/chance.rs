//! Any events in any order: what must hold does, and what is begun ends.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Move {
    Ask { oid: u8, what: u8, owner: u8, share: u8, end: u8 },
    SendOpen { oid: u8, named: bool },
    SendIo { oid: u8, changes: bool },
    Reply { which: u8, oid: u8, other: u8, seqid: u8, write: bool, kind: u8 },
    Recall { oid: u8, other: u8, truncate: bool, refer: bool },
    RecallAny { keep: u8 },
    Do { which: u8, status: u8 },
    Sleep { ms: u32 },
    Sequence { flags: u8 },
    Restart,
    AllLost,
    Return { oid: u8 },
    Closed { oid: u8, owner: u8 },
}

fn moves() -> impl Strategy<Value = Move> {
    let oid = 0..3_u8;
    prop_oneof![
        12 => (oid.clone(), 0..8_u8, 0..2_u8, 0..16_u8, 0..20_u8)
            .prop_map(|(oid, what, owner, share, end)| Move::Ask { oid, what, owner, share, end }),
        3 => (oid.clone(), any::<bool>()).prop_map(|(oid, named)| Move::SendOpen { oid, named }),
        3 => (oid.clone(), any::<bool>()).prop_map(|(oid, changes)| Move::SendIo { oid, changes }),
        7 => (any::<u8>(), oid.clone(), 1..4_u8, 1..4_u8, any::<bool>(), 0..8_u8).prop_map(
            |(which, oid, other, seqid, write, kind)| Move::Reply { which, oid, other, seqid, write, kind }
        ),
        2 => (oid.clone(), 1..4_u8, any::<bool>(), any::<bool>())
            .prop_map(|(oid, other, truncate, refer)| Move::Recall { oid, other, truncate, refer }),
        1 => (0..3_u8).prop_map(|keep| Move::RecallAny { keep }),
        12 => (any::<u8>(), 0..12_u8).prop_map(|(which, status)| Move::Do { which, status }),
        2 => (0..40_000_u32).prop_map(|ms| Move::Sleep { ms }),
        2 => (0..10_u8).prop_map(|flags| Move::Sequence { flags }),
        1 => Just(Move::Restart),
        1 => Just(Move::AllLost),
        1 => oid.clone().prop_map(|oid| Move::Return { oid }),
        1 => (oid, 0..2_u8).prop_map(|(oid, owner)| Move::Closed { oid, owner }),
    ]
}

/// The same file has its own stateids, as at a server.
fn stateid(oid: u8, other: u8, seqid: u8) -> StateId {
    sid(oid * 10 + other, u32::from(seqid))
}

struct World {
    c: Client,
    /// Calls in flight; whether each is an OPEN.
    calls: Vec<(CallId, bool)>,
    todo: Vec<ClientAction>,
}

impl World {
    fn step(&mut self, step: &Move) {
        match *step {
            Move::Ask { oid, what, owner, share, end } => self.ask(oid, what, owner, share, end),
            Move::SendOpen { oid, named } => {
                let call = self.c.send_open(Some(Oid(u128::from(oid))).filter(|_| named), u32::from(oid));
                self.calls.push((call, true));
            }
            Move::SendIo { oid, changes } => {
                let call = self.c.send_io(Oid(u128::from(oid)), changes);
                self.calls.push((call, false));
            }
            Move::Reply { which, oid, other, seqid, write, kind } => {
                self.reply(which, oid, other, seqid, write, kind);
            }
            Move::Recall { oid, other, truncate, refer } => {
                let cb = CbOp::Recall {
                    oid: Some(Oid(u128::from(oid))),
                    stateid: stateid(oid, other, 0),
                    truncate,
                };
                let all = [triple(0), triple(1), triple(2)];
                self.c.callback(cb, if refer { &all } else { &[] });
            }
            Move::RecallAny { keep } => {
                let cb = CbOp::RecallAny { keep: u32::from(keep), mask: 3, beyond: false };
                self.c.callback(cb, &[]);
            }
            Move::Do { which, status } => self.carry_out_one(which, status),
            Move::Sleep { ms } => self.c.sleep(u64::from(ms)),
            Move::Sequence { flags } => self.c.sequence(match flags {
                0 => SeqStatusFlags::RECALLABLE_STATE_REVOKED,
                1 => SeqStatusFlags::ADMIN_STATE_REVOKED,
                2 => SeqStatusFlags::CB_PATH_DOWN,
                _ => SeqStatusFlags::empty(),
            }),
            Move::Restart => self.c.event(ClientEvent::Restarted),
            Move::AllLost => self.c.event(ClientEvent::AllLost),
            Move::Return { oid } => self.c.event(ClientEvent::Return { oid: Oid(u128::from(oid)) }),
            Move::Closed { oid, owner } => self.c.h.closed(Oid(u128::from(oid)), OwnerKey(u64::from(owner))),
        }
        self.c.h.check().unwrap();
        let new = self.c.actions();
        self.todo.extend(new);
    }

    fn ask(&mut self, oid: u8, what: u8, owner: u8, share: u8, end: u8) {
        let (oid, owner) = (Oid(u128::from(oid)), OwnerKey(u64::from(owner)));
        let share = Share {
            read: share & 1 != 0 || share & 2 == 0,
            write: share & 2 != 0,
            deny_read: share & 0b1100 == 0b0100,
            deny_write: share & 0b1100 == 0b1000,
        };
        let end = u64::from(end);
        let lock = lock(owner, end, end + 3, share.write);
        let query = match what {
            0 | 1 => open(oid, owner, share),
            2 => Query::Close { oid, owner, share },
            3 => Query::Write { oid, end, bytes: 1 },
            4 => Query::Truncate { oid, size: end },
            5 => Query::Lock { oid, lock },
            6 => Query::Unlock { oid, owner, start: end, last: end + 1 },
            _ => Query::Read { oid, copy: Copy::Own },
        };
        let served = self.c.local(&query);
        // What the machine says it may serve it holds, with a lease.
        let harmless = matches!(query, Query::Close { .. } | Query::Unlock { .. });
        assert!(!served || harmless || self.c.h.held(oid).is_some());
        if let Query::Write { .. } | Query::Truncate { .. } | Query::Lock { .. } = query {
            assert!(!served || self.c.h.held(oid).unwrap().0 == Kind::Write);
        }
    }

    fn reply(&mut self, which: u8, oid: u8, other: u8, seqid: u8, write: bool, kind: u8) {
        if self.calls.is_empty() {
            return;
        }
        let (call, opens) = self.calls.swap_remove(usize::from(which) % self.calls.len());
        let file = Oid(u128::from(oid));
        let open = Opened { owner: A, share: if write { BOTH } else { READ }, on_server: kind > 1 };
        let stateid = stateid(oid, other, seqid);
        let granted = grant(if write { Kind::Write } else { Kind::Read }, stateid);
        let reply = match kind {
            0 => OwnReply::Failed(Status::BadStateId),
            2 if opens => OwnReply::Opened { oid: file, open: Some(open), grant: None },
            1.. if opens => OwnReply::Opened { oid: file, open: Some(open), grant: Some(granted) },
            3 => OwnReply::Locked { oid: file, lock: lock(A, 0, 4, true) },
            4 => OwnReply::Failed(Status::DelegRevoked),
            _ => OwnReply::Done,
        };
        self.c.reply(call, &reply);
    }

    fn carry_out_one(&mut self, which: u8, status: u8) {
        if self.todo.is_empty() {
            return;
        }
        let action = self.todo.swap_remove(usize::from(which) % self.todo.len());
        let status = match status {
            0 => Status::Delay,
            1 => Status::NoSpc,
            2 => Status::DelegRevoked,
            3 => Status::BadStateId,
            4 => Status::OldStateId,
            _ => Status::Ok,
        };
        self.carry_out(action, status);
    }

    fn carry_out(&mut self, action: ClientAction, status: Status) {
        match action {
            ClientAction::Step { key, .. } => self.c.event(ClientEvent::StepDone { key, status }),
            ClientAction::Test { stateids } => {
                let results = stateids.into_iter().map(|(oid, stateid)| (oid, stateid, status)).collect();
                self.c.event(ClientEvent::Tested { results });
            }
            ClientAction::Free { stateid } => self.c.event(ClientEvent::Freed { stateid }),
            ClientAction::Reclaim { oid, kind, .. } => {
                let fresh = StateId { seqid: 1, other: [100 + u8::try_from(oid.0).unwrap(); 12] };
                let result = if status == Status::Ok { Ok(Some(grant(kind, fresh))) } else { Err(status) };
                self.c.event(ClientEvent::Reclaimed { oid, result });
            }
            ClientAction::Answer { .. }
            | ClientAction::Discard { .. }
            | ClientAction::Forget { .. }
            | ClientAction::Lost { .. }
            | ClientAction::OpenLost { .. }
            | ClientAction::LockLost { .. }
            | ClientAction::Downgraded { .. }
            | ClientAction::ReclaimDone => {}
        }
    }

    /// With a server that answers, all that was asked for ends: nothing is on its way back for ever.
    fn calm_down(&mut self) {
        for (call, _) in core::mem::take(&mut self.calls) {
            self.c.reply(call, &OwnReply::Done);
        }
        self.c.event(ClientEvent::ReturnAll);
        for _ in 0..200 {
            let new = self.c.actions();
            self.todo.extend(new);
            for action in core::mem::take(&mut self.todo) {
                self.carry_out(action, Status::Ok);
            }
            self.c.sleep(1_000);
            if self.c.h.is_empty() && self.c.actions().is_empty() {
                return;
            }
        }
        panic!("still held: {:?}", self.c.h.holders());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_events_keep_the_invariants_and_every_return_ends(script in prop::collection::vec(moves(), 1..120)) {
        let config = Config { holdings: 2, parked: 2, opens: 4, locks: 4, ..Config::default() };
        let mut world = World { c: Client::with(config), calls: Vec::new(), todo: Vec::new() };
        for step in &script {
            world.step(step);
        }
        world.calm_down();
    }
}
