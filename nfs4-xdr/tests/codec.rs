//! The rules of XDR, as the codec keeps them.

#![allow(clippy::unwrap_used, reason = "a test")]

use bytes::{Bytes, BytesMut};
use nfs4_xdr::{
    Bitmap, Chain, DecodeKind, EncodeError, List, Opaque, SHARE_MIN, Text, Writer, from_record, xdr_enum,
    xdr_struct, xdr_union,
};
use proptest::prelude::*;

xdr_enum! {
    /// A closed enumeration.
    pub enum color as Color {
        /// One.
        Red = 1 "RED",
        /// Five.
        Blue = 5 "BLUE",
    }
}

xdr_enum! {
    /// An open one.
    pub open enum shape as Shape {
        /// Zero.
        Round = 0 "ROUND",
    }
}

xdr_union! {
    /// A union with a default.
    pub union thing as Thing switch (Color) {
        /// No body.
        Red => Nothing,
        /// Two fields.
        Blue => Pair {
            /// One.
            a: u32,
            /// Two.
            b: Opaque<8>,
        },
        ;
        /// Anything else.
        else Other
    }
}

xdr_struct! {
    /// Nested.
    pub struct inner as Inner {
        /// A name.
        pub name: Opaque<4>,
        /// A flag.
        pub flag: bool,
    }

    /// Nesting.
    pub struct outer as Outer {
        /// A number.
        pub id: u64,
        /// A list.
        pub items: List<Inner, 3>,
    }
}

fn record(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

fn encode<T: nfs4_xdr::Encode>(value: &T) -> Bytes {
    let mut w = Writer::unlimited();
    w.put(value).unwrap();
    let bytes = w.finish().to_bytes();
    assert_eq!(bytes.len(), value.encoded_len());
    bytes
}

#[test]
fn a_boolean_is_0_or_1_and_nothing_else() {
    assert_eq!(from_record::<bool>(&record(&[0, 0, 0, 1])), Ok(true));
    assert_eq!(from_record::<bool>(&record(&[0, 0, 0, 2])).unwrap_err().kind(), DecodeKind::BadBool(2));
}

#[test]
fn padding_must_be_there_and_zero_also_at_the_very_end() {
    let good = record(&[0, 0, 0, 1, b'x', 0, 0, 0]);
    assert_eq!(&*from_record::<Opaque<4>>(&good).unwrap(), b"x");
    let dirty = record(&[0, 0, 0, 1, b'x', 0, 0, 1]);
    assert_eq!(from_record::<Opaque<4>>(&dirty).unwrap_err().kind(), DecodeKind::Padding);
    let cut = record(&[0, 0, 0, 1, b'x', 0, 0]);
    assert!(matches!(from_record::<Opaque<4>>(&cut).unwrap_err().kind(), DecodeKind::Short { .. }));
    assert_eq!(from_record::<[u8; 3]>(&record(&[1, 2, 3, 4])).unwrap_err().kind(), DecodeKind::Padding);
}

#[test]
fn bytes_behind_the_value_are_an_error() {
    let error = from_record::<u32>(&record(&[0, 0, 0, 1, 9])).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (DecodeKind::Trailing(1), 4));
}

#[test]
fn a_length_over_its_bound_is_refused_whatever_follows() {
    let error = from_record::<Opaque<4>>(&record(&[0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0])).unwrap_err();
    assert_eq!(error.kind(), DecodeKind::TooLong { len: 5, max: 4 });
    let error = from_record::<Text<4>>(&record(&[0xff; 8])).unwrap_err();
    assert_eq!(error.kind(), DecodeKind::TooLong { len: u32::MAX, max: 4 });
}

#[test]
fn a_count_that_cannot_fit_is_refused_before_anything_is_allocated() {
    let mut bytes = u32::MAX.to_be_bytes().to_vec();
    bytes.extend([0; 8]);
    let lie = record(&bytes);
    let info = allocation_counter::measure(|| {
        let error = from_record::<List<u64, { usize::MAX }>>(&lie).unwrap_err();
        assert_eq!(error.kind(), DecodeKind::Count { count: u32::MAX, left: 8 });
    });
    assert!(info.bytes_max < 1024, "{} bytes for an error", info.bytes_max);
}

#[test]
fn an_element_of_no_bytes_cannot_be_had_for_nothing() {
    let lie = record(&[0, 0, 0, 100, 0, 0, 0, 0]);
    assert!(from_record::<List<(), 1000>>(&lie).is_err());
}

