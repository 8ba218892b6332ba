//! COMPOUND and CB_COMPOUND. RFC 8881 §16.2, §20.

use alloc::vec::Vec;

use nfs4_xdr::{
    Decode, DecodeError, DecodeKind, Encode, EncodeError, Input, List, Parsed, Step, Writer, xdr_struct,
};

use crate::{
    ArgOp, CbArgOp, CbOpNum, CbResOp, OpNum, ResOp, Status, Utf8Str, unsupported_attr, unsupported_event,
};

/// Most operations that a compound of our own may have.
pub const OPS_LIMIT: usize = 4096;

xdr_struct! {
    /// COMPOUND4args, as a client sends it. A server reads it as a [`Call`]. RFC 8881 §16.2.1.
    pub struct COMPOUND4args as Compound {
        /// Repeated in the reply.
        pub tag: Utf8Str,
        /// The minor version.
        pub minorversion: u32,
        /// What to do, in order, until something fails.
        pub ops: List<ArgOp, OPS_LIMIT>,
    }

    /// COMPOUND4res. RFC 8881 §16.2.2.
    pub struct COMPOUND4res as CompoundRes {
        /// That of the last operation.
        pub status: Status,
        /// As in the request.
        pub tag: Utf8Str,
        /// What was done.
        pub ops: List<ResOp, OPS_LIMIT>,
    }

    /// CB_COMPOUND4args, as a server sends it. A client reads it as a [`CbCall`]. RFC 8881 §20.
    pub struct CB_COMPOUND4args as CbCompound {
        /// Repeated in the reply.
        pub tag: Utf8Str,
        /// The minor version.
        pub minorversion: u32,
        /// 0 in 4.1.
        pub callback_ident: u32,
        /// What to do, in order, until something fails.
        pub ops: List<CbArgOp, OPS_LIMIT>,
    }

    /// CB_COMPOUND4res. RFC 8881 §20.
    pub struct CB_COMPOUND4res as CbCompoundRes {
        /// That of the last operation.
        pub status: Status,
        /// As in the request.
        pub tag: Utf8Str,
        /// What was done.
        pub ops: List<CbResOp, OPS_LIMIT>,
    }
}

/// The operation at which a request stops being readable. What comes before it is run first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<N> {
    /// Its place among the operations.
    pub index: u32,
    /// Its number as it came; the number of ILLEGAL where there was none.
    pub raw: u32,
    /// The operation that is answered: ILLEGAL where the number has no meaning in this minor version.
    pub num: N,
    /// NFS4ERR_BADXDR, NFS4ERR_OP_ILLEGAL; NFS4ERR_ATTRNOTSUPP or NFS4ERR_NOTSUPP where an attribute or an event
    /// has no type here.
    pub status: Status,
    /// What is wrong with the arguments.
    pub error: Option<DecodeError>,
}

/// A COMPOUND as a server reads it: all operations up to the first that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// To be repeated in the reply.
    pub tag: Utf8Str,
    /// The minor version. No operation is decoded of one that is not 1 or 2: NFS4ERR_MINOR_VERS_MISMATCH with an empty
    /// result (RFC 8881 §16.2.3).
    pub minorversion: u32,
    /// Operations as the client counts them. Where it is more than was allowed, `ops` has only as many as were:
    /// NFS4ERR_TOO_MANY_OPS, as SEQUENCE's own result.
    pub count: u32,
    /// The operations.
    pub ops: Vec<ArgOp>,
    /// What comes behind them, if it is not the end.
    pub fault: Option<Fault<OpNum>>,
}

/// A CB_COMPOUND as a client reads it; see [`Call`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CbCall {
    /// To be repeated in the reply.
    pub tag: Utf8Str,
    /// The minor version; see [`Call::minorversion`].
    pub minorversion: u32,
    /// 0 in 4.1.
    pub callback_ident: u32,
    /// Operations as the server counts them; see [`Call::count`].
    pub count: u32,
    /// The operations.
    pub ops: Vec<CbArgOp>,
    /// What comes behind them, if it is not the end.
    pub fault: Option<Fault<CbOpNum>>,
}

