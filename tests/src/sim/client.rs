//! A client: [`Holdings`], a cache, and one application that opens, reads, writes and closes.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use nfs4_deleg::client::{
    CallId, CbAnswer, CbKey, CbMask, CbOp, CbSequence, ClientAction, ClientEvent, Config, Copy, Grant,
    Holdings, Kind, Opened, OwnOp, OwnReply, OwnerKey, Query, Serve, SpaceLimit, Step, StepKey, Triple,
    WhyNot,
};
use nfs4_deleg::server::Share;
use nfs4_deleg::{Millis, Now, Oid};
use nfs4_proto::{
    ArgOp, Attr, CbArgOp, CbResOp, CbSequenceOk, CloseArgs, Compound, CompoundRes, DelegreturnArgs,
    FreeStateidArgs, GetattrArgs, GetattrOk, OpenClaim, OpenHow, PutfhArgs, ReadArgs, ResOp, SequenceArgs,
    ShareAccess, ShareDeny, StableHow, StateId, Status, TestStateidArgs, WriteArgs,
};
use nfs4_xdr::List;

use super::oracle::Oracle;
use super::server::Server;
use super::{Rng, server, wire};
use crate::wire::ops;

const SLOTS: usize = 4;
const RESEND: u64 = 150;

/// Why a call was made.
#[derive(Clone, Debug)]
enum Purpose {
    Renew,
    Open { owner: OwnerKey, share: Share },
    Read,
    Write { value: u64 },
    Stat,
    Close { owner: OwnerKey },
    Step { key: StepKey, step: Step, stateid: StateId },
    Test { stateids: Vec<(Oid, StateId)> },
    Free { stateid: StateId },
}

#[derive(Clone, Debug)]
struct Flight {
    purpose: Purpose,
    file: usize,
    call: CallId,
    bytes: Bytes,
    /// First sent then: a lease counts from here.
    sent: u64,
    again: u64,
}

#[derive(Debug, Default)]
struct Slot {
    seq: u32,
    flight: Option<Flight>,
}

/// What the application has open.
#[derive(Clone, Copy, Debug)]
struct App {
    file: usize,
    owner: OwnerKey,
    share: Share,
    left: u32,
    open: bool,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) key: u64,
    h: Holdings,
    lease: u64,
    cache: BTreeMap<usize, (u64, Copy)>,
    slots: Vec<Slot>,
    waiting: VecDeque<(usize, Purpose)>,
    opens: BTreeMap<OwnerKey, StateId>,
    parked: BTreeMap<CbKey, nfs4_proto::CbSequenceArgs>,
    app: Option<App>,
    /// The application waits for a call, since then.
    busy: Option<u64>,
    app_at: u64,
    began: u64,
    renewed: u64,
    next: u64,
    pub(super) finished: u64,
    pub(super) alive: bool,
    pub(super) outbox: Vec<Bytes>,
    pub(super) cb_outbox: Vec<Bytes>,
}

fn oid(file: usize) -> Oid {
    Oid(file as u128)
}

fn file_of(oid: Oid) -> usize {
    usize::try_from(oid.0).expect("small")
}

