//! Replies.

use crate::{Decode, DecodeError, DecodeKind, EncodeError, Input, Parsed, Writer, xdr_enum};

use super::{AuthStat, MsgType, OpaqueAuth};

xdr_enum! {
    /// How an accepted call ended. RFC 5531 §9.
    pub enum accept_stat as AcceptStat {
        /// The results follow.
        Success = 0 "SUCCESS",
        /// The program is not served.
        ProgUnavail = 1 "PROG_UNAVAIL",
        /// The version is not served.
        ProgMismatch = 2 "PROG_MISMATCH",
        /// There is no such procedure.
        ProcUnavail = 3 "PROC_UNAVAIL",
        /// The arguments cannot be decoded.
        GarbageArgs = 4 "GARBAGE_ARGS",
        /// The server failed.
        SystemErr = 5 "SYSTEM_ERR",
    }
}

/// An accepted call's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The results follow.
    Success,
    /// The program is not served.
    ProgUnavail,
    /// The version is not served: lowest and highest that are.
    ProgMismatch(u32, u32),
    /// There is no such procedure.
    ProcUnavail,
    /// The arguments cannot be decoded.
    GarbageArgs,
    /// The server failed.
    SystemErr,
}

/// A rejected call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// RPC versions served: lowest and highest.
    RpcMismatch(u32, u32),
    /// The credentials are refused.
    Auth(AuthStat),
}

/// The header of a reply, to the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Transaction ID.
    pub xid: u32,
    /// What became of the call.
    pub body: Result<Accepted, Rejected>,
}

/// Writes the header of an accepted reply, with no verifier; after [`Accepted::Success`] the results follow.
pub fn put_accepted(w: &mut Writer, xid: u32, how: Accepted) -> Result<(), EncodeError> {
    w.put(&xid)?;
    w.put(&MsgType::Reply)?;
    w.put(&0_u32)?;
    w.put(&OpaqueAuth::none())?;
    match how {
        Accepted::Success => w.put(&AcceptStat::Success),
        Accepted::ProgUnavail => w.put(&AcceptStat::ProgUnavail),
        Accepted::ProgMismatch(low, high) => {
            w.put(&AcceptStat::ProgMismatch)?;
            w.put(&low)?;
            w.put(&high)
        }
        Accepted::ProcUnavail => w.put(&AcceptStat::ProcUnavail),
        Accepted::GarbageArgs => w.put(&AcceptStat::GarbageArgs),
        Accepted::SystemErr => w.put(&AcceptStat::SystemErr),
    }
}

/// Writes a rejected reply.
pub fn put_rejected(w: &mut Writer, xid: u32, why: Rejected) -> Result<(), EncodeError> {
    w.put(&xid)?;
    w.put(&MsgType::Reply)?;
    w.put(&1_u32)?;
    match why {
        Rejected::RpcMismatch(low, high) => {
            w.put(&0_u32)?;
            w.put(&low)?;
            w.put(&high)
        }
        Rejected::Auth(stat) => {
            w.put(&1_u32)?;
            w.put(&stat)
        }
    }
}

impl Decode for Reply {
    const MIN_WIRE: usize = 20;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, xid) = u32::decode(input)?;
        let (rest, kind) = MsgType::decode(rest)?;
        if kind != MsgType::Reply {
            return Err(DecodeError::fail(input, DecodeKind::Invalid("a call and not a reply")));
        }
        let (at_stat, stat) = u32::decode(rest)?;
        match stat {
            0 => {
                let (rest, _verf) = OpaqueAuth::decode(at_stat)?;
                let (rest, accept) = AcceptStat::decode(rest)?;
                let (rest, how) = match accept {
                    AcceptStat::Success => (rest, Accepted::Success),
                    AcceptStat::ProgUnavail => (rest, Accepted::ProgUnavail),
                    AcceptStat::ProgMismatch => {
                        let (rest, low) = u32::decode(rest)?;
                        let (rest, high) = u32::decode(rest)?;
                        (rest, Accepted::ProgMismatch(low, high))
                    }
                    AcceptStat::ProcUnavail => (rest, Accepted::ProcUnavail),
                    AcceptStat::GarbageArgs => (rest, Accepted::GarbageArgs),
                    AcceptStat::SystemErr => (rest, Accepted::SystemErr),
                };
                Ok((rest, Self { xid, body: Ok(how) }))
            }
            1 => {
                let (after, why) = u32::decode(at_stat)?;
                let (rest, why) = match why {
                    0 => {
                        let (rest, low) = u32::decode(after)?;
                        let (rest, high) = u32::decode(rest)?;
                        (rest, Rejected::RpcMismatch(low, high))
                    }
                    1 => {
                        let (rest, stat) = AuthStat::decode(after)?;
                        (rest, Rejected::Auth(stat))
                    }
                    value => {
                        return Err(DecodeError::fail(
                            at_stat,
                            DecodeKind::Unknown { of: "reject_stat", value },
                        ));
                    }
                };
                Ok((rest, Self { xid, body: Err(why) }))
            }
            value => Err(DecodeError::fail(rest, DecodeKind::Unknown { of: "reply_stat", value })),
        }
    }
}
