//! Rules of the table, the sets and the codec.

use alloc::string::ToString;
use alloc::vec::Vec;

use bytes::Bytes;
use nfs4_xdr::{DecodeKind, Encode, Input, Text, Writer, from_record, take_opaque};

use super::{
    Attr, AttrAccess, AttrGroup, AttrSet, Attrs, FsStatus, FsStatusType, ModeMasked, Owner, SetTime,
    unsupported_attr,
};
use crate::{FileType, Fsid, NfsTime, SpecData, Status};

/// Numbers, names and access as the RFCs' tables print them: RFC 8881 §5.6 and §5.7 (whose table spells two plural
/// names of the XDR in the singular), RFC 7862 §12.2, RFC 8275 §5, RFC 8276 §8.2.1, RFC 9754.
const RFC: &str = "
0 supported_attrs R, 1 type R, 2 fh_expire_type R, 3 change R, 4 size RW, 5 link_support R, 6 symlink_support R,
7 named_attr R, 8 fsid R, 9 unique_handles R, 10 lease_time R, 11 rdattr_error R, 19 filehandle R,
75 suppattr_exclcreat R, 12 acl RW, 13 aclsupport R, 14 archive RW, 15 cansettime R, 16 case_insensitive R,
17 case_preserving R, 60 change_policy R, 18 chown_restricted R, 58 dacl RW, 56 dir_notif_delay R,
57 dirent_notif_delay R, 20 fileid R, 21 files_avail R, 22 files_free R, 23 files_total R, 76 fs_charset_cap R,
62 fs_layout_type R, 24 fs_locations R, 67 fs_locations_info R, 61 fs_status R, 25 hidden RW, 26 homogeneous R,
66 layout_alignment R, 65 layout_blksize R, 63 layout_hint W, 64 layout_type R, 27 maxfilesize R, 28 maxlink R,
29 maxname R, 30 maxread R, 31 maxwrite R, 68 mdsthreshold R, 32 mimetype RW, 33 mode RW, 74 mode_set_masked W,
55 mounted_on_fileid R, 34 no_trunc R, 35 numlinks R, 36 owner RW, 37 owner_group RW, 38 quota_avail_hard R,
39 quota_avail_soft R, 40 quota_used R, 41 rawdev R, 71 retentevt_get R, 72 retentevt_set W, 69 retention_get R,
73 retention_hold RW, 70 retention_set W, 59 sacl RW, 42 space_avail R, 43 space_free R, 44 space_total R,
45 space_used R, 46 system RW, 47 time_access R, 48 time_access_set W, 49 time_backup RW, 50 time_create RW,
51 time_delta R, 52 time_metadata R, 53 time_modify R, 54 time_modify_set W, 77 clone_blksize R, 78 space_freed R,
79 change_attr_type R, 80 sec_label RW, 81 mode_umask W, 82 xattr_support R, 83 offline R, 84 time_deleg_access W,
85 time_deleg_modify W, 86 open_arguments R";

#[test]
fn the_table_has_the_rfcs_numbers_names_and_access() {
    let mut rows: Vec<(u32, &str, AttrAccess)> = RFC
        .split(',')
        .map(|row| {
            let mut words = row.split_whitespace();
            let number = words.next().unwrap().parse().unwrap();
            let name = words.next().unwrap();
            let access = match words.next().unwrap() {
                "R" => AttrAccess::Get,
                "W" => AttrAccess::Set,
                _ => AttrAccess::GetSet,
            };
            (number, name, access)
        })
        .collect();
    rows.sort_by_key(|row| row.0);
    let table: Vec<_> = Attr::ALL.iter().map(|a| (a.number(), a.name(), a.access())).collect();
    assert_eq!(table, rows);
    assert!((0..=86).all(|n| Attr::from_number(n).is_some_and(|a| a.number() == n)));
    assert_eq!(Attr::from_number(87), None);
}

