//! A measurement.

use std::time::{Duration, Instant};

use bytes::Bytes;
use nfs4_proto::{Attr, AttrSet, Attrs, CreateHow, CreateType, Fh, ResOp, StableHow, StateId};
use serde::Serialize;

use super::Op;
use super::cpu;
use super::wire::Wire;
use crate::compound::{Compound, OpenFor};
use crate::net::decode_reply;

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No connection.
    #[error("cannot connect to {address}: {error}")]
    Connect {
        /// Where to.
        address: String,
        /// Why.
        error: std::io::Error,
    },
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[source] std::io::Error),
    /// The server answered what cannot be measured.
    #[error("{0}")]
    Server(String),
    /// There is no such process.
    #[error("--pid {0}: there is no such process")]
    Pid(u32),
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// `HOST:PORT`.
    pub address: String,
    /// The operation.
    pub op: Op,
    /// Calls under way on each connection.
    pub depth: u32,
    /// Connections.
    pub conns: u32,
    /// How long is counted.
    pub time: Duration,
    /// How long is not counted before.
    pub warmup: Duration,
    /// Bytes of a READ or WRITE.
    pub size: u32,
    /// Directory in which files are made, from the root, parts divided by '/'.
    pub path: String,
    /// The server's process, for its processor time.
    pub pid: Option<u32>,
    /// For connecting and for each answer.
    pub timeout: Duration,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Operation.
    pub op: &'static str,
    /// Calls under way on each connection.
    pub depth: u32,
    /// Connections.
    pub conns: u32,
    /// Seconds counted.
    pub seconds: f64,
    /// Operations in each second.
    pub ops_per_sec: f64,
    /// Half were answered within; microseconds.
    pub p50_us: f64,
    /// Nine in ten.
    pub p90_us: f64,
    /// 99 in a hundred.
    pub p99_us: f64,
    /// The slowest.
    pub max_us: f64,
    /// Data in each second, for READ and WRITE.
    pub mb_per_sec: Option<f64>,
    /// The server's processor time for each RPC, where its process was given.
    pub cpu_us_per_rpc: Option<f64>,
    /// The benchmark's own.
    pub client_cpu_us_per_rpc: f64,
}

const FILE_BYTES: u64 = 64 << 20;
const ENTRIES: usize = 100;
const DIRECTORY: &str = "nfs4-bench";

/// What the measured calls refer to.
struct Stage {
    dir: Fh,
    file: Fh,
    stateid: StateId,
    name: String,
}

fn missing(what: &str) -> BenchError {
    BenchError::Server(format!("the server's reply has no {what}"))
}

fn fh_of(results: &[ResOp]) -> Result<Fh, BenchError> {
    let found = results
        .iter()
        .rev()
        .find_map(|r| if let ResOp::Getfh(Ok(ok)) = r { Some(ok.object.clone()) } else { None });
    found.ok_or_else(|| missing("filehandle"))
}

fn stateid_of(results: &[ResOp]) -> Result<StateId, BenchError> {
    let found =
        results.iter().find_map(|r| if let ResOp::Open(Ok(ok)) = r { Some(ok.stateid) } else { None });
    found.ok_or_else(|| missing("open stateid"))
}

fn mode(mode: u32) -> Attrs {
    let mut attrs = Attrs::new();
    attrs.set_mode(mode);
    attrs
}

fn unchecked() -> CreateHow {
    CreateHow::Unchecked(Box::new(mode(0o644)))
}

/// Makes a directory of this thread's own, with what the operation needs.
fn set_up(wire: &mut Wire, plan: &Plan, thread: u32) -> Result<Stage, BenchError> {
    let mut c = Compound::new();
    c.putrootfh();
    for part in plan.path.split('/').filter(|part| !part.is_empty()) {
        c.lookup(part);
    }
    c.getfh();
    let base = fh_of(&wire.whole(c.into_ops())?)?;
    let name = format!("{DIRECTORY}-{}-{thread}", std::process::id());
    let mut c = Compound::new();
    c.putfh(&base);
    c.create(CreateType::Dir, &name, mode(0o755));
    c.getfh();
    let dir = fh_of(&wire.whole(c.into_ops())?)?;
    let mut stage = Stage { dir, file: base, stateid: StateId::ANONYMOUS, name };
    // What is made is taken down also where the rest fails.
    let made = furnish(wire, plan, &mut stage);
    if made.is_err() {
        take_down(wire, plan, &stage);
    }
    made.map(|()| stage)
}

