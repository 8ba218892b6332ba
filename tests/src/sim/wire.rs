//! Messages as they are on the wire.

use bytes::Bytes;
use nfs4_proto::{
    Attr, AttrSet, Attrs, CbCall, CbCompoundRes, CbResOp, CompoundRes, Data, Fh, OpenDelegation, ReadData,
    ReferringCall, ReferringCallList, ResOp, SessionId, Status, Utf8Str,
};
use nfs4_xdr::{Encode, Input, List, Opaque, Writer};

/// Encodes a message.
pub(super) fn encode<T: Encode>(value: &T) -> Bytes {
    let mut w = Writer::unlimited();
    value.encode(&mut w).expect("our own messages fit");
    w.finish().to_bytes()
}

pub(super) fn call(bytes: &Bytes) -> nfs4_proto::Call {
    let call = nfs4_proto::Call::decode(Input::new(bytes), 16).expect("a call of our own");
    assert!(call.fault.is_none(), "{call:?}");
    call
}

pub(super) fn cb_call(bytes: &Bytes) -> CbCall {
    let call = CbCall::decode(Input::new(bytes), 16).expect("a callback of our own");
    assert!(call.fault.is_none(), "{call:?}");
    call
}

pub(super) fn reply(ops: Vec<ResOp>) -> Bytes {
    let status = ops.last().map_or(Status::Ok, ResOp::status);
    encode(&CompoundRes { status, tag: Utf8Str::default(), ops: List::new(ops).expect("few") })
}

pub(super) fn cb_reply(ops: Vec<CbResOp>) -> Bytes {
    let status = ops.last().map_or(Status::Ok, CbResOp::status);
    encode(&CbCompoundRes { status, tag: Utf8Str::default(), ops: List::new(ops).expect("few") })
}

pub(super) fn decode<T: nfs4_xdr::Decode>(bytes: &Bytes) -> T {
    nfs4_xdr::from_record(bytes).expect("a reply of our own")
}

pub(super) fn session(client: u64) -> SessionId {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&client.to_be_bytes());
    id
}

pub(super) fn client_of(session: &SessionId) -> u64 {
    u64::from_be_bytes(session[..8].try_into().expect("eight bytes"))
}

pub(super) fn fh(file: usize) -> Fh {
    Opaque::new((file as u64).to_be_bytes().to_vec()).expect("short")
}

pub(super) fn file_of(fh: &Fh) -> usize {
    usize::try_from(value_of(fh)).expect("small")
}

pub(super) fn data(value: u64) -> Data {
    Data::new(value.to_be_bytes().to_vec()).expect("short")
}

pub(super) fn value_of(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().expect("eight bytes"))
}

pub(super) fn read_value(read: ReadData) -> u64 {
    value_of(&read.into_bytes())
}

pub(super) fn change_and_size() -> AttrSet {
    AttrSet::of(&[Attr::Change, Attr::Size])
}

pub(super) fn attrs(change: u64, size: u64) -> Attrs {
    let mut attrs = Attrs::new();
    attrs.set_change(change).set_size(size);
    attrs
}

pub(super) fn referring(client: u64, calls: &[(u32, u32)]) -> Vec<ReferringCallList> {
    if calls.is_empty() {
        return Vec::new();
    }
    let calls =
        calls.iter().map(|(slotid, sequenceid)| ReferringCall { sequenceid: *sequenceid, slotid: *slotid });
    vec![ReferringCallList {
        sessionid: session(client),
        referring_calls: List::new(calls.collect::<Vec<_>>()).expect("few"),
    }]
}

/// The stateid and the kind of what an OPEN brought.
pub(super) fn granted(
    delegation: &OpenDelegation,
) -> Option<(nfs4_proto::StateId, nfs4_deleg::client::Kind)> {
    match delegation {
        OpenDelegation::Read(d) => Some((d.stateid, nfs4_deleg::client::Kind::Read)),
        OpenDelegation::Write(d) => Some((d.stateid, nfs4_deleg::client::Kind::Write)),
        OpenDelegation::None
        | OpenDelegation::NoneExt(_)
        | OpenDelegation::ReadAttrs(_)
        | OpenDelegation::WriteAttrs(_) => None,
    }
}