/// Whether this crate knows operations of a minor version: 1 and 2.
#[must_use]
pub const fn knows_minor(minorversion: u32) -> bool {
    matches!(minorversion, 1 | 2)
}

/// What both channels' tables have for the decoder.
trait Args: Decode {
    type Num: Copy;
    const ILLEGAL: Self::Num;
    const ILLEGAL_NUMBER: u32;
    /// The operation of a number, if it has one in this minor version.
    fn find(number: u32, minor: u32) -> Option<Self::Num>;
    fn decode_args(num: Self::Num, input: Input<'_>) -> Parsed<'_, Self>;
}

macro_rules! args_of {
    ($arg:ident, $num:ident) => {
        impl Args for $arg {
            type Num = $num;
            const ILLEGAL: $num = $num::Illegal;
            const ILLEGAL_NUMBER: u32 = 10044;

            fn find(number: u32, minor: u32) -> Option<$num> {
                $num::from_number(number).filter(|num| *num != $num::Illegal && num.minor() <= minor)
            }

            fn decode_args(num: $num, input: Input<'_>) -> Parsed<'_, Self> {
                $arg::decode_args(num, input)
            }
        }
    };
}
args_of!(ArgOp, OpNum);
args_of!(CbArgOp, CbOpNum);

struct Array<A: Args> {
    count: u32,
    ops: Vec<A>,
    fault: Option<Fault<A::Num>>,
}

fn cause(e: nom::Err<DecodeError>) -> Option<DecodeError> {
    match e {
        nom::Err::Error(e) | nom::Err::Failure(e) => Some(e),
        // Complete parsers never ask for more.
        nom::Err::Incomplete(_) => None,
    }
}

/// What arguments that cannot be decoded are answered with.
fn fault_status(error: &DecodeError) -> Status {
    if unsupported_attr(error).is_some() {
        // Well-formed, and not supported (RFC 8881 §18.30.3).
        Status::AttrNotSupp
    } else if unsupported_event(error).is_some() {
        Status::NotSupp
    } else {
        Status::BadXdr
    }
}

/// Decodes the array of operations, which is the end of the record. At most `max` of them are decoded; memory grows
/// with what was decoded, never with the count.
fn decode_array<A: Args>(
    input: Input<'_>,
    minor: u32,
    max: usize,
) -> Result<Array<A>, nom::Err<DecodeError>> {
    let (mut rest, count) = u32::decode(input)?;
    let mut array = Array { count, ops: Vec::new(), fault: None };
    if !knows_minor(minor) {
        return Ok(array);
    }
    let wanted = usize::try_from(count).unwrap_or(usize::MAX).min(max);
    array.ops.reserve(wanted.min(16).min(rest.remaining() / 4));
    for index in 0..count {
        if array.ops.len() >= max {
            return Ok(array);
        }
        let (after, raw) = match u32::decode(rest) {
            Ok(parsed) => parsed,
            Err(e) => {
                array.fault = Some(Fault {
                    index,
                    raw: A::ILLEGAL_NUMBER,
                    num: A::ILLEGAL,
                    status: Status::BadXdr,
                    error: cause(e),
                });
                return Ok(array);
            }
        };
        let Some(num) = A::find(raw, minor) else {
            array.fault = Some(Fault { index, raw, num: A::ILLEGAL, status: Status::OpIllegal, error: None });
            return Ok(array);
        };
        match A::decode_args(num, after) {
            Ok((next, op)) => {
                array.ops.push(op);
                rest = next;
            }
            Err(e) => {
                let error = cause(e).map(|e| e.within(Step::Index(index)));
                let status = error.as_ref().map_or(Status::BadXdr, fault_status);
                array.fault = Some(Fault { index, raw, num, status, error });
                return Ok(array);
            }
        }
    }
    match rest.remaining() {
        0 => Ok(array),
        n => Err(DecodeError::fail(rest, DecodeKind::Trailing(n))),
    }
}

fn plain(e: nom::Err<DecodeError>, input: Input<'_>) -> DecodeError {
    cause(e).unwrap_or_else(|| DecodeError::new(input, DecodeKind::Short { need: 1, left: 0 }))
}

impl Call {
    /// Decodes the rest of a record as COMPOUND's arguments, with at most `max_ops` operations. An error means that
    /// not even the head can be read, or that bytes follow the last operation: GARBAGE_ARGS. Whatever is wrong with
    /// an operation is told in [`fault`](Self::fault).
    pub fn decode(input: Input<'_>, max_ops: usize) -> Result<Self, DecodeError> {
        let parse = || {
            let (rest, tag) = Utf8Str::decode(input)?;
            let (rest, minorversion) = u32::decode(rest)?;
            let Array { count, ops, fault } = decode_array(rest, minorversion, max_ops)?;
            Ok(Self { tag, minorversion, count, ops, fault })
        };
        parse().map_err(|e| plain(e, input))
    }

    /// The result of the operation that could not be read.
    #[must_use]
    pub fn fault_result(&self) -> Option<ResOp> {
        self.fault.as_ref().map(|fault| ResOp::error(fault.num, fault.status))
    }
}

impl CbCall {
    /// Decodes the rest of a record as CB_COMPOUND's arguments; see [`Call::decode`].
    pub fn decode(input: Input<'_>, max_ops: usize) -> Result<Self, DecodeError> {
        let parse = || {
            let (rest, tag) = Utf8Str::decode(input)?;
            let (rest, minorversion) = u32::decode(rest)?;
            let (rest, callback_ident) = u32::decode(rest)?;
            let Array { count, ops, fault } = decode_array(rest, minorversion, max_ops)?;
            Ok(Self { tag, minorversion, callback_ident, count, ops, fault })
        };
        parse().map_err(|e| plain(e, input))
    }

    /// The result of the callback that could not be read.
    #[must_use]
    pub fn fault_result(&self) -> Option<CbResOp> {
        self.fault.as_ref().map(|fault| CbResOp::error(fault.num, fault.status))
    }
}

impl Compound {
    /// A compound of operations, without a tag. `None` where there are more than [`OPS_LIMIT`].
    #[must_use]
    pub fn new(minorversion: u32, ops: Vec<ArgOp>) -> Option<Self> {
        Some(Self { tag: Utf8Str::default(), minorversion, ops: List::new(ops)? })
    }
}

impl CbCompound {
    /// A compound of callbacks, without a tag. `None` where there are more than [`OPS_LIMIT`].
    #[must_use]
    pub fn new(minorversion: u32, ops: Vec<CbArgOp>) -> Option<Self> {
        Some(Self { tag: Utf8Str::default(), minorversion, callback_ident: 0, ops: List::new(ops)? })
    }
}

/// The head of a reply whose status and number of results are known only at its end.
#[derive(Debug)]
#[must_use = "the reply's status and count are open until it is closed"]
pub struct ReplyHead {
    status: nfs4_xdr::Patch,
    count: nfs4_xdr::Patch,
}

impl ReplyHead {
    /// Writes the head of COMPOUND4res or CB_COMPOUND4res with `tag`. Results follow, each by its `Encode`.
    pub fn begin(w: &mut Writer, tag: &Utf8Str) -> Result<Self, EncodeError> {
        let status = w.later_u32()?;
        tag.encode(w)?;
        let count = w.later_u32()?;
        Ok(Self { status, count })
    }

    /// Fills in the last operation's status and the number of results.
    pub fn close(self, w: &mut Writer, status: Status, count: u32) {
        w.fill(self.status, nfs4_xdr::XdrEnum::to_wire(status));
        w.fill(self.count, count);
    }
}