impl Client {
    pub(super) fn new(now: u64, key: u64, lease: u64) -> Self {
        let config = Config {
            lease: Millis(lease),
            margin: Millis(lease / 20),
            idle: Millis(lease / 2),
            round_trip: Millis(20),
            retry: Millis(20),
            retest: Millis(lease / 8),
            holdings: 4,
            ..Config::default()
        };
        Self {
            key,
            h: Holdings::new(config),
            lease,
            cache: BTreeMap::new(),
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            waiting: VecDeque::new(),
            opens: BTreeMap::new(),
            parked: BTreeMap::new(),
            app: None,
            busy: None,
            app_at: now,
            began: now,
            renewed: 0,
            next: key << 32,
            finished: 0,
            alive: true,
            outbox: Vec::new(),
            cb_outbox: Vec::new(),
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn ask(&mut self, file: usize, purpose: Purpose) {
        self.waiting.push_back((file, purpose));
    }

    /// Sends what waits for a slot.
    fn send(&mut self, now: u64) {
        while let Some(slot) = self.slots.iter().position(|s| s.flight.is_none()) {
            let Some((file, purpose)) = self.waiting.pop_front() else { return };
            let call = CallId(self.number());
            let seq = self.slots[slot].seq + 1;
            let slotid = u32::try_from(slot).expect("few");
            let triple = Triple { session: wire::session(self.key), slot: slotid, seq };
            let Some(list) = self.ops(now, file, &purpose, call, triple) else { continue };
            let first = ArgOp::Sequence(SequenceArgs {
                sessionid: triple.session,
                sequenceid: seq,
                slotid,
                highest_slotid: 3,
                cachethis: true,
            });
            let mut all = vec![first, ArgOp::Putfh(PutfhArgs { object: wire::fh(file) })];
            all.extend(list);
            let bytes = wire::encode(&Compound::new(1, all).expect("few"));
            self.outbox.push(bytes.clone());
            self.slots[slot].seq = seq;
            self.slots[slot].flight =
                Some(Flight { purpose, file, call, bytes, sent: now, again: now + RESEND });
        }
    }

    /// The operations of a call; `None` where there is nothing to be done any more.
    fn ops(
        &mut self,
        now: u64,
        file: usize,
        purpose: &Purpose,
        call: CallId,
        triple: Triple,
    ) -> Option<Vec<ArgOp>> {
        let at = Now::from_millis(now);
        let getattr = ArgOp::Getattr(GetattrArgs { attr_request: wire::change_and_size() });
        let mut own = None;
        let list = match purpose {
            Purpose::Renew => vec![],
            Purpose::Open { owner, share } => {
                own = Some(OwnOp::Open { oid: Some(oid(file)), triple });
                vec![open(*owner, *share, OpenClaim::Fh), getattr]
            }
            Purpose::Read => {
                let (stateid, delegated) = self.stateid(file, false)?;
                own = Some(OwnOp::Io { oid: oid(file), delegated, changes: false });
                vec![ArgOp::Read(ReadArgs { stateid, offset: 0, count: 8 })]
            }
            Purpose::Write { value } => {
                let (stateid, delegated) = self.stateid(file, true)?;
                own = Some(OwnOp::Io { oid: oid(file), delegated, changes: true });
                vec![write(stateid, *value)]
            }
            Purpose::Stat => vec![getattr],
            Purpose::Close { owner } => {
                let open_stateid = self.opens.remove(owner)?;
                vec![ArgOp::Close(CloseArgs { seqid: 0, open_stateid })]
            }
            Purpose::Step { step, stateid, key } => match step {
                Step::Flush => vec![write(*stateid, self.cache.get(&file).map_or(0, |c| c.0))],
                Step::Open(opened) => vec![open(opened.owner, opened.share, OpenClaim::DelegCurFh(*stateid))],
                Step::DelegReturn => vec![ArgOp::Delegreturn(DelegreturnArgs { deleg_stateid: *stateid })],
                Step::Close { owner } => {
                    let Some(open_stateid) = self.opens.remove(owner) else {
                        self.h.handle_event(at, ClientEvent::StepDone { key: *key, status: Status::Ok });
                        return None;
                    };
                    vec![ArgOp::Close(CloseArgs { seqid: 0, open_stateid })]
                }
                Step::Truncate { .. } | Step::Lock(_) | Step::Times { .. } | Step::Downgrade { .. } => {
                    panic!("not played: {step:?}")
                }
            },
            Purpose::Test { stateids } => {
                let stateids = List::new(stateids.iter().map(|s| s.1).collect::<Vec<_>>()).expect("few");
                vec![ArgOp::TestStateid(TestStateidArgs { stateids })]
            }
            Purpose::Free { stateid } => vec![ArgOp::FreeStateid(FreeStateidArgs { stateid: *stateid })],
        };
        if let Some(own) = own {
            self.h.sending(at, call, &own);
        }
        Some(list)
    }

    /// The stateid to read or write with: the delegation's, else the open's.
    fn stateid(&mut self, file: usize, write: bool) -> Option<(StateId, bool)> {
        if let Some(stateid) = self.h.stateid(oid(file), write) {
            return Some((stateid, true));
        }
        let open = self.app.and_then(|app| self.opens.get(&app.owner).copied());
        if open.is_none() {
            // Nothing stands for this open any more.
            self.busy = None;
        }
        open.map(|stateid| (stateid, false))
    }

    pub(super) fn receive(&mut self, now: u64, bytes: &Bytes, oracle: &mut Oracle) {
        let at = Now::from_millis(now);
        let reply: CompoundRes = wire::decode(bytes);
        let mut results = reply.ops.into_iter();
        let sequence = match results.next() {
            Some(ResOp::Sequence(Ok(sequence))) => sequence,
            Some(ResOp::Sequence(Err(_))) => {
                self.alive = false;
                return;
            }
            other => panic!("no SEQUENCE: {other:?}"),
        };
        if wire::client_of(&sequence.sessionid) != self.key {
            return;
        }
        let slot = &mut self.slots[sequence.slotid as usize];
        if slot.seq != sequence.sequenceid {
            return;
        }
        let Some(flight) = slot.flight.take() else { return };
        let sent = Now::from_millis(flight.sent);
        self.renewed = self.renewed.max(flight.sent);
        let result = results.nth(1);
        let after = results.next();
        self.done(now, flight, result, after.as_ref(), oracle);
        self.h.handle_event(at, ClientEvent::Sequence { sent, flags: sequence.status_flags });
    }

    fn done(
        &mut self,
        now: u64,
        flight: Flight,
        result: Option<ResOp>,
        after: Option<&ResOp>,
        oracle: &mut Oracle,
    ) {
        let at = Now::from_millis(now);
        let (file, call) = (flight.file, flight.call);
        let status = result.as_ref().map_or(Status::Ok, ResOp::status);
        match flight.purpose {
            // Nobody waits for these.
            Purpose::Renew | Purpose::Close { .. } => {}
            Purpose::Open { owner, share } => {
                let Some(ResOp::Open(Ok(opened))) = result else {
                    self.h.replied(at, call, &OwnReply::Failed(status));
                    self.app_later(now, 30);
                    return;
                };
                let change = match after {
                    Some(ResOp::Getattr(Ok(GetattrOk { obj_attributes }))) => {
                        server::change_of(obj_attributes)
                    }
                    // Another writer is asked for attributes only where no delegation came.
                    _ => 0,
                };
                self.opens.insert(owner, opened.stateid);
                let grant = wire::granted(&opened.delegation).map(|(stateid, kind)| Grant {
                    stateid,
                    kind,
                    times: false,
                    recall: false,
                    limit: SpaceLimit::Size(u64::MAX),
                    ace: None,
                    change,
                    size: 8,
                });
                let open = Some(Opened { owner, share, on_server: true });
                self.h.replied(at, call, &OwnReply::Opened { oid: oid(file), open, grant });
                if let Some(app) = &mut self.app {
                    app.open = true;
                }
                self.app_later(now, 1);
            }
            Purpose::Read => {
                if let Some(ResOp::Read(Ok(read))) = result {
                    let value = wire::read_value(read.data);
                    oracle.read(flight.sent, now, file, value);
                    self.cache.insert(file, (value, Copy::Sent(Now::from_millis(flight.sent))));
                    self.h.replied(at, call, &OwnReply::Done);
                } else {
                    self.h.replied(at, call, &OwnReply::Failed(status));
                }
                self.app_later(now, 2);
            }
            Purpose::Write { value } => {
                if status == Status::Ok {
                    self.cache.insert(file, (value, Copy::Sent(Now::from_millis(flight.sent))));
                    self.h.replied(at, call, &OwnReply::Done);
                } else {
                    self.h.replied(at, call, &OwnReply::Failed(status));
                }
                self.app_later(now, 2);
            }
            Purpose::Stat => self.app_later(now, 2),
            Purpose::Step { key, step, .. } => {
                if let (Step::Open(opened), Some(ResOp::Open(Ok(ok)))) = (step, &result) {
                    self.opens.insert(opened.owner, ok.stateid);
                }
                self.h.handle_event(at, ClientEvent::StepDone { key, status });
            }
            Purpose::Test { stateids } => {
                let Some(ResOp::TestStateid(Ok(tested))) = result else { panic!("{result:?}") };
                let results =
                    stateids.iter().zip(tested.status_codes.iter()).map(|((o, s), status)| (*o, *s, *status));
                self.h.handle_event(at, ClientEvent::Tested { results: results.collect() });
            }
            Purpose::Free { stateid } => self.h.handle_event(at, ClientEvent::Freed { stateid }),
        }
    }

    fn app_later(&mut self, now: u64, ms: u64) {
        self.busy = None;
        self.app_at = now + ms;
    }

    pub(super) fn callback(&mut self, now: u64, bytes: &Bytes) {
        let mut call = wire::cb_call(bytes).ops.into_iter();
        let Some(CbArgOp::Sequence(sequence)) = call.next() else { panic!("no CB_SEQUENCE") };
        if wire::client_of(&sequence.sessionid) != self.key {
            return;
        }
        let mut referring = Vec::new();
        for list in &sequence.referring_call_lists {
            for c in &list.referring_calls {
                referring.push(Triple { session: list.sessionid, slot: c.slotid, seq: c.sequenceid });
            }
        }
        let op = match call.next() {
            Some(CbArgOp::Recall(args)) => {
                let oid = Some(oid(wire::file_of(&args.fh)));
                CbOp::Recall { oid, stateid: args.stateid, truncate: args.truncate }
            }
            Some(CbArgOp::Getattr(args)) => {
                let (change, size) =
                    (args.attr_request.contains(Attr::Change), args.attr_request.contains(Attr::Size));
                let mask = CbMask { change, size, ..CbMask::default() };
                CbOp::GetAttr { oid: Some(oid(wire::file_of(&args.fh))), mask }
            }
            other => panic!("not played: {other:?}"),
        };
        let seq = CbSequence { referring: &referring };
        match self.h.callback(Now::from_millis(now), &op, &seq) {
            CbAnswer::Later(key) => {
                self.parked.insert(key, sequence);
            }
            answer @ (CbAnswer::Status(_) | CbAnswer::Attrs(_)) => self.answer(&sequence, answer),
        }
    }

    fn answer(&mut self, sequence: &nfs4_proto::CbSequenceArgs, answer: CbAnswer) {
        let first = CbResOp::Sequence(Ok(CbSequenceOk {
            sessionid: sequence.sessionid,
            sequenceid: sequence.sequenceid,
            slotid: sequence.slotid,
            highest_slotid: sequence.highest_slotid,
            target_highest_slotid: sequence.highest_slotid,
        }));
        let second = match answer {
            CbAnswer::Status(Status::Ok) => CbResOp::Recall(Ok(())),
            CbAnswer::Status(status) => CbResOp::Recall(Err(status)),
            CbAnswer::Attrs(got) => CbResOp::Getattr(Ok(GetattrOk {
                obj_attributes: wire::attrs(got.change.unwrap_or(0), got.size.unwrap_or(0)),
            })),
            CbAnswer::Later(_) => panic!("answered twice later"),
        };
        self.cb_outbox.push(wire::cb_reply(vec![first, second]));
    }

    pub(super) fn tick(
        &mut self,
        now: u64,
        rng: &mut Rng,
        server: &Server,
        oracle: &mut Oracle,
        files: usize,
    ) {
        let at = Now::from_millis(now);
        self.h.handle_timeout(at);
        self.actions(now);
        for slot in &mut self.slots {
            if let Some(flight) = &mut slot.flight
                && flight.again <= now
            {
                flight.again = now + RESEND;
                self.outbox.push(flight.bytes.clone());
            }
        }
        let renewing =
            self.slots.iter().any(|s| matches!(&s.flight, Some(f) if matches!(f.purpose, Purpose::Renew)));
        let queued = self.waiting.iter().any(|(_, p)| matches!(p, Purpose::Renew));
        if self.renewed + self.lease / 4 < now && !renewing && !queued {
            self.waiting.push_front((0, Purpose::Renew));
        }
        if self.busy.is_none() && self.app_at <= now {
            self.run_app(now, rng, server, oracle, files);
        }
        self.actions(now);
        self.send(now);
        self.h.check().unwrap();
        if let Some(since) = self.busy {
            assert!(since + 8 * self.lease > now, "client {} waits since {since}: {:?}", self.key, self.app);
        }
        assert!(
            self.began + 20 * self.lease > now,
            "client {} gets nowhere: {:?} {:?}",
            self.key,
            self.app,
            self.h
        );
    }

    fn actions(&mut self, now: u64) {
        while let Some(action) = self.h.poll_action() {
            match action {
                ClientAction::Step { key, oid, stateid, step } => {
                    self.ask(file_of(oid), Purpose::Step { key, step, stateid });
                }
                ClientAction::Answer { key, answer } => {
                    if let Some(sequence) = self.parked.remove(&key) {
                        self.answer(&sequence, answer);
                    }
                }
                // What was written under it is like anything else that is cached, now.
                ClientAction::Forget { oid } | ClientAction::Discard { oid } => {
                    self.cache.remove(&file_of(oid));
                }
                ClientAction::Lost { oid, .. } => {
                    let file = file_of(oid);
                    self.cache.remove(&file);
                    if let Some(app) = self.app.filter(|app| app.file == file && app.open) {
                        self.drop_app(now, app);
                    }
                }
                ClientAction::OpenLost { oid, open, .. } => {
                    if let Some(app) = self.app.filter(|a| a.file == file_of(oid) && a.owner == open.owner) {
                        self.drop_app(now, app);
                    }
                }
                ClientAction::Test { stateids } => self.ask(0, Purpose::Test { stateids }),
                ClientAction::Free { stateid } => self.ask(0, Purpose::Free { stateid }),
                ClientAction::LockLost { .. }
                | ClientAction::Downgraded { .. }
                | ClientAction::Reclaim { .. }
                | ClientAction::ReclaimDone => panic!("not played: {action:?}"),
            }
        }
    }

    /// The application's open failed under it.
    fn drop_app(&mut self, now: u64, app: App) {
        self.h.closed(oid(app.file), app.owner);
        if self.opens.contains_key(&app.owner) {
            self.ask(app.file, Purpose::Close { owner: app.owner });
        }
        self.app = None;
        self.app_later(now, 5);
    }

    fn run_app(&mut self, now: u64, rng: &mut Rng, server: &Server, oracle: &mut Oracle, files: usize) {
        let at = Now::from_millis(now);
        self.app_at = now + 1 + rng.below(30);
        let Some(app) = self.app else {
            let write = rng.below(3) == 0;
            let share = Share { read: true, write, ..Share::default() };
            let file = usize::try_from(rng.below(files as u64)).expect("small");
            let (owner, left) = (OwnerKey(self.number()), 1 + u32::try_from(rng.below(6)).expect("small"));
            self.app = Some(App { file, owner, share, left, open: false });
            self.began = now;
            return;
        };
        if !app.open {
            let query = Query::Open {
                oid: oid(app.file),
                owner: app.owner,
                share: app.share,
                who: "",
                allowed: true,
                create: false,
                truncate: false,
            };
            match self.h.may_serve(at, &query) {
                Serve::Local(_) => self.app = Some(App { open: true, ..app }),
                Serve::Ask(_) => {
                    self.ask(app.file, Purpose::Open { owner: app.owner, share: app.share });
                    self.busy = Some(now);
                }
                Serve::Denied => panic!("nobody denies"),
            }
            return;
        }
        if app.left == 0 {
            let close = Query::Close { oid: oid(app.file), owner: app.owner, share: app.share };
            if let Serve::Ask(_) = self.h.may_serve(at, &close) {
                self.ask(app.file, Purpose::Close { owner: app.owner });
            }
            self.finished += 1;
            self.app = None;
            return;
        }
        self.app = Some(App { left: app.left - 1, ..app });
        match rng.below(if app.share.write { 4 } else { 3 }) {
            0 | 1 => {
                let (value, copy) = self.cache.get(&app.file).copied().unwrap_or((0, Copy::None));
                match self.h.may_serve(at, &Query::Read { oid: oid(app.file), copy }) {
                    Serve::Local(_) => {
                        let holds = server.holds(self.key, app.file).is_some();
                        oracle.served(now, self.key, app.file, value, holds);
                    }
                    // Perhaps there is something that the server does not have: a moment later.
                    Serve::Ask(WhyNot::Lease | WhyNot::Doubt) => self.app = Some(app),
                    Serve::Ask(_) => {
                        self.ask(app.file, Purpose::Read);
                        self.busy = Some(now);
                    }
                    Serve::Denied => panic!("nobody denies"),
                }
            }
            2 => {
                self.ask(app.file, Purpose::Stat);
                self.busy = Some(now);
            }
            _ => self.write(now, app, server, oracle),
        }
    }

    fn write(&mut self, now: u64, app: App, server: &Server, oracle: &mut Oracle) {
        let value = self.number();
        let query = Query::Write { oid: oid(app.file), end: 8, bytes: 8 };
        match self.h.may_serve(Now::from_millis(now), &query) {
            Serve::Local(_) => {
                self.cache.insert(app.file, (value, Copy::Own));
                // Where it was taken meanwhile, and that is not known here yet, the data will be lost, and it is right so.
                if server.holds(self.key, app.file) == Some(to_model(Kind::Write)) {
                    oracle.wrote(now, app.file, value);
                } else {
                    oracle.wrote_in_vain(self.key, app.file, value);
                }
            }
            Serve::Ask(WhyNot::NoDelegation | WhyNot::ReadOnly) => {
                self.ask(app.file, Purpose::Write { value });
                self.busy = Some(now);
            }
            // On its way back, or in doubt: a moment later.
            Serve::Ask(_) => self.app = Some(app),
            Serve::Denied => panic!("nobody denies"),
        }
    }
}

fn to_model(kind: Kind) -> nfs4_deleg::model::Kind {
    match kind {
        Kind::Read => nfs4_deleg::model::Kind::Read,
        Kind::Write => nfs4_deleg::model::Kind::Write,
    }
}

fn open(owner: OwnerKey, share: Share, claim: OpenClaim) -> ArgOp {
    let mut access = ShareAccess::READ;
    access.set(ShareAccess::WRITE, share.write);
    ops::open(&owner.0.to_string(), access, ShareDeny::empty(), OpenHow::NoCreate, claim)
}

fn write(stateid: StateId, value: u64) -> ArgOp {
    ArgOp::Write(WriteArgs { stateid, offset: 0, stable: StableHow::FileSync, data: wire::data(value) })
}
