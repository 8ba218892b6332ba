//! Whatever values attributes and events have, they come back from the wire as they were; whatever bytes a peer sends,
//! nothing panics.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use arbitrary::{Arbitrary, Unstructured};
use bytes::Bytes;
use nfs4_proto::{
    Ace, Acl, Acl41, Attr, AttrSet, Attrs, FsLocations, FsLocationsInfo, FsStatus, LayoutHint, LayoutTypes,
    MdsThreshold, ModeUmask, Notify, NotifyDeviceIdChange, NotifyEvent, NotifyList, NotifyRaw, OpenArguments,
    Owner, RetentionGet, RetentionSet, SecLabel, SetTime,
};
use nfs4_xdr::{Decode, Encode, Writer, from_record};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};

fn bytes_of(value: &impl Encode) -> Bytes {
    let mut w = Writer::unlimited();
    value.encode(&mut w).unwrap();
    assert_eq!(w.len(), value.encoded_len());
    w.finish().to_bytes()
}

fn comes_back<T: for<'a> Arbitrary<'a> + Encode + Decode + PartialEq + std::fmt::Debug>(seed: &[u8]) {
    let Ok(value) = T::arbitrary(&mut Unstructured::new(seed)) else { return };
    let wire = bytes_of(&value);
    assert!(wire.len() >= T::MIN_WIRE);
    assert_eq!(from_record::<T>(&wire).unwrap(), value);
}

/// Decoding may fail; what was decoded encodes to something that decodes to the same.
fn stays_sane<T: Encode + Decode + PartialEq + std::fmt::Debug>(bytes: &Bytes) {
    if let Ok(value) = from_record::<T>(bytes) {
        assert_eq!(from_record::<T>(&bytes_of(&value)).unwrap(), value);
    }
}

fn seed() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..4096)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn attributes_come_back(seed in seed()) {
        comes_back::<Attrs>(&seed);
        comes_back::<AttrSet>(&seed);
    }

    #[test]
    fn values_come_back(seed in seed()) {
        comes_back::<Ace>(&seed);
        comes_back::<Acl>(&seed);
        comes_back::<Acl41>(&seed);
        comes_back::<FsLocations>(&seed);
        comes_back::<FsLocationsInfo>(&seed);
        comes_back::<FsStatus>(&seed);
        comes_back::<LayoutHint>(&seed);
        comes_back::<LayoutTypes>(&seed);
        comes_back::<MdsThreshold>(&seed);
        comes_back::<ModeUmask>(&seed);
        comes_back::<OpenArguments>(&seed);
        comes_back::<Owner>(&seed);
        comes_back::<RetentionGet>(&seed);
        comes_back::<RetentionSet>(&seed);
        comes_back::<SecLabel>(&seed);
        comes_back::<SetTime>(&seed);
        comes_back::<NotifyDeviceIdChange>(&seed);
    }

    #[test]
    fn events_come_back(seed in seed()) {
        comes_back::<NotifyList>(&seed);
        comes_back::<NotifyRaw>(&seed);
    }

    #[test]
    fn each_attribute_comes_back_alone(seed in seed(), number in 0_u32..=86) {
        let Ok(attrs) = Attrs::arbitrary(&mut Unstructured::new(&seed)) else { return Ok(()) };
        let attr = Attr::from_number(number).unwrap();
        let alone = attrs.restrict(&AttrSet::of(&[attr]));
        let decoded: Attrs = from_record(&bytes_of(&alone)).unwrap();
        assert_eq!(decoded, alone);
        assert_eq!(alone.mask().contains(attr), !alone.is_empty());
    }

    #[test]
    fn the_order_of_setting_does_not_reach_the_wire(seed in seed(), order in numbers().prop_shuffle()) {
        let Ok(attrs) = Attrs::arbitrary(&mut Unstructured::new(&seed)) else { return Ok(()) };
        let mut shuffled = Attrs::new();
        for number in order {
            let one = AttrSet::of(&[Attr::from_number(number).unwrap()]);
            shuffled.update(&attrs.clone().restrict(&one));
        }
        assert_eq!(shuffled, attrs);
        assert_eq!(bytes_of(&shuffled), bytes_of(&attrs));
    }

    #[test]
    fn bytes_that_were_tampered_with_never_panic(
        seed in seed(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut u = Unstructured::new(&seed);
        let (Ok(attrs), Ok(event)) = (Attrs::arbitrary(&mut u), NotifyEvent::arbitrary(&mut u)) else {
            return Ok(());
        };
        let list = NotifyList::new(vec![Notify::one(event)]).unwrap();
        for wire in [bytes_of(&attrs), bytes_of(&list)] {
            let mut bad = wire.to_vec();
            for (at, value) in &flips {
                let at = at.index(bad.len());
                bad[at] ^= value;
            }
            let bad = Bytes::from(bad);
            stays_sane::<Attrs>(&bad);
            stays_sane::<NotifyList>(&bad);
            let short = bad.slice(..cut.index(bad.len()));
            stays_sane::<Attrs>(&short);
            stays_sane::<NotifyList>(&short);
        }
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..256)) {
        let noise = Bytes::from(noise);
        stays_sane::<Attrs>(&noise);
        stays_sane::<NotifyList>(&noise);
        stays_sane::<FsLocationsInfo>(&noise);
        stays_sane::<OpenArguments>(&noise);
    }
}

fn numbers() -> proptest::strategy::Just<Vec<u32>> {
    proptest::strategy::Just((0..=86).collect())
}