fn furnish(wire: &mut Wire, plan: &Plan, stage: &mut Stage) -> Result<(), BenchError> {
    match plan.op {
        Op::Null | Op::Sequence | Op::CreateRemove => {}
        Op::Getattr | Op::OpenClose | Op::Read | Op::Write => {
            let mut c = Compound::new();
            c.putfh(&stage.dir);
            c.create_file(b"bench", "file", OpenFor::Both, unchecked());
            c.getfh();
            let results = wire.whole(c.into_ops())?;
            stage.file = fh_of(&results)?;
            stage.stateid = stateid_of(&results)?;
            if matches!(plan.op, Op::Read | Op::Write) {
                let data = Bytes::from(vec![0x5a; 1 << 20]);
                for at in (0..FILE_BYTES).step_by(1 << 20) {
                    let mut c = Compound::new();
                    c.putfh(&stage.file);
                    c.write(stage.stateid, at, StableHow::Unstable, data.clone());
                    wire.whole(c.into_ops())?;
                }
            }
        }
        Op::Readdir => {
            for n in 0..ENTRIES {
                let mut c = Compound::new();
                c.putfh(&stage.dir);
                c.create_file(b"bench", format!("entry-{n:03}"), OpenFor::Write, unchecked());
                c.close(StateId::CURRENT);
                wire.whole(c.into_ops())?;
            }
        }
    }
    Ok(())
}

/// Removes what was made. Failures are not told: the measurement is done.
fn take_down(wire: &mut Wire, plan: &Plan, stage: &Stage) {
    let mut c = Compound::new();
    if stage.stateid != StateId::ANONYMOUS {
        c.putfh(&stage.file);
        c.close(stage.stateid);
        drop(wire.any(std::mem::take(&mut c).into_ops()));
    }
    let mut names = vec!["file".to_owned()];
    names.extend((0..ENTRIES).map(|n| format!("entry-{n:03}")));
    names.extend((0..plan.depth).map(|slot| format!("new-{slot}")));
    for name in names {
        let mut c = Compound::new();
        c.putfh(&stage.dir);
        c.remove(&name);
        drop(wire.any(c.into_ops()));
    }
    let mut c = Compound::new();
    c.putrootfh();
    for part in plan.path.split('/').filter(|part| !part.is_empty()) {
        c.lookup(part);
    }
    c.remove(&stage.name);
    drop(wire.any(c.into_ops()));
}

/// One slot's work: how far the operation at hand is.
struct Lane {
    begun: Instant,
    step: u32,
    stateid: StateId,
}

/// A cheap sequence of numbers for places in the file: always the same, so that runs can be compared.
struct Places(u64);

impl Places {
    fn next(&mut self, size: u32) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let size = u64::from(size.max(1));
        self.0 % (FILE_BYTES / size).max(1) * size
    }
}

struct Thread {
    wire: Wire,
    stage: Stage,
    places: Places,
    data: Bytes,
}

