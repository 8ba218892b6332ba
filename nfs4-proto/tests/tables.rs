//! The operation table and the callback table say what the RFCs say.

use nfs4_proto::{CbOpNum, CbResOp, OpFlags, OpNum, ResOp, Status};
use nfs4_xdr::{Encode, Writer, from_record};

/// `nfs_opnum4` from 3 on: RFC 7863 §2, RFC 8276 §8.6.
const NAMES: [&str; 73] = [
    "ACCESS",
    "CLOSE",
    "COMMIT",
    "CREATE",
    "DELEGPURGE",
    "DELEGRETURN",
    "GETATTR",
    "GETFH",
    "LINK",
    "LOCK",
    "LOCKT",
    "LOCKU",
    "LOOKUP",
    "LOOKUPP",
    "NVERIFY",
    "OPEN",
    "OPENATTR",
    "OPEN_CONFIRM",
    "OPEN_DOWNGRADE",
    "PUTFH",
    "PUTPUBFH",
    "PUTROOTFH",
    "READ",
    "READDIR",
    "READLINK",
    "REMOVE",
    "RENAME",
    "RENEW",
    "RESTOREFH",
    "SAVEFH",
    "SECINFO",
    "SETATTR",
    "SETCLIENTID",
    "SETCLIENTID_CONFIRM",
    "VERIFY",
    "WRITE",
    "RELEASE_LOCKOWNER",
    "BACKCHANNEL_CTL",
    "BIND_CONN_TO_SESSION",
    "EXCHANGE_ID",
    "CREATE_SESSION",
    "DESTROY_SESSION",
    "FREE_STATEID",
    "GET_DIR_DELEGATION",
    "GETDEVICEINFO",
    "GETDEVICELIST",
    "LAYOUTCOMMIT",
    "LAYOUTGET",
    "LAYOUTRETURN",
    "SECINFO_NO_NAME",
    "SEQUENCE",
    "SET_SSV",
    "TEST_STATEID",
    "WANT_DELEGATION",
    "DESTROY_CLIENTID",
    "RECLAIM_COMPLETE",
    "ALLOCATE",
    "COPY",
    "COPY_NOTIFY",
    "DEALLOCATE",
    "IO_ADVISE",
    "LAYOUTERROR",
    "LAYOUTSTATS",
    "OFFLOAD_CANCEL",
    "OFFLOAD_STATUS",
    "READ_PLUS",
    "SEEK",
    "WRITE_SAME",
    "CLONE",
    "GETXATTR",
    "SETXATTR",
    "LISTXATTRS",
    "REMOVEXATTR",
];

/// `nfs_cb_opnum4` from 3 on: RFC 7863 §2.
const CB_NAMES: [&str; 13] = [
    "CB_GETATTR",
    "CB_RECALL",
    "CB_LAYOUTRECALL",
    "CB_NOTIFY",
    "CB_PUSH_DELEG",
    "CB_RECALL_ANY",
    "CB_RECALLABLE_OBJ_AVAIL",
    "CB_RECALL_SLOT",
    "CB_SEQUENCE",
    "CB_WANTS_CANCELLED",
    "CB_NOTIFY_LOCK",
    "CB_NOTIFY_DEVICEID",
    "CB_OFFLOAD",
];

const REMOVED: [u32; 5] = [20, 30, 35, 36, 39];

#[test]
fn numbers_names_and_minor_versions_are_those_of_the_rfcs() {
    for (number, name) in (3..).zip(NAMES) {
        let op = OpNum::from_number(number).unwrap_or_else(|| panic!("no operation {number}"));
        assert_eq!((op.number(), op.name()), (number, name));
        let minor = match number {
            n if REMOVED.contains(&n) => 0,
            3..=58 => 1,
            _ => 2,
        };
        assert_eq!(op.minor(), minor, "{name}");
        assert_eq!(op.flags().contains(OpFlags::REMOVED), minor == 0, "{name}");
    }
    assert_eq!(OpNum::from_number(10044), Some(OpNum::Illegal));
    assert_eq!(OpNum::ALL.len(), NAMES.len() + 1);
    for number in [0, 1, 2, 76, 10043, 10045, u32::MAX] {
        assert_eq!(OpNum::from_number(number), None, "{number}");
    }
    for (number, name) in (3..).zip(CB_NAMES) {
        let op = CbOpNum::from_number(number).unwrap_or_else(|| panic!("no callback {number}"));
        assert_eq!((op.number(), op.name()), (number, name));
        assert_eq!(op.minor(), if number == 15 { 2 } else { 1 }, "{name}");
    }
    assert_eq!(CbOpNum::ALL.len(), CB_NAMES.len() + 1);
}

#[test]
fn places_in_tables_are_dense() {
    for (index, op) in OpNum::ALL.iter().enumerate() {
        assert_eq!(op.index(), index);
    }
    for (index, op) in CbOpNum::ALL.iter().enumerate() {
        assert_eq!(op.index(), index);
    }
}

