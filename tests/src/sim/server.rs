//! A server: the delegation machine, files of eight bytes, and a reply cache.

#![allow(clippy::wildcard_enum_match_arm, reason = "few of all operations are played; any other is a panic")]

use std::collections::BTreeMap;

use bytes::Bytes;
use nfs4_deleg::model::{Admit, AttrsFrom, Call, Cause, CbOutcome, Claim, Kind, Out, Sid, Want, Wanted};
use nfs4_deleg::server::{Intent, Party, Share};
use nfs4_deleg::{ClientKey, Now, Oid};
use nfs4_proto::{
    Ace, AceFlags, AceMask, AceType, ArgOp, Attr, CbArgOp, CbCompound, CbCompoundRes, CbGetattrArgs,
    CbRecallArgs, CbResOp, CbSequenceArgs, ChangeInfo, GetattrOk, OpenArgs, OpenClaim, OpenDelegation,
    OpenOk, OpenResultFlags, Owner, ReadDelegation, ReadOk, ResOp, SequenceOk, ShareAccess, SpaceLimit,
    StableHow, StateId, Status, TestStateidOk, WriteDelegation, WriteOk,
};
use nfs4_xdr::List;

use super::machine::Machine;
use super::oracle::Oracle;
use super::wire;

const OPEN: u8 = 1;
const DELEG: u8 = 2;

#[derive(Clone, Copy, Debug, Default)]
struct File {
    value: u64,
    change: u64,
}

#[derive(Debug, Default)]
struct Session {
    slots: BTreeMap<u32, (u32, Option<Bytes>)>,
    last: u64,
    expired: bool,
}

/// A COMPOUND on its way.
#[derive(Debug)]
struct Job {
    client: u64,
    slot: u32,
    seq: u32,
    ops: Vec<ArgOp>,
    results: Vec<ResOp>,
    file: usize,
    /// It waited under this number.
    turn: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Callback {
    client: u64,
    file: usize,
    /// The delegation recalled; `None` for CB_GETATTR.
    recall: Option<u64>,
    sent: u64,
}

#[allow(clippy::large_enum_variant, reason = "it lives for a moment")]
enum Done {
    Yes(ResOp),
    Wait(u64),
}

#[derive(Debug)]
pub(super) struct Server {
    machine: Machine,
    lease: u64,
    files: BTreeMap<usize, File>,
    sessions: BTreeMap<u64, Session>,
    opens: BTreeMap<u64, (u64, usize, Share)>,
    parked: BTreeMap<u64, Job>,
    callbacks: BTreeMap<u32, Callback>,
    next: u64,
    /// Messages to be sent: to whom, whether a callback, bytes.
    pub(super) outbox: Vec<(u64, bool, Bytes)>,
}

fn id(kind: u8, number: u64, seqid: u32) -> StateId {
    let mut other = [0; 12];
    other[0] = kind;
    other[4..].copy_from_slice(&number.to_be_bytes());
    StateId { seqid, other }
}

fn number(stateid: StateId) -> u64 {
    u64::from_be_bytes(stateid.other[4..].try_into().expect("eight bytes"))
}

fn oid(file: usize) -> Oid {
    Oid(file as u128)
}

impl Server {
    pub(super) fn new(lease: u64) -> Self {
        Self {
            machine: Machine::new(lease),
            lease,
            files: BTreeMap::new(),
            sessions: BTreeMap::new(),
            opens: BTreeMap::new(),
            parked: BTreeMap::new(),
            callbacks: BTreeMap::new(),
            next: 0,
            outbox: Vec::new(),
        }
    }

    pub(super) fn welcome(&mut self, now: u64, client: u64) {
        self.sessions.insert(client, Session { last: now, ..Session::default() });
        self.machine.client(ClientKey(client));
    }

    pub(super) fn holds(&self, client: u64, file: usize) -> Option<Kind> {
        let mut all = self.machine.all().into_iter();
        all.find(|d| d.client == ClientKey(client) && d.oid == oid(file) && d.lives).map(|d| d.kind)
    }

