//! Attributes of a usual reply cost no memory beside the writer's own.

use bytes::BytesMut;
use nfs4_proto::{Attr, AttrSet, Attrs, FileType, Fsid, NfsTime, Owner};
use nfs4_xdr::{Encode, Writer, from_record};

fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

fn ten() -> Attrs {
    let mut attrs = Attrs::new();
    attrs
        .set_file_type(FileType::Reg)
        .set_change(1)
        .set_size(2)
        .set_fsid(Fsid { major: 3, minor: 4 })
        .set_fileid(5)
        .set_mode(0o644)
        .set_numlinks(1)
        .set_owner(Owner::number(1000))
        .set_owner_group(Owner::number(1000))
        .set_time_modify(NfsTime::default());
    attrs
}

#[test]
fn ten_attributes_are_set_encoded_and_decoded_without_an_allocation() {
    let mut w = Writer::with_limit(BytesMut::with_capacity(4096), 4096);
    let want = AttrSet::all().without(&AttrSet::of(&[Attr::Fileid]));
    assert_eq!(allocations(|| ten().encode(&mut w).unwrap()), 0);
    assert_eq!(allocations(|| ten().encode_only(&want, &mut w).unwrap()), 0);
    let wire = w.finish().to_bytes().slice(..ten().encoded_len());
    assert_eq!(allocations(|| assert_eq!(from_record::<Attrs>(&wire).unwrap(), ten())), 0);
    // The counter counts.
    assert!(allocations(|| drop(std::hint::black_box(Box::new(1)))) > 0);
}
