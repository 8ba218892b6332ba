//! COMPOUND as a server reads it, and what it is counted as.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use bytes::Bytes;
use nfs4_proto::{
    AccessArgs, AccessFlags, ArgOp, Attr, AttrSet, Attrs, Call, ClaimType, CreateHow, DelegreturnArgs,
    GetDirDelegationArgs, GetattrArgs, LookupArgs, MainOp, NfsTime, OpNum, OpenArgs, OpenClaim, OpenHow,
    PutfhArgs, ReadArgs, ReplyHead, ResOp, SequenceArgs, SetattrArgs, ShareAccess, ShareDeny, StateId,
    StateOwner, Status, Utf8Str, main_op,
};
use nfs4_proto::{ClientId, Component, Compound, CompoundRes, Fh};
use nfs4_xdr::{Input, Opaque, Writer, XdrEnum, from_record};

const LIMIT: usize = 16;

fn words(words: &[u32]) -> Bytes {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn decode(words_: &[u32]) -> Call {
    Call::decode(Input::new(&words(words_)), LIMIT).unwrap()
}

#[test]
fn malformed_arguments_are_answered_at_their_place_after_what_came_before() {
    // PUTROOTFH, LOOKUP with a length above what is there, GETFH.
    let call = decode(&[0, 2, 3, 24, 15, 400, 0x61, 10]);
    assert_eq!(call.ops, [ArgOp::Putrootfh]);
    let fault = call.fault.as_ref().unwrap();
    assert_eq!((fault.index, fault.raw, fault.num, fault.status), (1, 15, OpNum::Lookup, Status::BadXdr));
    assert_eq!(
        fault.error.as_ref().unwrap().to_string(),
        "[1].LOOKUP.objname at byte 24: 400 bytes needed, 8 left"
    );
    assert_eq!(call.fault_result(), Some(ResOp::Lookup(Err(Status::BadXdr))));
    assert_eq!(call.to_string(), "PUTROOTFH !NFS4ERR_BADXDR LOOKUP (15)");
}

#[test]
fn an_unknown_number_is_illegal_and_answered_as_10044() {
    for number in [0, 2, 76, 10044, u32::MAX] {
        let call = decode(&[0, 2, 2, 24, number]);
        assert_eq!(call.ops, [ArgOp::Putrootfh]);
        assert_eq!(call.fault.as_ref().unwrap().raw, number);
        assert_eq!(call.fault_result(), Some(ResOp::Illegal(Err(Status::OpIllegal))));
    }
}

#[test]
fn an_operation_of_a_later_minor_version_is_illegal() {
    // GETXATTR "a" under 4.1 and under 4.2.
    let call = decode(&[0, 1, 1, 72, 1, 0x6100_0000]);
    assert_eq!(call.fault_result(), Some(ResOp::Illegal(Err(Status::OpIllegal))));
    assert_eq!(decode(&[0, 2, 1, 72, 1, 0x6100_0000]).fault, None);
}

#[test]
fn an_operation_that_4_1_removed_is_decoded_so_that_what_follows_is_found() {
    // RENEW, SETCLIENTID_CONFIRM, PUTROOTFH.
    let call = decode(&[0, 1, 3, 30, 0, 5, 36, 0, 5, 0, 0, 24]);
    assert_eq!(call.fault, None);
    assert_eq!(
        call.ops.iter().map(ArgOp::num).collect::<Vec<_>>(),
        [OpNum::Renew, OpNum::SetclientidConfirm, OpNum::Putrootfh]
    );
}

#[test]
fn no_operation_is_decoded_of_a_minor_version_that_is_not_known() {
    for minor in [0, 3, u32::MAX] {
        let call = decode(&[0, minor, 1, 24]);
        assert_eq!((call.minorversion, call.count, call.ops.len(), call.fault), (minor, 1, 0, None));
    }
}

#[test]
fn more_operations_than_allowed_are_counted_and_not_decoded() {
    let mut request = vec![0, 2, 40];
    request.extend([24; 40]);
    let call = decode(&request);
    assert_eq!((call.count, call.ops.len(), call.fault), (40, LIMIT, None));
}

#[test]
fn a_count_that_lies_ends_in_a_fault_and_allocates_nothing() {
    let record = words(&[0, 2, u32::MAX, 24]);
    let call = Call::decode(Input::new(&record), usize::MAX).unwrap();
    assert_eq!(call.ops, [ArgOp::Putrootfh]);
    assert!(call.ops.capacity() <= 16);
    assert_eq!(call.fault_result(), Some(ResOp::Illegal(Err(Status::BadXdr))));
}

#[test]
fn bytes_behind_the_last_operation_and_a_head_cut_short_are_garbage() {
    for record in [&[0, 2, 1, 24, 0][..], &[0, 2], &[], &[5000, 2, 1, 24]] {
        assert!(Call::decode(Input::new(&words(record)), LIMIT).is_err(), "{record:?}");
    }
}

#[test]
fn an_attribute_without_a_type_is_not_supported_rather_than_malformed() {
    // SETATTR anon, attribute 93, 4 bytes.
    let call = decode(&[0, 2, 1, 34, 0, 0, 0, 0, 3, 0, 0, 1 << 29, 4, 7]);
    assert_eq!(call.fault_result(), Some(ResOp::error(OpNum::Setattr, Status::AttrNotSupp)));
}

#[test]
fn a_reply_is_closed_with_what_is_known_at_its_end() {
    let mut w = Writer::unlimited();
    let tag = Utf8Str::new(&b"tag"[..]).unwrap();
    let head = ReplyHead::begin(&mut w, &tag).unwrap();
    w.put(&ResOp::Putrootfh(Ok(()))).unwrap();
    w.put(&ResOp::error(OpNum::Lookup, Status::NoEnt)).unwrap();
    head.close(&mut w, Status::NoEnt, 2);
    let reply = from_record::<CompoundRes>(&w.finish().to_bytes()).unwrap();
    assert_eq!((reply.status, reply.tag.clone(), reply.ops.len()), (Status::NoEnt, tag, 2));
    assert_eq!(reply.to_string(), "PUTROOTFH OK LOOKUP NFS4ERR_NOENT");
}

#[test]
fn a_long_compound_is_cut_at_200_characters_and_whole_in_the_alternate_form() {
    let op = lookup("a name of some length");
    let compound = Compound::new(2, vec![op; 20]).unwrap();
    let text = compound.to_string();
    assert_eq!(text.chars().count(), 200);
    assert!(text.ends_with('…'));
    assert_eq!(format!("{compound:#}").matches("LOOKUP").count(), 20);
}

#[test]
fn names_are_escaped() {
    assert_eq!(lookup("a\"b\n").to_string(), r#"LOOKUP "a\"b\n""#);
}

// The main operation.

fn sequence() -> ArgOp {
    ArgOp::Sequence(SequenceArgs {
        sessionid: [0; 16],
        sequenceid: 1,
        slotid: 0,
        highest_slotid: 0,
        cachethis: false,
    })
}

fn putfh() -> ArgOp {
    ArgOp::Putfh(PutfhArgs { object: Fh::default() })
}

fn getattr() -> ArgOp {
    ArgOp::Getattr(GetattrArgs { attr_request: AttrSet::of(&[Attr::Change]) })
}

fn access() -> ArgOp {
    ArgOp::Access(AccessArgs { access: AccessFlags::READ })
}

fn lookup(name: &'static str) -> ArgOp {
    ArgOp::Lookup(LookupArgs { objname: Component::new(name.as_bytes()).unwrap() })
}

fn open(openhow: OpenHow) -> ArgOp {
    ArgOp::Open(OpenArgs {
        seqid: 0,
        share_access: ShareAccess::READ,
        share_deny: ShareDeny::NONE,
        owner: StateOwner { clientid: ClientId(0), owner: Opaque::default() },
        openhow,
        claim: OpenClaim::Fh,
    })
}

fn read() -> ArgOp {
    ArgOp::Read(ReadArgs { stateid: StateId::CURRENT, offset: 0, count: 4096 })
}

fn delegreturn() -> ArgOp {
    ArgOp::Delegreturn(DelegreturnArgs { deleg_stateid: StateId::ANONYMOUS })
}

fn setattr() -> ArgOp {
    ArgOp::Setattr(SetattrArgs { stateid: StateId::ANONYMOUS, obj_attributes: Box::default() })
}

fn get_dir_delegation() -> ArgOp {
    ArgOp::GetDirDelegation(GetDirDelegationArgs {
        signal_deleg_avail: false,
        notification_types: [2, 3].into_iter().collect(),
        child_attr_delay: NfsTime::default(),
        dir_attr_delay: NfsTime::default(),
        child_attributes: AttrSet::new(),
        dir_attributes: AttrSet::new(),
    })
}

#[test]
fn the_main_operation_is_what_nfsstat_would_count() {
    let create = || OpenHow::Create(CreateHow::Guarded(Box::new(Attrs::new())));
    let cases: [(&str, Vec<ArgOp>); 13] = [
        ("Sequence", vec![sequence()]),
        ("Access", vec![sequence(), putfh(), access(), getattr()]),
        ("Getattr", vec![sequence(), putfh(), getattr()]),
        ("Getattr", vec![sequence(), putfh(), get_dir_delegation(), getattr()]),
        ("Getattr", vec![sequence(), ArgOp::Putrootfh, ArgOp::Getfh, getattr()]),
        ("Lookup", vec![sequence(), putfh(), lookup("a"), ArgOp::Getfh, getattr()]),
        ("Lookup", vec![sequence(), putfh(), lookup("a"), lookup("b"), access()]),
        ("Open/nocreate", vec![sequence(), putfh(), open(OpenHow::NoCreate), access(), read()]),
        ("Open/create", vec![sequence(), putfh(), open(create()), ArgOp::Getfh, access(), getattr()]),
        ("Open/create", vec![sequence(), putfh(), open(create()), open(OpenHow::NoCreate)]),
        ("Delegreturn", vec![sequence(), putfh(), setattr(), delegreturn()]),
        ("Setattr", vec![sequence(), putfh(), setattr(), getattr()]),
        ("Illegal", vec![]),
    ];
    for (label, ops) in cases {
        assert_eq!(main_op(&ops).label(), label, "{ops:?}");
    }
}

#[test]
fn main_operations_have_dense_places_and_labels_of_their_own() {
    let all: Vec<MainOp> = MainOp::all().collect();
    assert_eq!(all.len(), MainOp::COUNT);
    for (index, main) in all.iter().enumerate() {
        assert_eq!(main.index(), index);
    }
    let labels: std::collections::BTreeSet<_> = all.iter().map(|main| main.label()).collect();
    assert_eq!(labels.len(), MainOp::COUNT);
}

#[test]
fn the_field_of_the_delegation_wanted_counts_and_is_no_flag() {
    use nfs4_proto::Want;
    for want in
        [Want::NoPreference, Want::Read, Want::Write, Want::Any, Want::No, Want::Cancel, Want::Unknown(9)]
    {
        let access = ShareAccess::BOTH.union(ShareAccess::WANT_DELEG_TIMESTAMPS).with_want(want);
        assert_eq!((access.want(), access.access(), access.unknown()), (want, ShareAccess::BOTH, 0));
    }
    assert_eq!(ShareAccess::from_bits_retain(0x4_0001).unknown(), 0x4_0000);
    assert_eq!(ClaimType::from_wire(7), None);
}