    pub(super) fn receive(&mut self, now: u64, bytes: &Bytes, oracle: &mut Oracle) {
        let call = wire::call(bytes);
        let Some(ArgOp::Sequence(sequence)) = call.ops.first() else { panic!("no SEQUENCE") };
        let client = wire::client_of(&sequence.sessionid);
        let Some(session) = self.sessions.get_mut(&client) else {
            let error = ResOp::Sequence(Err(Status::BadSession));
            self.outbox.push((client, false, wire::reply(vec![error])));
            return;
        };
        let (slot, seq) = (sequence.slotid, sequence.sequenceid);
        let known = session.slots.entry(slot).or_insert((0, None));
        if seq <= known.0 {
            // A retry: the same reply, or none yet. Older ones are duplicates of what was answered.
            if seq == known.0
                && let Some(reply) = &known.1
            {
                self.outbox.push((client, false, reply.clone()));
            }
            return;
        }
        *known = (seq, None);
        session.last = now;
        if std::mem::take(&mut session.expired) {
            self.machine.renewed(ClientKey(client));
        }
        self.machine.reply_seen(ClientKey(client), Call { slot, seq: seq - 1 });
        let flags = self.machine.flags(ClientKey(client));
        let first = ResOp::Sequence(Ok(SequenceOk {
            sessionid: sequence.sessionid,
            sequenceid: seq,
            slotid: slot,
            highest_slotid: 15,
            target_highest_slotid: 15,
            status_flags: flags,
        }));
        oracle.say(now, || format!("client {client} slot {slot}/{seq}: {}", show(&call.ops)));
        let job = Job { client, slot, seq, ops: call.ops, results: vec![first], file: 0, turn: None };
        self.go_on(now, job, oracle);
        self.drain(now, oracle);
    }

    fn go_on(&mut self, now: u64, mut job: Job, oracle: &mut Oracle) {
        while let Some(op) = job.ops.get(job.results.len()).cloned() {
            match self.execute(now, &mut job, &op, oracle) {
                Done::Wait(id) => {
                    self.parked.insert(id, job);
                    return;
                }
                Done::Yes(result) => {
                    let over = result.status() != Status::Ok;
                    job.results.push(result);
                    if over {
                        break;
                    }
                }
            }
        }
        self.answer(job);
    }

    fn answer(&mut self, job: Job) {
        let bytes = wire::reply(job.results);
        if let Some(session) = self.sessions.get_mut(&job.client) {
            session.slots.insert(job.slot, (job.seq, Some(bytes.clone())));
            self.outbox.push((job.client, false, bytes));
        }
    }

    fn admit(&mut self, now: u64, job: &mut Job, intent: &Intent) -> Result<Admit, Status> {
        let (at, party) = (Now::from_millis(now), Party::Client(ClientKey(job.client)));
        let admit = match job.turn.take() {
            Some(turn) => self.machine.admit_again(at, turn),
            None => self.machine.admit(at, party, intent),
        };
        if admit == Admit::Delay { Err(Status::Delay) } else { Ok(admit) }
    }

