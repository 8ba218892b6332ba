//! The executor: operation by operation, each result encoded as soon as it is there.

use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, Bytes};
use nfs4_deleg::server::Triple;
use nfs4_proto::{
    ArgOp, Call as Compound, OpNum, ReplyHead, ResOp, SequenceArgs, SequenceOk, Served, Status, knows_minor,
    main_op,
};
use nfs4_xdr::rpc::{Accepted, put_accepted};
use nfs4_xdr::{Input, Segments, Writer};
use tracing::Instrument as _;

use super::attached::Attached;
use super::context::Ctx;
use super::print::fingerprint;
use super::rules::{self, Opening};
use crate::core::Core;
use crate::net::{Call, Conn, begin_reply, end_reply};
use crate::ops::{self, Told};
use crate::state::{self, Reply, SlotGuard, Turn};

/// Record mark and the header of an accepted reply: what comes before the result that a slot keeps.
const HEADER: usize = 4 + 24;
/// Room kept for the error of a result that does not fit: number and status, and SETATTR's empty bitmap.
const ERROR_ROOM: usize = 16;
/// Results of calls without a session: small, and bounded.
const SESSIONLESS_REPLY: usize = 8192;

/// Carries out one COMPOUND.
pub(crate) async fn run(core: Arc<Core>, conn: Arc<Conn>, call: Call) -> Option<Segments> {
    let arrived = Instant::now();
    let (body, _) = Input::new(&call.record).split(call.body_at)?;
    let most = usize::try_from(core.limits().operations).unwrap_or(usize::MAX);
    let compound = match Compound::decode(body, most) {
        Ok(compound) => compound,
        Err(error) => {
            tracing::debug!(peer = %conn.peer(), %error, "a COMPOUND that cannot be decoded");
            return message(|w| put_accepted(w, call.xid, Accepted::GarbageArgs));
        }
    };
    let main = main_op(&compound.ops);
    let minor = compound.minorversion;
    let received = call.record.len();
    // The text is made only where somebody reads it.
    let text = tracing::enabled!(tracing::Level::DEBUG).then(|| compound.to_string());
    let span = tracing::debug_span!("compound", main = main.label(), peer = %conn.peer());
    let (reply, status) = answer(&core, &conn, call, compound).instrument(span.clone()).await?;
    let taken = arrived.elapsed();
    if let Some(ops) = text {
        let _entered = span.enter();
        tracing::debug!(%status, us = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX), ops);
    }
    core.metrics.rpc(main, minor, status, taken.as_secs_f64());
    core.metrics.bytes(received, reply.len());
    Some(reply)
}

async fn answer(
    core: &Arc<Core>,
    conn: &Arc<Conn>,
    call: Call,
    compound: Compound,
) -> Option<(Segments, Status)> {
    if !knows_minor(compound.minorversion) {
        return short(&call, &compound, None, Status::MinorVersMismatch);
    }
    match rules::opening(&compound.ops, compound.count) {
        Opening::Empty => match compound.fault_result() {
            Some(result) => error(core, &call, &compound, result.num(), result.status()),
            None => short(&call, &compound, None, Status::Ok),
        },
        Opening::Wrong(num, status) => error(core, &call, &compound, num, status),
        Opening::Alone => Some(execute(core, conn, call, compound, None).await),
        Opening::Sequence => {
            let Some(ArgOp::Sequence(args)) = compound.ops.first() else { return None };
            let args = *args;
            match sequence(core, conn, &call, &compound, &args) {
                Ok(Turn::New(slot)) => Some(execute(core, conn, call, compound, Some((args, slot))).await),
                Ok(Turn::Replay(Reply::Kept(result))) => replay(&call, &result),
                Ok(Turn::Replay(Reply::NotKept(ok))) => not_kept(&call, &compound, &ok),
                Ok(Turn::Wait(result)) => match result.await {
                    Ok(result) => replay(&call, &result),
                    // The first one ended without a reply, or a newer retry took the place (§2.10.6.2).
                    Err(_) => error(core, &call, &compound, OpNum::Sequence, Status::Delay),
                },
                Err(status) => error(core, &call, &compound, OpNum::Sequence, status),
            }
        }
    }
}

