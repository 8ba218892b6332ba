//! Messages written by hand from the RFCs' XDR: they decode, read as they should, and encode to the same bytes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::fmt::{Debug, Display};
use std::path::Path;

use bytes::Bytes;
use nfs4_proto::{Call, CbCall, CbCompound, CbCompoundRes, Compound, CompoundRes, main_op};
use nfs4_xdr::{Decode, Encode, Input, Writer, from_record};

struct Message {
    kind: String,
    text: String,
    bytes: Bytes,
}

/// The bytes of one line: hexadecimal digits, `'text'`, a comment.
fn line_bytes(line: &str, out: &mut Vec<u8>) {
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        let (hex, comment) = part.split_once('#').map_or((part, false), |(hex, _)| (hex, true));
        let digits: String = hex.chars().filter(|c| !c.is_whitespace()).collect();
        for pair in digits.as_bytes().chunks(2) {
            out.push(u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
        }
        if comment {
            return;
        }
    }
}

fn messages() -> Vec<Message> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut messages = Vec::new();
    for file in std::fs::read_dir(dir).unwrap() {
        let mut current: Option<(String, String, Vec<u8>)> = None;
        let mut finish = |message: Option<(String, String, Vec<u8>)>| {
            if let Some((kind, text, bytes)) = message {
                messages.push(Message { kind, text, bytes: bytes.into() });
            }
        };
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            match line.split_once(": ") {
                Some((kind, text)) if ["call", "reply", "cbcall", "cbreply"].contains(&kind) => {
                    finish(current.replace((kind.into(), text.into(), Vec::new())));
                }
                _ => {
                    if let Some((.., bytes)) = &mut current {
                        line_bytes(line, bytes);
                    }
                }
            }
        }
        finish(current);
    }
    messages
}

fn check<T: Decode + Encode + Display + Debug>(message: &Message) {
    let value = match from_record::<T>(&message.bytes) {
        Ok(value) => value,
        Err(e) => panic!("{}: {e}", message.text),
    };
    assert_eq!(format!("{value:#}"), message.text);
    let mut w = Writer::unlimited();
    w.put(&value).unwrap();
    assert_eq!(w.len(), value.encoded_len(), "{}", message.text);
    assert_eq!(w.finish().to_bytes(), message.bytes, "{}", message.text);
    assert!(message.bytes.len() >= T::MIN_WIRE);
}

#[test]
fn hand_written_messages_decode_read_well_and_encode_to_themselves() {
    let messages = messages();
    assert!(messages.len() > 50, "{} messages", messages.len());
    for message in messages {
        match message.kind.as_str() {
            "call" => {
                check::<Compound>(&message);
                let call = Call::decode(Input::new(&message.bytes), 64).unwrap();
                assert_eq!(call.fault, None, "{}", message.text);
                assert_eq!(format!("{call:#}"), message.text);
            }
            "reply" => check::<CompoundRes>(&message),
            "cbcall" => {
                check::<CbCompound>(&message);
                let call = CbCall::decode(Input::new(&message.bytes), 64).unwrap();
                assert_eq!(format!("{call:#}"), message.text);
            }
            _ => check::<CbCompoundRes>(&message),
        }
    }
}

#[test]
fn a_message_cut_anywhere_is_an_error_and_what_came_before_the_cut_stays() {
    for message in messages() {
        for len in 0..message.bytes.len() {
            let cut = message.bytes.slice(..len);
            match message.kind.as_str() {
                "call" => {
                    assert!(from_record::<Compound>(&cut).is_err());
                    if let Ok(call) = Call::decode(Input::new(&cut), 64) {
                        let fault = call.fault.expect("the end is missing");
                        assert_eq!(call.ops.len(), usize::try_from(fault.index).unwrap());
                        let _ = main_op(&call.ops);
                    }
                }
                "reply" => assert!(from_record::<CompoundRes>(&cut).is_err()),
                "cbcall" => assert!(from_record::<CbCompound>(&cut).is_err()),
                _ => assert!(from_record::<CbCompoundRes>(&cut).is_err()),
            }
        }
    }
}

#[test]
fn a_changed_byte_never_panics_and_never_makes_a_message_that_does_not_encode_again() {
    fn sane<T: Decode + Encode + Display + Debug + PartialEq>(bytes: &Bytes) {
        if let Ok(value) = from_record::<T>(bytes) {
            let mut w = Writer::unlimited();
            w.put(&value).unwrap();
            assert_eq!(from_record::<T>(&w.finish().to_bytes()).unwrap(), value);
            assert!(value.to_string().chars().count() <= 200);
        }
    }
    for message in messages() {
        for at in 0..message.bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = message.bytes.to_vec();
                bytes[at] ^= flip;
                let bytes = Bytes::from(bytes);
                match message.kind.as_str() {
                    "call" => {
                        sane::<Compound>(&bytes);
                        if let Ok(call) = Call::decode(Input::new(&bytes), 64) {
                            assert!(call.to_string().chars().count() <= 200);
                        }
                    }
                    "reply" => sane::<CompoundRes>(&bytes),
                    "cbcall" => sane::<CbCompound>(&bytes),
                    _ => sane::<CbCompoundRes>(&bytes),
                }
            }
        }
    }
}