    fn execute(&mut self, now: u64, job: &mut Job, op: &ArgOp, oracle: &mut Oracle) -> Done {
        let at = Now::from_millis(now);
        let (client, key, file) = (job.client, ClientKey(job.client), job.file);
        match op {
            ArgOp::Putfh(args) => {
                job.file = wire::file_of(&args.object);
                Done::Yes(ResOp::Putfh(Ok(())))
            }
            ArgOp::Open(args) => self.open(now, job, args),
            ArgOp::Read(args) => {
                match self.may(now, job, args.stateid, false, &Intent::Read { oid: oid(file) }) {
                    Err(status) => Done::Yes(ResOp::Read(Err(status))),
                    Ok(Some(wait)) => Done::Wait(wait),
                    Ok(None) => {
                        let value = self.files.entry(file).or_default().value;
                        let data = bytes::Bytes::copy_from_slice(&value.to_be_bytes());
                        Done::Yes(ResOp::Read(Ok(ReadOk { eof: true, data: data.into() })))
                    }
                }
            }
            ArgOp::Write(args) => {
                match self.may(now, job, args.stateid, true, &Intent::Write { oid: oid(file) }) {
                    Err(status) => Done::Yes(ResOp::Write(Err(status))),
                    Ok(Some(wait)) => Done::Wait(wait),
                    Ok(None) => {
                        let value = wire::value_of(args.data.as_ref());
                        // What the holder of a write delegation brings became true when it was written there.
                        if self.holds(client, file) != Some(Kind::Write) {
                            oracle.wrote(now, file, value);
                        }
                        let kept = self.files.entry(file).or_default();
                        kept.value = value;
                        kept.change += 1;
                        Done::Yes(ResOp::Write(Ok(WriteOk {
                            count: 8,
                            committed: StableHow::FileSync,
                            writeverf: [0; 8],
                        })))
                    }
                }
            }
            ArgOp::Getattr(_) => {
                let kept = *self.files.entry(file).or_default();
                let from = match job.turn.take() {
                    Some(turn) => self.machine.attrs_again(turn, kept.change, 8),
                    None => self.machine.attrs_of(at, Party::Client(key), oid(file)),
                };
                let (change, size) = match from {
                    AttrsFrom::Ask(wait) => return Done::Wait(wait),
                    AttrsFrom::Delay => return Done::Yes(ResOp::Getattr(Err(Status::Delay))),
                    AttrsFrom::Backend => (kept.change, 8),
                    AttrsFrom::Overlay(overlay) => (overlay.change, overlay.size),
                };
                // What was told is kept with the file, so that its change never goes below.
                let mine = self.files.entry(file).or_default();
                mine.change = mine.change.max(change);
                oracle.told(file, change);
                let obj_attributes = wire::attrs(change, size);
                Done::Yes(ResOp::Getattr(Ok(GetattrOk { obj_attributes })))
            }
            ArgOp::Close(args) => {
                let Some((_, file, share)) = self.opens.remove(&number(args.open_stateid)) else {
                    return Done::Yes(ResOp::Close(Err(Status::BadStateId)));
                };
                self.machine.closed(key, oid(file), share);
                Done::Yes(ResOp::Close(Ok(StateId::INVALID)))
            }
            ArgOp::Delegreturn(args) => {
                let kind = self.holds(client, file);
                let sid = Sid { other: number(args.deleg_stateid), seqid: args.deleg_stateid.seqid };
                let status = self.machine.give_back(at, key, oid(file), sid);
                if status == Status::Ok && kind == Some(Kind::Write) {
                    oracle.returned(client, file, self.files.entry(file).or_default().value);
                }
                Done::Yes(ResOp::Delegreturn(if status == Status::Ok { Ok(()) } else { Err(status) }))
            }
            ArgOp::TestStateid(args) => {
                let test = |s: &StateId| self.machine.test(key, Sid { other: number(*s), seqid: s.seqid });
                let status_codes =
                    List::new(args.stateids.iter().map(test).collect::<Vec<_>>()).expect("few");
                Done::Yes(ResOp::TestStateid(Ok(TestStateidOk { status_codes })))
            }
            ArgOp::FreeStateid(args) => {
                let status = self.machine.free(key, number(args.stateid));
                Done::Yes(ResOp::FreeStateid(if status == Status::Ok { Ok(()) } else { Err(status) }))
            }
            _ => panic!("not played: {op:?}"),
        }
    }

    fn open(&mut self, now: u64, job: &mut Job, args: &OpenArgs) -> Done {
        let at = Now::from_millis(now);
        let (client, key, file) = (job.client, ClientKey(job.client), job.file);
        let share = Share {
            read: args.share_access.contains(ShareAccess::READ),
            write: args.share_access.contains(ShareAccess::WRITE),
            ..Share::default()
        };
        let claim = match &args.claim {
            OpenClaim::DelegCurFh(stateid) => {
                let sid = Sid { other: number(*stateid), seqid: stateid.seqid };
                let status = self.machine.check(key, sid, oid(file), false);
                if status != Status::Ok {
                    return Done::Yes(ResOp::Open(Err(status)));
                }
                Claim::Current
            }
            _ => Claim::Fresh,
        };
        let id_ = match self.admit(now, job, &Intent::Open { oid: oid(file), share, truncate: false }) {
            Ok(Admit::Go(id)) => id,
            Ok(Admit::Wait(id)) => return Done::Wait(id),
            Ok(Admit::Delay) | Err(_) => return Done::Yes(ResOp::Open(Err(Status::Delay))),
        };
        let change = self.files.entry(file).or_default().change;
        let call = Call { slot: job.slot, seq: job.seq };
        let wanted = Wanted::NoPreference;
        let want = Want { client: key, oid: oid(file), share, wanted, times: false, claim, call, change };
        let grant = if claim == Claim::Fresh { self.machine.grant(at, id_, &want) } else { None };
        self.machine.finish(id_, Some((key, oid(file), share)));
        self.next += 1;
        self.opens.insert(self.next, (client, file, share));
        let permissions = Ace {
            ace_type: AceType::Allowed,
            flag: AceFlags::empty(),
            access_mask: AceMask::empty(),
            who: Owner::new("").expect("short"),
        };
        let delegation = grant.map_or(OpenDelegation::None, |(sid, kind)| {
            let stateid = id(DELEG, sid.other, sid.seqid);
            match kind {
                Kind::Read => OpenDelegation::Read(ReadDelegation { stateid, recall: false, permissions }),
                Kind::Write => OpenDelegation::Write(WriteDelegation {
                    stateid,
                    recall: false,
                    space_limit: SpaceLimit::Size(u64::MAX),
                    permissions,
                }),
            }
        });
        Done::Yes(ResOp::Open(Ok(OpenOk {
            stateid: id(OPEN, self.next, 1),
            cinfo: ChangeInfo { atomic: true, before: 1, after: 1 },
            rflags: OpenResultFlags::empty(),
            attrset: nfs4_proto::AttrSet::new(),
            delegation,
        })))
    }