impl Thread {
    fn request(&mut self, plan: &Plan, slot: u32, lane: &Lane) -> Result<(), BenchError> {
        let mut c = Compound::new();
        match (plan.op, lane.step) {
            (Op::Null, _) => return self.wire.put_null(slot),
            (Op::Sequence, _) => {}
            (Op::Getattr, _) => {
                c.putfh(&self.stage.file);
                c.getattr(attributes());
            }
            (Op::OpenClose, 0) => {
                c.putfh(&self.stage.dir);
                c.open(format!("lane-{slot}").as_bytes(), "file", OpenFor::Read);
            }
            (Op::OpenClose, _) => {
                c.putfh(&self.stage.file);
                c.close(lane.stateid);
            }
            (Op::CreateRemove, 0) => {
                c.putfh(&self.stage.dir);
                let name = format!("new-{slot}");
                c.create_file(name.as_bytes(), &name, OpenFor::Write, unchecked());
                c.close(StateId::CURRENT);
            }
            (Op::CreateRemove, _) => {
                c.putfh(&self.stage.dir);
                c.remove(format!("new-{slot}"));
            }
            (Op::Readdir, _) => {
                c.putfh(&self.stage.dir);
                c.readdir(0, [0; 8], 64 << 10, attributes());
            }
            (Op::Read, _) => {
                c.putfh(&self.stage.file);
                c.read(self.stage.stateid, self.places.next(plan.size), plan.size);
            }
            (Op::Write, _) => {
                c.putfh(&self.stage.file);
                c.write(
                    self.stage.stateid,
                    self.places.next(plan.size),
                    StableHow::Unstable,
                    self.data.clone(),
                );
            }
        }
        self.wire.put_compound(slot, c.into_ops())
    }
}

fn attributes() -> AttrSet {
    AttrSet::of(&[
        Attr::Type,
        Attr::Change,
        Attr::Size,
        Attr::Fsid,
        Attr::Fileid,
        Attr::Mode,
        Attr::NumLinks,
        Attr::Owner,
        Attr::OwnerGroup,
        Attr::RawDev,
        Attr::SpaceUsed,
        Attr::TimeAccess,
        Attr::TimeMetadata,
        Attr::TimeModify,
        Attr::MountedOnFileid,
    ])
}

/// Checks a reply: status of RPC and COMPOUND stand at fixed places, as no reply of ours has a verifier.
fn check(record: &Bytes, null: bool) -> Result<(), BenchError> {
    let word =
        |at: usize| record.get(at..at + 4).and_then(|b| b.first_chunk::<4>()).map(|b| u32::from_be_bytes(*b));
    if word(8) == Some(0) && word(16) == Some(0) && word(20) == Some(0) && (null || word(24) == Some(0)) {
        return Ok(());
    }
    let why = match decode_reply(record) {
        Ok(reply) => {
            let failed = reply.ops.last().map_or("COMPOUND", |op| op.num().name());
            format!("{failed} failed: {}", reply.status)
        }
        Err(error) => error.to_string(),
    };
    Err(BenchError::Server(why))
}

struct Counted {
    nanos: Vec<u64>,
    rpcs: u64,
    time: Duration,
}

fn drive(thread: &mut Thread, plan: &Plan) -> Result<Counted, BenchError> {
    let start = Instant::now();
    let count_from = start + plan.warmup;
    let end = count_from + plan.time;
    let mut lanes: Vec<Lane> =
        (0..plan.depth).map(|_| Lane { begun: start, step: 0, stateid: StateId::ANONYMOUS }).collect();
    let mut counted = Counted { nanos: Vec::with_capacity(1 << 20), rpcs: 0, time: Duration::ZERO };
    for (slot, lane) in (0..).zip(&lanes) {
        thread.request(plan, slot, lane)?;
    }
    let mut under_way = plan.depth;
    let two_steps = matches!(plan.op, Op::OpenClose | Op::CreateRemove);
    while under_way > 0 {
        thread.wire.flush()?;
        thread.wire.fill()?;
        let now = Instant::now();
        while let Some((slot, record)) = thread.wire.ready()? {
            check(&record, plan.op == Op::Null)?;
            let Some(lane) = usize::try_from(slot).ok().and_then(|i| lanes.get_mut(i)) else {
                return Err(BenchError::Server(format!("a reply to {slot}, which was not called")));
            };
            let counts = now >= count_from && now < end;
            counted.rpcs += u64::from(counts);
            if two_steps && lane.step == 0 {
                lane.step = 1;
                if plan.op == Op::OpenClose {
                    let reply = decode_reply(&record).map_err(|e| BenchError::Server(e.to_string()))?;
                    lane.stateid = stateid_of(&reply.ops)?;
                }
            } else {
                if counts {
                    let nanos = now.duration_since(lane.begun).as_nanos();
                    counted.nanos.push(u64::try_from(nanos).unwrap_or(u64::MAX));
                }
                lane.step = 0;
                lane.begun = now;
                if now >= end {
                    under_way -= 1;
                    continue;
                }
            }
            thread.request(plan, slot, lane)?;
        }
    }
    counted.time = Instant::now().min(end).duration_since(count_from);
    Ok(counted)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1000.0
}