#[test]
fn every_operation_may_succeed_but_what_must_not_be_implemented() {
    for op in OpNum::ALL {
        let never = REMOVED.contains(&op.number()) || *op == OpNum::Illegal;
        assert_eq!(op.may_answer(Status::Ok), !never, "{op}");
        assert!(op.may_answer(Status::BadXdr), "{op}");
        assert!(!op.may_answer(Status::Resource), "{op}: NFS4ERR_RESOURCE is not of 4.1");
        if REMOVED.contains(&op.number()) {
            assert!(op.may_answer(Status::NotSupp), "{op}");
        }
    }
    for op in CbOpNum::ALL {
        assert_eq!(op.may_answer(Status::Ok), *op != CbOpNum::Illegal, "{op}");
    }
}

#[test]
fn statuses_that_answer_for_one_operation_only_are_legal_there_only() {
    let only = |status: Status| -> Vec<OpNum> {
        OpNum::ALL.iter().copied().filter(|op| op.may_answer(status)).collect()
    };
    assert_eq!(
        only(Status::CompleteAlready),
        [OpNum::ReclaimComplete, OpNum::OffloadCancel, OpNum::OffloadStatus]
    );
    assert_eq!(only(Status::DirDelegUnavail), [OpNum::GetDirDelegation]);
    assert_eq!(only(Status::SequencePos), [OpNum::Sequence]);
    assert_eq!(only(Status::SeqFalseRetry), [OpNum::Sequence]);
    assert_eq!(only(Status::OpIllegal), [OpNum::Illegal]);
    assert_eq!(only(Status::Same), [OpNum::Nverify]);
    assert_eq!(only(Status::Denied), [OpNum::Lock, OpNum::Lockt]);
    assert_eq!(only(Status::NotEmpty), [OpNum::Remove, OpNum::Rename]);
    assert_eq!(only(Status::OffloadNoReqs), [OpNum::Copy]);
}

#[test]
fn session_rules_are_those_of_section_2_10() {
    let with = |flag: OpFlags| -> Vec<&str> {
        OpNum::ALL.iter().filter(|op| op.flags().contains(flag)).map(|op| op.name()).collect()
    };
    assert_eq!(with(OpFlags::FIRST), ["SEQUENCE"]);
    assert_eq!(with(OpFlags::ONLY), ["BIND_CONN_TO_SESSION"]);
    assert_eq!(
        with(OpFlags::SESSIONLESS),
        ["BIND_CONN_TO_SESSION", "EXCHANGE_ID", "CREATE_SESSION", "DESTROY_SESSION", "DESTROY_CLIENTID"],
    );
    assert_eq!(with(OpFlags::SFH), ["LINK", "RENAME", "RESTOREFH", "COPY", "CLONE"]);
}

#[test]
fn an_operation_out_of_its_place_may_say_so() {
    for op in OpNum::ALL.iter().filter(|op| op.minor() > 0) {
        let flags = op.flags();
        if flags.contains(OpFlags::FIRST) {
            assert!(op.may_answer(Status::SequencePos), "{op}");
        } else if flags.contains(OpFlags::SESSIONLESS) {
            assert!(op.may_answer(Status::NotOnlyOp), "{op}");
        } else {
            assert!(op.may_answer(Status::OpNotInSession), "{op}");
        }
    }
}

#[test]
fn an_operation_that_needs_a_filehandle_may_say_that_there_is_none() {
    for op in OpNum::ALL {
        let needs =
            op.flags().intersects(OpFlags::CFH | OpFlags::SFH) && !op.flags().contains(OpFlags::REMOVED);
        if needs {
            assert!(op.may_answer(Status::NoFileHandle), "{op}");
        }
    }
}

#[test]
fn an_error_is_what_it_was_made_of_and_data_are_never_missing() {
    let with_data = [
        (OpNum::Lock, Status::Denied),
        (OpNum::Lockt, Status::Denied),
        (OpNum::Layoutget, Status::LayoutTryLater),
        (OpNum::Getdeviceinfo, Status::TooSmall),
        (OpNum::Copy, Status::OffloadNoReqs),
        (OpNum::Setclientid, Status::ClidInUse),
    ];
    for op in OpNum::ALL {
        for status in Status::ALL {
            let result = ResOp::error(*op, *status);
            let lossy = *status == Status::Ok || with_data.contains(&(*op, *status));
            let expected = if lossy { Status::ServerFault } else { *status };
            assert_eq!((result.num(), result.status()), (*op, expected));
            let mut w = Writer::unlimited();
            assert_eq!(w.put(&result), Ok(()));
            assert_eq!(w.len(), result.encoded_len());
            assert_eq!(w.len(), if *op == OpNum::Setattr { 12 } else { 8 });
            let back = from_record::<ResOp>(&w.finish().to_bytes()).map(|r| (r.num(), r.status()));
            assert_eq!(back, Ok((*op, expected)));
        }
    }
    for op in CbOpNum::ALL {
        let result = CbResOp::error(*op, Status::Delay);
        assert_eq!((result.num(), result.status()), (*op, Status::Delay));
    }
}