    /// Whether data may be touched under a stateid: at once, or after a wait.
    fn may(
        &mut self,
        now: u64,
        job: &mut Job,
        stateid: StateId,
        write: bool,
        intent: &Intent,
    ) -> Result<Option<u64>, Status> {
        let status = if stateid.other[0] == DELEG {
            let sid = Sid { other: number(stateid), seqid: stateid.seqid };
            self.machine.check(ClientKey(job.client), sid, oid(job.file), write)
        } else if self.opens.get(&number(stateid)).is_some_and(|o| o.0 == job.client && o.1 == job.file) {
            Status::Ok
        } else {
            Status::BadStateId
        };
        if status != Status::Ok {
            return Err(status);
        }
        match self.admit(now, job, intent)? {
            Admit::Go(id) => {
                self.machine.finish(id, None);
                Ok(None)
            }
            Admit::Wait(id) => Ok(Some(id)),
            Admit::Delay => Err(Status::Delay),
        }
    }

    /// Carries out what the machine wants.
    fn drain(&mut self, now: u64, oracle: &mut Oracle) {
        loop {
            let all = self.machine.take_out();
            if all.is_empty() {
                return;
            }
            for out in all {
                oracle.say(now, || format!("{out:?}"));
                match out {
                    Out::Recall { client, sid, oid, truncate, referring } => {
                        let file = usize::try_from(oid.0).expect("small");
                        let stateid = id(DELEG, sid.other, 0);
                        let op = CbArgOp::Recall(CbRecallArgs { stateid, truncate, fh: wire::fh(file) });
                        self.call_back(now, client.0, file, Some(sid.other), referring, op);
                    }
                    Out::GetAttr { client, oid, referring } => {
                        let file = usize::try_from(oid.0).expect("small");
                        let attr_request = wire::change_and_size();
                        let op = CbArgOp::Getattr(CbGetattrArgs { fh: wire::fh(file), attr_request });
                        self.call_back(now, client.0, file, None, referring, op);
                    }
                    Out::Resume(id) => {
                        if let Some(mut job) = self.parked.remove(&id) {
                            job.turn = Some(id);
                            self.go_on(now, job, oracle);
                        }
                    }
                    Out::GiveUp(id) => {
                        if let Some(mut job) = self.parked.remove(&id) {
                            let op = job.ops.get(job.results.len()).expect("it waited for something");
                            job.results.push(ResOp::error(op.num(), Status::Delay));
                            self.answer(job);
                        }
                    }
                    Out::Revoked { client, other, cause } => {
                        let until = if cause == Cause::Expired { now } else { now + self.lease };
                        let known = self.machine.all().into_iter().find(|d| d.sid.other == other);
                        let file =
                            usize::try_from(known.expect("kept until it is freed").oid.0).expect("small");
                        oracle.took(now, until, client.0, file, self.files.entry(file).or_default().value);
                    }
                }
            }
        }
    }