/// Measures one operation. Blocks as long as it takes.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub fn run(plan: &Plan) -> Result<Report, BenchError> {
    let mut threads = Vec::new();
    for n in 0..plan.conns {
        let mut wire = Wire::connect(&plan.address, plan.depth, plan.timeout)?;
        let stage = set_up(&mut wire, plan, n)?;
        let size = usize::try_from(plan.size).unwrap_or(0);
        let data = Bytes::from(vec![0xa5; if plan.op == Op::Write { size } else { 0 }]);
        threads.push(Thread { wire, stage, places: Places(0x9e37_79b9_7f4a_7c15 + u64::from(n)), data });
    }
    if let Some(pid) = plan.pid
        && cpu::used(Some(pid)).is_none()
    {
        return Err(BenchError::Pid(pid));
    }
    let all_rpcs = std::sync::atomic::AtomicU64::new(0);
    let (server_before, own_before) = (plan.pid.and_then(|pid| cpu::used(Some(pid))), cpu::used(None));
    let results: Vec<Result<Counted, BenchError>> = std::thread::scope(|scope| {
        let running: Vec<_> = threads.iter_mut().map(|thread| scope.spawn(|| drive(thread, plan))).collect();
        running
            .into_iter()
            .map(|thread| {
                thread.join().unwrap_or_else(|_| Err(BenchError::Server("a thread panicked".to_owned())))
            })
            .collect()
    });
    let (server_after, own_after) = (plan.pid.and_then(|pid| cpu::used(Some(pid))), cpu::used(None));
    for thread in &mut threads {
        take_down(&mut thread.wire, plan, &thread.stage);
    }
    let mut nanos = Vec::new();
    let mut time = Duration::ZERO;
    for counted in results {
        let counted = counted?;
        all_rpcs.fetch_add(counted.rpcs, std::sync::atomic::Ordering::Relaxed);
        nanos.extend(counted.nanos);
        time = time.max(counted.time);
    }
    nanos.sort_unstable();
    let percent = |p: usize| {
        let last = nanos.len().saturating_sub(1);
        micros(nanos.get(last * p / 100).copied().unwrap_or(0))
    };
    let seconds = time.as_secs_f64().max(1e-9);
    let rate = nanos.len() as f64 / seconds;
    // The warm-up's calls take processor time too: scale by the whole time of the run.
    let whole = (plan.warmup + plan.time).as_secs_f64() / plan.time.as_secs_f64().max(1e-9);
    let rpcs = all_rpcs.into_inner() as f64 * whole;
    let per_rpc = |before: Option<Duration>, after: Option<Duration>| {
        let used = after?.checked_sub(before?)?;
        (rpcs > 0.0).then(|| used.as_secs_f64() * 1e6 / rpcs)
    };
    Ok(Report {
        op: plan.op.name(),
        depth: plan.depth,
        conns: plan.conns,
        seconds,
        ops_per_sec: rate,
        p50_us: percent(50),
        p90_us: percent(90),
        p99_us: percent(99),
        max_us: percent(100),
        mb_per_sec: matches!(plan.op, Op::Read | Op::Write).then(|| rate * f64::from(plan.size) / 1e6),
        cpu_us_per_rpc: per_rpc(server_before, server_after),
        client_cpu_us_per_rpc: per_rpc(own_before, own_after).unwrap_or(0.0),
    })
}