#[test]
fn opaque_data_are_slices_of_the_record_and_detach_when_asked() {
    let bytes = encode(&Opaque::<4096>::new(vec![7; 4000]).unwrap());
    let opaque = from_record::<Opaque<4096>>(&bytes).unwrap();
    assert_eq!(opaque.as_ptr(), bytes[4..].as_ptr());
    let own = opaque.detach();
    assert_eq!(own, opaque);
    assert_ne!(own.as_ptr(), opaque.as_ptr());
}

#[test]
fn an_error_names_the_field_and_the_byte() {
    let mut w = Writer::unlimited();
    w.put(&1_u64).unwrap();
    w.put(&2_u32).unwrap();
    w.put(&Inner { name: Opaque::default(), flag: true }).unwrap();
    w.put(&0_u32).unwrap();
    w.put(&7_u32).unwrap();
    let error = from_record::<Outer>(&w.finish().to_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "items[1].flag at byte 24: 7 is no boolean");
}

#[test]
fn a_closed_enumeration_refuses_what_it_has_not_and_an_open_one_keeps_it() {
    assert_eq!(from_record::<Color>(&record(&[0, 0, 0, 5])), Ok(Color::Blue));
    let error = from_record::<Color>(&record(&[0, 0, 0, 2])).unwrap_err();
    assert_eq!(error.kind(), DecodeKind::Unknown { of: "color", value: 2 });
    let open = from_record::<Shape>(&record(&[0, 0, 0, 9])).unwrap();
    assert_eq!((open, open.name()), (Shape::Other(9), None));
    assert_eq!(&encode(&open)[..], [0, 0, 0, 9]);
    assert_eq!(Shape::Round.to_string(), "ROUND");
}

#[test]
fn a_union_keeps_the_number_of_its_default_arm() {
    for (thing, wire) in [
        (Thing::Nothing, &[0, 0, 0, 1][..]),
        (
            Thing::Pair { a: 3, b: Opaque::new(&b"hi"[..]).unwrap() },
            &[0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 2, b'h', b'i', 0, 0],
        ),
        (Thing::Other(77), &[0, 0, 0, 77]),
    ] {
        assert_eq!(&encode(&thing)[..], wire);
        assert_eq!(from_record::<Thing>(&record(wire)), Ok(thing));
    }
}

#[test]
fn a_chain_is_as_long_as_its_flags_say() {
    let chain = Chain(vec![1_u32, 2]);
    assert_eq!(&encode(&chain)[..], [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0]);
    assert_eq!(from_record::<Chain<u32>>(&encode(&chain)), Ok(chain));
    assert!(from_record::<Chain<u32>>(&record(&[0, 0, 0, 1, 0, 0, 0, 1])).is_err());
}

#[test]
fn a_bitmap_takes_words_of_zeros_at_the_end_and_never_sends_them() {
    let long = record(&[0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0]);
    let map = from_record::<Bitmap>(&long).unwrap();
    assert_eq!(map.iter().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(&encode(&map)[..], [0, 0, 0, 1, 0, 0, 0, 5]);
    assert!(
        from_record::<Bitmap>(&record(&1000_u32.to_be_bytes())).is_err(),
        "a thousand words are no bitmap"
    );
}

#[test]
fn what_does_not_fit_the_limit_is_refused_and_rewound_without_a_trace() {
    let mut w = Writer::with_limit(BytesMut::new(), 12);
    w.put(&1_u64).unwrap();
    let mark = w.mark();
    assert_eq!(w.put(&2_u64), Err(EncodeError::TooBig { need: 8, limit: 12 }));
    w.rewind(mark);
    w.put(&3_u32).unwrap();
    assert_eq!(w.room(), 0);
    assert_eq!(&w.finish().to_bytes()[..], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3]);
}

#[test]
fn large_data_are_shared_and_a_rewind_takes_them_back() {
    let data = Bytes::from(vec![9; SHARE_MIN]);
    let mut w = Writer::unlimited();
    w.put(&1_u32).unwrap();
    let mark = w.mark();
    w.put_shared(&data).unwrap();
    assert_eq!(w.written_since(mark), SHARE_MIN + 4);
    w.rewind(mark);
    assert_eq!(w.len(), 4);
    w.put_shared(&data).unwrap();
    w.put(&2_u32).unwrap();
    let segments = w.finish();
    assert_eq!(segments.parts().len(), 3);
    assert_eq!(segments.parts()[1].as_ptr(), data.as_ptr(), "not copied");
    assert_eq!(segments.len(), 4 + 4 + SHARE_MIN + 4);
}