    fn call_back(
        &mut self,
        now: u64,
        client: u64,
        file: usize,
        recall: Option<u64>,
        referring: Option<Call>,
        op: CbArgOp,
    ) {
        self.next += 1;
        let slotid = u32::try_from(self.next).expect("not that many");
        let calls: Vec<_> = referring.iter().map(|c| (c.slot, c.seq)).collect();
        let first = CbArgOp::Sequence(CbSequenceArgs {
            sessionid: wire::session(client),
            sequenceid: 1,
            slotid,
            highest_slotid: slotid,
            cachethis: false,
            referring_call_lists: List::new(wire::referring(client, &calls)).expect("few"),
        });
        self.callbacks.insert(slotid, Callback { client, file, recall, sent: now });
        let bytes = wire::encode(&CbCompound::new(1, vec![first, op]).expect("two"));
        self.outbox.push((client, true, bytes));
    }

    /// A callback was answered.
    pub(super) fn answered(&mut self, now: u64, bytes: &Bytes, oracle: &mut Oracle) {
        let reply: CbCompoundRes = wire::decode(bytes);
        let mut ops = reply.ops.into_iter();
        let Some(CbResOp::Sequence(Ok(sequence))) = ops.next() else { panic!("no CB_SEQUENCE") };
        let Some(callback) = self.callbacks.remove(&sequence.slotid) else { return };
        oracle.say(now, || format!("{callback:?} answered"));
        match ops.next() {
            Some(CbResOp::Getattr(Ok(got))) => {
                let pair =
                    (got.obj_attributes.change().expect("asked"), got.obj_attributes.size().expect("asked"));
                self.settle(now, callback, CbOutcome::Ok, Some(pair));
            }
            Some(op) => {
                let outcome = match op.status() {
                    Status::Ok => CbOutcome::Ok,
                    Status::BadHandle | Status::BadStateId => CbOutcome::Unknown,
                    _ => CbOutcome::Delay,
                };
                self.settle(now, callback, outcome, None);
            }
            None => panic!("no answer"),
        }
        self.drain(now, oracle);
    }

    fn settle(&mut self, now: u64, callback: Callback, outcome: CbOutcome, attrs: Option<(u64, u64)>) {
        let (at, key) = (Now::from_millis(now), ClientKey(callback.client));
        match callback.recall {
            Some(other) => self.machine.recall_answered(at, other, outcome),
            None => self.machine.attrs_answered(at, key, oid(callback.file), attrs),
        }
    }

    pub(super) fn tick(&mut self, now: u64, oracle: &mut Oracle) {
        let at = Now::from_millis(now);
        let lost: Vec<u32> =
            self.callbacks.iter().filter(|(_, c)| c.sent + 300 <= now).map(|(s, _)| *s).collect();
        for slot in lost {
            if let Some(callback) = self.callbacks.remove(&slot) {
                self.settle(now, callback, CbOutcome::Lost, None);
            }
        }
        let lease = self.lease;
        let late: Vec<u64> =
            self.sessions.iter().filter(|(_, s)| s.last + lease < now).map(|(c, _)| *c).collect();
        for client in late {
            let session = self.sessions.get_mut(&client).expect("just seen");
            if session.last + 2 * lease < now {
                self.sessions.remove(&client);
                self.forget(now, client, oracle);
            } else if !session.expired {
                session.expired = true;
                self.machine.expired(at, ClientKey(client));
            }
        }
        self.machine.timeout(at);
        self.drain(now, oracle);
    }

    /// A client is gone, with all that it had.
    fn forget(&mut self, now: u64, client: u64, oracle: &mut Oracle) {
        let waits: Vec<u64> =
            self.parked.iter().filter(|(_, j)| j.client == client).map(|(id, _)| *id).collect();
        for id in waits {
            self.parked.remove(&id);
            self.machine.forget_waiter(id);
        }
        for deleg in self.machine.all() {
            if deleg.client == ClientKey(client) && deleg.lives {
                let file = usize::try_from(deleg.oid.0).expect("small");
                oracle.took(now, now, client, file, self.files.entry(file).or_default().value);
            }
        }
        self.opens.retain(|_, open| open.0 != client);
        self.machine.gone(Now::from_millis(now), ClientKey(client));
    }
}

/// `change` of a reply, for those who look.
pub(super) fn change_of(attrs: &nfs4_proto::Attrs) -> u64 {
    debug_assert!(attrs.mask().contains(Attr::Change));
    attrs.change().expect("asked")
}

fn show(ops: &[ArgOp]) -> String {
    ops.iter().skip(1).map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