fn sequence(
    core: &Core,
    conn: &Conn,
    call: &Call,
    compound: &Compound,
    args: &SequenceArgs,
) -> Result<Turn, Status> {
    let request = state::Sequence {
        session: args.sessionid,
        seqid: args.sequenceid,
        slot: args.slotid,
        highest: args.highest_slotid,
        operations: compound.count,
        bytes: u32::try_from(call.record.len()).unwrap_or(u32::MAX),
        cachethis: args.cachethis,
    };
    core.state.sequence(core.now(), conn.id(), &request, fingerprint(call, &compound.ops))
}

fn sequence_result(ok: &state::SequenceOk) -> ResOp {
    ResOp::Sequence(Ok(SequenceOk {
        sessionid: ok.session,
        sequenceid: ok.seqid,
        slotid: ok.slot,
        highest_slotid: ok.highest,
        target_highest_slotid: ok.target,
        status_flags: nfs4_proto::SeqStatusFlags::from_bits_retain(ok.flags),
    }))
}

fn message(put: impl FnOnce(&mut Writer) -> Result<(), nfs4_xdr::EncodeError>) -> Option<Segments> {
    let mut w = Writer::unlimited();
    let mark = w.later_u32().ok()?;
    put(&mut w).ok()?;
    Some(end_reply(w, mark))
}

/// A reply of one result or none.
fn short(
    call: &Call,
    compound: &Compound,
    result: Option<&ResOp>,
    status: Status,
) -> Option<(Segments, Status)> {
    results(call, compound, result.into_iter(), status)
}

/// A reply whose first operation failed.
fn error(
    core: &Core,
    call: &Call,
    compound: &Compound,
    num: OpNum,
    status: Status,
) -> Option<(Segments, Status)> {
    answered(core, num, status);
    short(call, compound, Some(&ResOp::error(num, status)), status)
}

fn results<'a>(
    call: &Call,
    compound: &Compound,
    list: impl Iterator<Item = &'a ResOp>,
    status: Status,
) -> Option<(Segments, Status)> {
    let reply = message(|w| {
        put_accepted(w, call.xid, Accepted::Success)?;
        let head = ReplyHead::begin(w, &compound.tag)?;
        let mut count = 0;
        for result in list {
            w.put(result)?;
            count += 1;
        }
        head.close(w, status, count);
        Ok(())
    })?;
    Some((reply, status))
}

/// A kept reply, under this call's xid.
fn replay(call: &Call, result: &Bytes) -> Option<(Segments, Status)> {
    let reply = message(|w| {
        put_accepted(w, call.xid, Accepted::Success)?;
        w.put_raw(result)
    })?;
    Some((reply, Status::Ok))
}

/// A retry whose reply was not kept: SEQUENCE's own result, and the error on the second operation (§2.10.6.1.3).
fn not_kept(call: &Call, compound: &Compound, ok: &state::SequenceOk) -> Option<(Segments, Status)> {
    let first = sequence_result(ok);
    // What cannot be carried out at all is answered as it was the first time (§2.10.6.1.3).
    let second = match compound.ops.get(1).map(ArgOp::num) {
        Some(num) if matches!(num.served(), Served::No(_)) => Some(ResOp::error(num, Status::NotSupp)),
        Some(num) => Some(ResOp::error(num, Status::RetryUncachedRep)),
        None => compound.fault_result(),
    };
    match second {
        None => results(call, compound, [&first].into_iter(), Status::Ok),
        Some(second) => results(call, compound, [&first, &second].into_iter(), second.status()),
    }
}

