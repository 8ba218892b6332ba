//! Operations and callbacks.

use std::fmt::{Debug, Display};

use bytes::Bytes;
use nfs4_proto::{Call, CbCall, CbCompoundRes, CompoundRes};
use nfs4_xdr::{Decode, Encode, Input, Writer};

/// Operations of a compound that are decoded.
const MOST: usize = 256;

/// What was decoded encodes to bytes of the length it told, which decode to the same; and can be printed.
fn round_trip<T: Decode + Encode + PartialEq + Debug + Display>(value: &T) {
    let mut w = Writer::unlimited();
    assert!(w.put(value).is_ok(), "a decoded value encodes: {value:?}");
    let record = w.finish().to_bytes();
    assert_eq!(record.len(), value.encoded_len(), "the length told: {value:?}");
    match T::decode(Input::new(&record)) {
        Ok((rest, again)) => {
            assert_eq!(rest.remaining(), 0);
            assert_eq!(&again, value);
        }
        Err(error) => panic!("{value:?} does not decode again: {error:?}"),
    }
    assert!(!value.to_string().is_empty());
}

/// The arguments of a COMPOUND.
pub fn operation_args(data: &[u8]) {
    let record = Bytes::copy_from_slice(data);
    if let Ok(call) = Call::decode(Input::new(&record), MOST) {
        assert!(call.ops.len() <= MOST);
        call.ops.iter().for_each(round_trip);
    }
}

/// The results of a COMPOUND.
pub fn operation_results(data: &[u8]) {
    let record = Bytes::copy_from_slice(data);
    if let Ok((_, results)) = CompoundRes::decode(Input::new(&record)) {
        results.ops.iter().for_each(round_trip);
    }
}

/// The arguments of a CB_COMPOUND.
pub fn callback_args(data: &[u8]) {
    let record = Bytes::copy_from_slice(data);
    if let Ok(call) = CbCall::decode(Input::new(&record), MOST) {
        assert!(call.ops.len() <= MOST);
        call.ops.iter().for_each(round_trip);
    }
}

/// The results of a CB_COMPOUND.
pub fn callback_results(data: &[u8]) {
    let record = Bytes::copy_from_slice(data);
    if let Ok((_, results)) = CbCompoundRes::decode(Input::new(&record)) {
        results.ops.iter().for_each(round_trip);
    }
}