fn hex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(core::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

fn bytes_of(value: &impl Encode) -> Bytes {
    let mut w = Writer::unlimited();
    value.encode(&mut w).unwrap();
    assert_eq!(w.len(), value.encoded_len());
    w.finish().to_bytes()
}

const TIME: NfsTime = NfsTime { seconds: 0x6512_3456, nseconds: 0x3b9a_c9ff };

/// What a Linux client asks of every file, answered: mask; length; type; change; size; fsid; fileid; mode; numlinks;
/// owner "1000"; group "100"; rawdev; `space_used`; three times; `mounted_on_fileid`.
const GETATTR_REPLY: &str = "
    00000002 0010011a 00b0a23a  00000080
    00000001  0000000000000007  0000000000001000  0000000000000001 0000000000000002  000000000000002a
    000001a4  00000001  00000004 31303030  00000003 31303000  00000000 00000000  0000000000002000
    0000000065123456 3b9ac9ff  0000000065123456 3b9ac9ff  0000000065123456 3b9ac9ff  000000000000002a";

fn linux_like() -> Attrs {
    let mut attrs = Attrs::new();
    // Not in the order of the wire, on purpose.
    attrs
        .set_mounted_on_fileid(42)
        .set_time_modify(TIME)
        .set_time_metadata(TIME)
        .set_time_access(TIME)
        .set_owner_group(Owner::number(100))
        .set_owner(Owner::number(1000))
        .set_file_type(FileType::Reg)
        .set_space_used(8192)
        .set_rawdev(SpecData::default())
        .set_numlinks(1)
        .set_mode(0o644)
        .set_fileid(42)
        .set_fsid(Fsid { major: 1, minor: 2 })
        .set_size(4096)
        .set_change(7);
    attrs
}

#[test]
fn golden_getattr_reply() {
    let reply = hex(GETATTR_REPLY);
    assert_eq!(bytes_of(&linux_like()), reply);
    let decoded: Attrs = from_record(&reply).unwrap();
    assert_eq!(decoded, linux_like());
    assert_eq!(decoded.owner().and_then(Owner::as_number), Some(1000));
    assert_eq!(
        decoded.mask().to_string(),
        "[type,change,size,fsid,fileid,mode,numlinks,owner,owner_group,rawdev,space_used,time_access,time_metadata,\
         time_modify,mounted_on_fileid]"
    );
}

#[test]
fn golden_setattr_request() {
    // size 0; mode 0600; time_access_set by the server's clock; time_modify_set by the client's.
    let request = hex("00000002 00000010 00410002  00000020
                       0000000000000000  00000180  00000000  00000001 0000000065123456 3b9ac9ff");
    let mut attrs = Attrs::new();
    attrs
        .set_time_modify_set(SetTime::Client(TIME))
        .set_time_access_set(SetTime::Server)
        .set_mode(0o600)
        .set_size(0);
    assert_eq!(bytes_of(&attrs), request);
    assert_eq!(from_record::<Attrs>(&request).unwrap(), attrs);
    let supported = AttrSet::all();
    assert_eq!(attrs.mask().check_set(&supported), Ok(()));
    assert_eq!(attrs.mask().check_get(), Err(Status::Inval));
}

#[test]
fn no_attributes_are_an_empty_bitmap_and_an_empty_opaque() {
    assert_eq!(bytes_of(&Attrs::new()), hex("00000000 00000000"));
    assert_eq!(from_record::<Attrs>(&hex("00000001 00000000 00000000")).unwrap(), Attrs::new());
}

#[test]
fn encode_only_leaves_the_rest_out() {
    let mut w = Writer::unlimited();
    let want = AttrSet::of(&[Attr::Size, Attr::Acl, Attr::Change]);
    linux_like().encode_only(&want, &mut w).unwrap();
    assert_eq!(w.finish().to_bytes(), bytes_of(&linux_like().restrict(&want)));
}

#[test]
fn a_set_keeps_bits_without_a_name() {
    // Bits 4, 87 and 100; a word of zeros at the end.
    let asked: AttrSet = from_record(&hex("00000005 00000010 00000000 00800000 00000010 00000000")).unwrap();
    assert_eq!(asked.to_string(), "[size,#87,#100]");
    assert_eq!(asked.unknown().collect::<Vec<_>>(), [87, 100]);
    assert_eq!(asked.iter().collect::<Vec<_>>(), [Attr::Size]);
    assert_eq!(bytes_of(&asked), hex("00000004 00000010 00000000 00800000 00000010"));
    assert_eq!(asked.check_get(), Ok(()));
    assert_eq!(asked.check_set(&AttrSet::all()), Err(Status::AttrNotSupp));
    assert_eq!(asked.check_verify(&AttrSet::all()), Err(Status::AttrNotSupp));
    assert_eq!(asked.and(&AttrSet::all()).to_string(), "[size]");
}

#[test]
fn a_value_without_a_type_stops_the_decoder_at_its_number() {
    // size and attribute 87, with a body that would be long enough for both.
    let e =
        from_record::<Attrs>(&hex("00000003 00000010 00000000 00800000 0000000c 0000000000000001 00000001"))
            .unwrap_err();
    assert_eq!(unsupported_attr(&e), Some(87));
    assert_eq!(e.offset(), 28);
    // Any other error is none of those.
    let e = from_record::<Attrs>(&hex("00000001 00000010 00000004 00000001")).unwrap_err();
    assert_eq!(unsupported_attr(&e), None);
    assert!(e.to_string().starts_with("size at byte 12"), "{e}");
}

#[test]
fn a_value_ends_with_the_opaque() {
    let e = from_record::<Attrs>(&hex("00000001 00000010 0000000c 0000000000000001 00000000")).unwrap_err();
    assert_eq!(e.kind(), DecodeKind::Trailing(4));
    // The body may not reach behind the opaque, even where the record goes on.
    let e = from_record::<Attrs>(&hex("00000001 00000010 00000004 0000000000000001")).unwrap_err();
    assert_eq!(e.kind(), DecodeKind::Short { need: 8, left: 4 });
}

#[test]
fn reading_and_writing_are_checked_by_the_table() {
    let supported = AttrSet::all();
    for attr in Attr::ALL {
        let set = AttrSet::of(&[*attr]);
        let delegated = matches!(attr, Attr::TimeDelegAccess | Attr::TimeDelegModify);
        assert_eq!(set.check_get().is_ok(), attr.access().may_get() || delegated, "{attr}");
        assert_eq!(set.check_set(&supported).is_ok(), attr.access().may_set(), "{attr}");
        assert_eq!(
            set.check_verify(&supported).is_ok(),
            attr.access().may_get() && *attr != Attr::RdattrError,
            "{attr}"
        );
        assert_eq!(set.check_set(&AttrSet::new()), Err(Status::AttrNotSupp), "{attr}");
    }
    assert!(AttrAccess::GetSet.set().contains(Attr::Mode));
    assert!(AttrSet::of_group(AttrGroup::Fixed).contains(Attr::Fileid));
}

#[test]
fn verify_compares_what_is_given_and_nothing_else() {
    let object = linux_like();
    let mut given = Attrs::new();
    assert!(given.matches(&object));
    given.set_size(4096).set_owner(Owner::new("1000").unwrap());
    assert!(given.matches(&object));
    given.set_mode(0o600);
    assert!(!given.matches(&object));
    assert_eq!(given.remove(Attr::Mode).mask().to_string(), "[size,owner]");
    // The object has no such value.
    given.set_space_free(1);
    assert!(!given.matches(&object));
}

#[test]
fn values_that_were_taken_away_leave_no_trace() {
    let mut attrs = linux_like();
    attrs.set_fs_status(FsStatus {
        absent: false,
        status_type: FsStatusType::Writable,
        source: Text::default(),
        current: Text::default(),
        age: 0,
        version: NfsTime::default(),
    });
    assert_ne!(attrs, linux_like());
    attrs.remove(Attr::FsStatus);
    assert_eq!(attrs, linux_like());
    attrs.set_mode_set_masked(ModeMasked { value_to_set: 1, mask_bits: 1 });
    let mut other = linux_like();
    other.set_size(1);
    assert_eq!(attrs.differences(&other).to_string(), "[size,mode_set_masked]");
    assert_eq!(other.update(&attrs).differences(&attrs), AttrSet::new());
}

#[test]
fn owners_are_numbers_in_their_shortest_form_only() {
    for (text, number) in [
        ("0", Some(0)),
        ("1000", Some(1000)),
        ("4294967295", Some(u32::MAX)),
        ("4294967296", None),
        ("99999999999", None),
        ("007", None),
        ("00", None),
        ("+1", None),
        ("-1", None),
        ("1 ", None),
        ("", None),
        ("root@example.org", None),
    ] {
        let owner = Owner::new(text).unwrap();
        assert_eq!(owner.as_number(), number, "{text}");
        assert_eq!(owner.as_name().is_none(), number.is_some(), "{text}");
        let wire = bytes_of(&owner);
        let (_, body) = take_opaque(Input::new(&wire), 4096).unwrap();
        assert_eq!(body.as_slice(), text.as_bytes());
        assert_eq!(from_record::<Owner>(&wire).unwrap(), owner);
    }
    assert_eq!(Owner::number(u32::MAX), Owner::new("4294967295").unwrap());
}

#[test]
fn what_is_detached_shares_nothing_with_the_record() {
    let mut attrs = linux_like();
    attrs.set_owner(Owner::new("somebody@example.org").unwrap());
    let record = bytes_of(&attrs);
    let decoded: Attrs = from_record(&record).unwrap();
    let within = |attrs: &Attrs| {
        let name = attrs.owner().and_then(Owner::as_name).unwrap().bytes().as_ptr();
        record.as_ptr_range().contains(&name)
    };
    assert!(within(&decoded));
    let kept = decoded.detach();
    assert_eq!(kept, decoded);
    assert!(!within(&kept));
}

/// Eight bytes of a peer become no more than this: READDIR replies and lists of events hold many.
#[test]
fn values_take_at_most_64_times_their_least_wire_size() {
    assert!(size_of::<Attrs>() <= 64 * 8, "{}", size_of::<Attrs>());
}

#[test]
fn display_names_attributes_and_shows_values_when_asked() {
    let mut attrs = Attrs::new();
    attrs.set_size(5).set_owner(Owner::number(7));
    assert_eq!(attrs.to_string(), "[size,owner]");
    assert_eq!(alloc::format!("{attrs:#}"), "[size=5,owner=7]");
    assert_eq!(alloc::format!("{attrs:?}"), "{size: 5, owner: 7}");
}
