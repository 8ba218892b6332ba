//! Whatever operations and results have as values, they come back from the wire as they were; whatever bytes a peer
//! sends, nothing panics.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::BTreeSet;
use std::fmt::{Debug, Display};

use arbitrary::{Arbitrary, Unstructured};
use bytes::Bytes;
use nfs4_proto::{
    ArgOp, Call, CallbackSecParms, CbArgOp, CbCall, CbCompound, CbCompoundRes, CbOpNum, CbResOp, Compound,
    CompoundRes, DeviceError, Entry, Layout, NetLoc, NotifyRaw, OffloadInfo, OpNum, OpenArgs, OpenDelegation,
    OpenOk, ReadPlusContent, ReferringCallList, ResOp, Secinfo, StateId, Status, main_op,
};
use nfs4_xdr::{Decode, Encode, Input, Writer, from_record};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};

fn bytes_of(value: &impl Encode) -> Bytes {
    let mut w = Writer::unlimited();
    value.encode(&mut w).unwrap();
    assert_eq!(w.len(), value.encoded_len());
    w.finish().to_bytes()
}

fn comes_back<T: for<'a> Arbitrary<'a> + Encode + Decode + PartialEq + Debug>(seed: &[u8]) -> Option<T> {
    let value = T::arbitrary(&mut Unstructured::new(seed)).ok()?;
    let wire = bytes_of(&value);
    assert!(wire.len() >= T::MIN_WIRE, "{value:?} takes {} bytes", wire.len());
    assert_eq!(from_record::<T>(&wire).unwrap(), value);
    Some(value)
}

fn fits_the_log(value: &impl Display) {
    assert!(value.to_string().chars().count() <= 200);
    let _ = format!("{value:#}");
}

fn seed() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..2048)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn operations_come_back(seed in seed()) {
        if let Some(op) = comes_back::<ArgOp>(&seed) {
            fits_the_log(&op);
        }
        if let Some(op) = comes_back::<ResOp>(&seed) {
            fits_the_log(&op);
        }
        comes_back::<OpenArgs>(&seed);
        comes_back::<OpenOk>(&seed);
    }

    #[test]
    fn callbacks_come_back(seed in seed()) {
        if let Some(op) = comes_back::<CbArgOp>(&seed) {
            fits_the_log(&op);
        }
        if let Some(op) = comes_back::<CbResOp>(&seed) {
            fits_the_log(&op);
        }
        comes_back::<OffloadInfo>(&seed);
    }

    #[test]
    fn elements_of_lists_take_at_least_what_their_type_says(seed in seed()) {
        comes_back::<StateId>(&seed);
        comes_back::<Status>(&seed);
        comes_back::<DeviceError>(&seed);
        comes_back::<Layout>(&seed);
        comes_back::<NetLoc>(&seed);
        comes_back::<ReadPlusContent>(&seed);
        comes_back::<Secinfo>(&seed);
        comes_back::<CallbackSecParms>(&seed);
        comes_back::<ReferringCallList>(&seed);
        comes_back::<NotifyRaw>(&seed);
        comes_back::<Entry>(&seed);
        comes_back::<OpenDelegation>(&seed);
    }

    #[test]
    fn any_bytes_behind_any_operation_are_an_error_or_a_value(
        bytes in prop::collection::vec(any::<u8>(), 0..512),
        zeros in any::<bool>(),
        op in 0_usize..OpNum::ALL.len(),
        cb in 0_usize..CbOpNum::ALL.len(),
    ) {
        // Small numbers get further: lengths, counts and enumerations are small.
        let bytes: Vec<u8> = bytes.iter().enumerate().map(|(i, b)| if zeros && i % 4 != 3 { 0 } else { *b }).collect();
        let record = Bytes::from(bytes);
        let input = Input::new(&record);
        if let Ok((rest, op)) = ArgOp::decode_args(OpNum::ALL[op], input) {
            // Shorter where a bitmap came with words of zeros at its end: they are legal input and never output.
            assert!(op.encoded_len() - 4 <= record.len() - rest.remaining());
        }
        let _ = ResOp::decode_result(OpNum::ALL[op], input);
        let _ = CbArgOp::decode_args(CbOpNum::ALL[cb], input);
        let _ = CbResOp::decode_result(CbOpNum::ALL[cb], input);
        for max in [0, 1, 64] {
            if let Ok(call) = Call::decode(input, max) {
                assert!(call.ops.len() <= max);
                let _ = main_op(&call.ops);
            }
            let _ = CbCall::decode(input, max);
        }
        let _ = from_record::<Compound>(&record);
        let _ = from_record::<CompoundRes>(&record);
        let _ = from_record::<CbCompound>(&record);
        let _ = from_record::<CbCompoundRes>(&record);
    }
}

/// Numbers without a pattern, the same in each run.
struct Noise(u64);

impl Noise {
    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n)
            .map(|_| {
                self.0 =
                    self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                self.0.to_be_bytes()[0]
            })
            .collect()
    }
}

#[test]
fn every_operation_and_callback_comes_back() {
    let mut noise = Noise(1);
    let (mut args, mut results) = (BTreeSet::new(), BTreeSet::new());
    let (mut cb_args, mut cb_results) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..20_000 {
        let seed = noise.bytes(512);
        args.extend(comes_back::<ArgOp>(&seed).map(|op| op.num()));
        results.extend(comes_back::<ResOp>(&seed).map(|op| (op.num(), op.status() == Status::Ok)));
        cb_args.extend(comes_back::<CbArgOp>(&seed).map(|op| op.num()));
        cb_results.extend(comes_back::<CbResOp>(&seed).map(|op| (op.num(), op.status() == Status::Ok)));
    }
    assert_eq!(args.len(), OpNum::ALL.len());
    assert_eq!(results.len(), 2 * OpNum::ALL.len());
    assert_eq!(cb_args.len(), CbOpNum::ALL.len());
    assert_eq!(cb_results.len(), 2 * CbOpNum::ALL.len());
}

#[test]
fn a_successful_result_takes_no_more_room_than_was_asked_for() {
    let mut noise = Noise(2);
    let mut seen = BTreeSet::new();
    for _ in 0..20_000 {
        let Ok(op) = ResOp::arbitrary(&mut Unstructured::new(&noise.bytes(256))) else { continue };
        // Sets of attributes that no server answers, and whom an entry names, have no bound on the wire.
        let unbounded = matches!(op.num(), OpNum::Open | OpNum::WantDelegation);
        let words = if op.num() == OpNum::GetDirDelegation { 12 } else { 4 };
        if let Some(worst) = op.num().worst_reply().filter(|_| !unbounded) {
            seen.insert(op.num());
            assert!(op.encoded_len() <= worst + words, "{op:?}: {} > {worst}", op.encoded_len());
        }
    }
    assert!(seen.len() > 25, "{seen:?}");
}

#[test]
fn an_operation_in_memory_is_at_most_64_times_its_bytes() {
    assert!(size_of::<ArgOp>() <= 64 * ArgOp::MIN_WIRE, "{}", size_of::<ArgOp>());
    assert!(size_of::<ResOp>() <= 64 * ResOp::MIN_WIRE, "{}", size_of::<ResOp>());
    assert!(size_of::<Entry>() <= 64 * Entry::MIN_WIRE, "{}", size_of::<Entry>());
    assert!(size_of::<CbArgOp>() <= 64 * CbArgOp::MIN_WIRE, "{}", size_of::<CbArgOp>());
}