/// Runs the operations and encodes their results.
async fn execute(
    core: &Arc<Core>,
    conn: &Arc<Conn>,
    call: Call,
    compound: Compound,
    slot: Option<(SequenceArgs, SlotGuard)>,
) -> (Segments, Status) {
    let fault = compound.fault_result();
    let Compound { tag, minorversion, ops, .. } = compound;
    let (limit, too_big, keep) = match &slot {
        None => (SESSIONLESS_REPLY, Status::RepTooBig, false),
        Some((args, slot)) => {
            let fore = slot.session().fore();
            let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
            if args.cachethis && fore.maxresponsesize_cached < fore.maxresponsesize {
                // Measured as the whole message is, so that what fits is kept.
                (size(fore.maxresponsesize_cached), Status::RepTooBigToCache, true)
            } else {
                (size(fore.maxresponsesize), Status::RepTooBig, args.cachethis)
            }
        }
    };
    let mut ctx = Ctx::new(core, conn, &call, minorversion);
    // A header that did not fit the limit could not be told either: the limit is one of results.
    let Ok((mut w, mark)) = begin_reply(call.xid) else {
        return (Segments::new(), Status::ServerFault);
    };
    let Ok(head) = ReplyHead::begin(&mut w, &tag) else { return (Segments::new(), Status::ServerFault) };
    let mut status = Status::Ok;
    ctx.too_big = too_big;
    let mut told = 0_u32;
    let mut ops = ops.into_iter();
    if let Some((args, slot)) = &slot {
        ctx.attached = Some(Attached::of(slot));
        if slot.grant_seen() {
            let seq = args.sequenceid.wrapping_sub(1);
            core.grant_seen(slot.client(), Triple { session: args.sessionid, slot: args.slotid, seq });
        }
        // SEQUENCE's own result always fits: sessions with a smaller reply are not made.
        if w.put(&sequence_result(slot.ok())).is_ok() {
            told = 1;
        }
        core.metrics.operation(OpNum::Sequence, Status::Ok);
        ops.next();
    }
    w.set_limit(limit.saturating_add(4).saturating_sub(ERROR_ROOM));
    for op in ops {
        let num = op.num();
        ctx.room = w.room();
        let result = match slot.as_ref().map_or(Ok(()), |_| rules::behind_sequence(&op)) {
            Err(status) => Told::Result(ResOp::error(num, status)),
            Ok(()) if num.worst_reply().is_some_and(|worst| worst > w.room()) => {
                Told::Result(ResOp::error(num, too_big))
            }
            Ok(()) => ops::dispatch(&mut ctx, op).await,
        };
        let before = w.mark();
        status = result.status();
        let fits = result.put(&mut w).is_ok();
        if !fits {
            w.rewind(before);
            status = too_big;
            put_error(&mut w, limit, num, too_big);
        }
        told = told.saturating_add(1);
        answered(core, num, status);
        if status != Status::Ok {
            break;
        }
    }
    if status == Status::Ok
        && let Some(result) = fault
    {
        status = result.status();
        answered(core, result.num(), status);
        put_error(&mut w, limit, result.num(), status);
        told = told.saturating_add(1);
    }
    head.close(&mut w, status, told);
    let reply = end_reply(w, mark);
    if let Some((_, slot)) = slot {
        let mut result = reply.clone();
        result.advance(HEADER);
        slot.finish(core.now(), &result, keep);
    }
    (reply, status)
}

/// Counts an operation's answer. One that is not the operation's to give (§15.2) ends a debug build.
fn answered(core: &Core, num: OpNum, status: Status) {
    core.metrics.operation(num, status);
    debug_assert!(num.may_answer(status), "{} is not to answer {status}", num.name());
}

fn put_error(w: &mut Writer, limit: usize, num: OpNum, status: Status) {
    w.set_limit(limit.saturating_add(4));
    let before = w.mark();
    if w.put(&ResOp::error(num, status)).is_err() {
        // A client that asked for replies of no size gets one that is larger: better than a lie about the count.
        w.rewind(before);
        w.set_limit(usize::MAX);
        let _ = w.put(&ResOp::error(num, status));
    }
}