#[test]
fn a_place_filled_later_holds_its_value_also_behind_shared_data() {
    let mut w = Writer::unlimited();
    let place = w.later_u32().unwrap();
    w.put_shared(&Bytes::from(vec![1; 2000])).unwrap();
    let len = u32::try_from(w.since(place)).unwrap();
    w.fill(place, len);
    let bytes = w.finish().to_bytes();
    assert_eq!(bytes[..8], [0, 0, 0x07, 0xd4, 0, 0, 0x07, 0xd0]);
}

#[test]
fn a_body_encoded_in_place_becomes_a_padded_opaque() {
    let mut w = Writer::unlimited();
    let place = w.later_u32().unwrap();
    w.put_raw(b"abcde").unwrap();
    w.close_opaque(place).unwrap();
    assert_eq!(&w.finish().to_bytes()[..], [0, 0, 0, 5, b'a', b'b', b'c', b'd', b'e', 0, 0, 0]);
}

#[test]
fn a_megabyte_is_decoded_and_encoded_without_copying_it() {
    let record = encode(&Opaque::<{ 2 << 20 }>::new(vec![5; 1 << 20]).unwrap());
    let info = allocation_counter::measure(|| {
        let data = from_record::<Opaque<{ 2 << 20 }>>(&record).unwrap();
        let mut w = Writer::unlimited();
        w.put(&data).unwrap();
        assert_eq!(w.finish().len(), record.len());
    });
    assert!(info.bytes_total < 4096, "{} bytes", info.bytes_total);
}

#[test]
fn segments_advance_over_their_pieces() {
    use bytes::Buf;
    let mut w = Writer::unlimited();
    w.put(&1_u32).unwrap();
    w.put_shared(&Bytes::from(vec![2; 2000])).unwrap();
    let mut segments = w.finish();
    let whole = segments.to_bytes();
    for step in [1, 3, 4, 500, 1000] {
        segments.advance(step);
    }
    assert_eq!(segments.to_bytes(), whole.slice(1508..));
    assert_eq!(segments.remaining(), 500);
}

proptest! {
    #[test]
    fn bitmaps_are_sets(a in prop::collection::btree_set(0_u32..200, 0..20), b in prop::collection::btree_set(0_u32..200, 0..20)) {
        let (x, y): (Bitmap, Bitmap) = (a.iter().copied().collect(), b.iter().copied().collect());
        let set = |map: Bitmap| map.iter().collect::<std::collections::BTreeSet<u32>>();
        prop_assert_eq!(set(x.and(&y)), &a & &b);
        prop_assert_eq!(set(x.or(&y)), &a | &b);
        prop_assert_eq!(set(x.without(&y)), &a - &b);
        prop_assert_eq!(from_record::<Bitmap>(&encode(&x)), Ok(x.clone()));
        for bit in 0..200 {
            prop_assert_eq!(x.contains(bit), a.contains(&bit));
        }
    }

    #[test]
    fn structures_round_trip(id: u64, items in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..=4), any::<bool>()), 0..=3)) {
        let items = items.into_iter().map(|(name, flag)| Inner { name: Opaque::new(name).unwrap(), flag }).collect();
        let value = Outer { id, items: List::new(items).unwrap() };
        prop_assert_eq!(from_record::<Outer>(&encode(&value)), Ok(value));
    }

    #[test]
    fn any_bytes_decode_or_fail_and_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let record = Bytes::from(bytes);
        let _ = from_record::<Outer>(&record);
        let _ = from_record::<Thing>(&record);
        let _ = from_record::<Chain<Bitmap>>(&record);
        let _ = from_record::<Option<List<Text<16>, 16>>>(&record);
    }

    #[test]
    fn a_value_cut_anywhere_is_an_error_at_a_byte_that_is_there(id: u64, cut in 0_usize..100) {
        let items = vec![Inner { name: Opaque::new(&b"abc"[..]).unwrap(), flag: true }; 3];
        let whole = encode(&Outer { id, items: List::new(items).unwrap() });
        prop_assume!(cut < whole.len());
        let error = from_record::<Outer>(&whole.slice(..cut)).unwrap_err();
        prop_assert!(error.offset() <= cut);
    }
}
