//! What `CB_NOTIFY` tells: `notify4`, one event or several. RFC 8881 §20.4.
//!
//! A `notify4` is a mask of event types and an opaque with one item for each bit, ascending. The array of `notify4` is
//! the order in time; within one the RFC leaves it open, so a sender puts one event into each ([`Notify::one`]).

use alloc::boxed::Box;
use alloc::vec::Vec;

use nfs4_xdr::{
    Bitmap, Decode, DecodeError, DecodeKind, Encode, EncodeError, Input, List, Opaque, Parsed, Step, Writer,
    XdrEnum, padded, take_opaque, xdr_enum, xdr_struct,
};

use crate::{Attrs, Component, LayoutType, Verifier};

/// Most `notify4` in one `CB_NOTIFY` that the codec takes.
pub const NOTIFY_LIMIT: usize = 65_536;

/// `cna_changes`: events in the order in which they happened.
pub type NotifyList = List<Notify, NOTIFY_LIMIT>;

/// The name by which errors call a bit without a type.
const UNTYPED: &str = "event of notify4";

xdr_enum! {
    /// Kinds of events, and bits of `GET_DIR_DELEGATION`'s masks. RFC 8881 §20.4.1; from 6 on the drafts that revise it:
    /// those are flags in the masks and never events, and the meaning of most is not published.
    pub open enum notify_type4 as NotifyType {
        /// Attributes of an entry changed.
        ChangeChildAttrs = 0 "NOTIFY4_CHANGE_CHILD_ATTRS",
        /// Attributes of the directory changed.
        ChangeDirAttrs = 1 "NOTIFY4_CHANGE_DIR_ATTRS",
        /// An entry went.
        RemoveEntry = 2 "NOTIFY4_REMOVE_ENTRY",
        /// An entry came.
        AddEntry = 3 "NOTIFY4_ADD_ENTRY",
        /// An entry was renamed within the directory.
        RenameEntry = 4 "NOTIFY4_RENAME_ENTRY",
        /// The cookie verifier changed.
        ChangeCookieVerifier = 5 "NOTIFY4_CHANGE_COOKIE_VERIFIER",
        /// Flag: the client knows the draft's extensions.
        GflagExtend = 6 "NOTIFY4_GFLAG_EXTEND",
        /// Draft, meaning not published.
        AuflagValid = 7 "NOTIFY4_AUFLAG_VALID",
        /// Draft, meaning not published.
        AuflagUser = 8 "NOTIFY4_AUFLAG_USER",
        /// Draft, meaning not published.
        AuflagGroup = 9 "NOTIFY4_AUFLAG_GROUP",
        /// Draft, meaning not published.
        AuflagOther = 10 "NOTIFY4_AUFLAG_OTHER",
        /// Draft, meaning not published.
        ChangeAuth = 11 "NOTIFY4_CHANGE_AUTH",
        /// Flag: the client wants cookies and order although it set `GFLAG_EXTEND`.
        CflagOrder = 12 "NOTIFY4_CFLAG_ORDER",
        /// Draft, meaning not published.
        AuflagGanow = 13 "NOTIFY4_AUFLAG_GANOW",
        /// Draft, meaning not published.
        AuflagGalater = 14 "NOTIFY4_AUFLAG_GALATER",
        /// Draft, meaning not published.
        ChangeGa = 15 "NOTIFY4_CHANGE_GA",
        /// Draft, meaning not published.
        ChangeAmask = 16 "NOTIFY4_CHANGE_AMASK",
    }
}

impl NotifyType {
    /// Whether a mask has its bit.
    #[must_use]
    pub fn is_in(self, mask: &Bitmap) -> bool {
        mask.contains(self.to_wire())
    }

    /// A mask of these.
    #[must_use]
    pub fn mask(types: &[Self]) -> Bitmap {
        types.iter().map(|kind| kind.to_wire()).collect()
    }
}

xdr_struct! {
    /// A name and what it names. RFC 8881 §20.4.1.
    pub struct notify_entry4 as NotifyEntry {
        /// The name; empty where the directory itself is meant.
        pub file: Component,
        /// Attributes that were negotiated; may be none.
        pub attrs: Attrs,
    }

    /// The entry in front. RFC 8881 §20.4.1.
    pub struct prev_entry4 as PrevEntry {
        /// The entry.
        pub prev_entry: NotifyEntry,
        /// Its READDIR cookie.
        pub prev_entry_cookie: u64,
    }

    /// An entry that went. RFC 8881 §20.4.1.
    pub struct notify_remove4 as NotifyRemove {
        /// The entry.
        pub old_entry: NotifyEntry,
        /// Its READDIR cookie; 0 for clients that do not care for order.
        pub old_entry_cookie: u64,
    }

    /// An entry that came. RFC 8881 §20.4.1.
    pub struct notify_add4 as NotifyAdd {
        /// What the name named before: it was renamed over.
        pub old_entry: Option<NotifyRemove>,
        /// The entry.
        pub new_entry: NotifyEntry,
        /// Its READDIR cookie.
        pub new_entry_cookie: Option<u64>,
        /// The entry in front of it, unless it is the first or order does not matter.
        pub prev_entry: Option<PrevEntry>,
        /// Whether it is the last.
        pub last_entry: bool,
    }

    /// An entry that has another name. RFC 8881 §20.4.1.
    pub struct notify_rename4 as NotifyRename {
        /// Under the old name.
        pub old_entry: NotifyRemove,
        /// Under the new name.
        pub new_entry: NotifyAdd,
    }

    /// Cookies are not valid any more. RFC 8881 §20.4.1.
    #[derive(Copy)]
    pub struct notify_verifier4 as NotifyVerifier {
        /// Verifier before.
        pub old_cookieverf: Verifier,
        /// Verifier now.
        pub new_cookieverf: Verifier,
    }
}

/// Something that happened to a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum NotifyEvent {
    /// Attributes of an entry changed (`notify_attr4`).
    ChildAttrs(NotifyEntry),
    /// Attributes of the directory changed (`notify_attr4` with an empty name).
    DirAttrs(NotifyEntry),
    /// An entry went.
    RemoveEntry(NotifyRemove),
    /// An entry came.
    AddEntry(Box<NotifyAdd>),
    /// An entry was renamed.
    RenameEntry(Box<NotifyRename>),
    /// Cookies are not valid any more.
    VerifierChanged(NotifyVerifier),
}

impl NotifyEvent {
    /// Its bit.
    #[must_use]
    pub const fn kind(&self) -> NotifyType {
        match self {
            Self::ChildAttrs(_) => NotifyType::ChangeChildAttrs,
            Self::DirAttrs(_) => NotifyType::ChangeDirAttrs,
            Self::RemoveEntry(_) => NotifyType::RemoveEntry,
            Self::AddEntry(_) => NotifyType::AddEntry,
            Self::RenameEntry(_) => NotifyType::RenameEntry,
            Self::VerifierChanged(_) => NotifyType::ChangeCookieVerifier,
        }
    }

    fn body(&self) -> &dyn Encode {
        match self {
            Self::ChildAttrs(entry) | Self::DirAttrs(entry) => entry,
            Self::RemoveEntry(body) => body,
            Self::AddEntry(body) => body,
            Self::RenameEntry(body) => body,
            Self::VerifierChanged(body) => body,
        }
    }

    fn decode_body(bit: u32, input: Input<'_>) -> Parsed<'_, Self> {
        fn of<T: Decode>(input: Input<'_>, make: fn(T) -> NotifyEvent) -> Parsed<'_, NotifyEvent> {
            let (rest, body) = T::decode(input)?;
            Ok((rest, make(body)))
        }
        match bit {
            0 => of(input, Self::ChildAttrs),
            1 => of(input, Self::DirAttrs),
            2 => of(input, Self::RemoveEntry),
            3 => of(input, Self::AddEntry),
            4 => of(input, Self::RenameEntry),
            5 => of(input, Self::VerifierChanged),
            _ => Err(DecodeError::fail(input, DecodeKind::Unknown { of: UNTYPED, value: bit })),
        }
    }
}

/// The bit that made a decoder stop in a `notify4`: the length of its item is unknown, so nothing behind it can be
/// read. The client answers `NFS4ERR_NOTSUPP` and trusts nothing that it knows of the directory.
#[must_use]
pub fn unsupported_event(error: &DecodeError) -> Option<u32> {
    if let DecodeKind::Unknown { of: UNTYPED, value } = error.kind() { Some(value) } else { None }
}

/// `notify4`: events of different kinds, ascending by kind. RFC 8881 §20.4.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notify(Vec<NotifyEvent>);

impl Notify {
    /// One event.
    #[must_use]
    pub fn one(event: NotifyEvent) -> Self {
        Self(alloc::vec![event])
    }

    /// Several; `None` where two are of one kind. What order in time they had is lost.
    #[must_use]
    pub fn new(mut events: Vec<NotifyEvent>) -> Option<Self> {
        events.sort_by_key(|event| event.kind().to_wire());
        let twice = events.iter().zip(events.iter().skip(1)).any(|(a, b)| a.kind() == b.kind());
        (!twice).then_some(Self(events))
    }

    /// The events, ascending by kind.
    #[must_use]
    pub fn events(&self) -> &[NotifyEvent] {
        &self.0
    }

    /// The events, ascending by kind.
    #[must_use]
    pub fn into_events(self) -> Vec<NotifyEvent> {
        self.0
    }

    fn mask(&self) -> Bitmap {
        self.0.iter().map(|event| event.kind().to_wire()).collect()
    }
}

impl Decode for Notify {
    const MIN_WIRE: usize = 8;

    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (after, mask) = Bitmap::decode(input)?;
        let (rest, mut body) = take_opaque(after, usize::MAX)?;
        let mut events = Vec::new();
        for bit in mask.iter() {
            let name = NotifyType::from_wire(bit).and_then(NotifyType::name).unwrap_or(UNTYPED);
            let (next, event) =
                NotifyEvent::decode_body(bit, body).map_err(|e| e.map(|e| e.within(Step::Field(name))))?;
            events.push(event);
            body = next;
        }
        match body.remaining() {
            0 => Ok((rest, Self(events))),
            n => Err(DecodeError::fail(body, DecodeKind::Trailing(n))),
        }
    }
}

impl Encode for Notify {
    fn encoded_len(&self) -> usize {
        let body = self.0.iter().fold(0_usize, |sum, event| sum.saturating_add(event.body().encoded_len()));
        self.mask().encoded_len().saturating_add(4).saturating_add(padded(body))
    }

    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        self.mask().encode(w)?;
        let len = w.later_u32()?;
        for event in &self.0 {
            event.body().encode(w)?;
        }
        w.close_opaque(len)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Notify {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut events: Vec<NotifyEvent> = Vec::arbitrary(u)?;
        events.sort_by_key(|event| event.kind().to_wire());
        events.dedup_by_key(|event| event.kind());
        Ok(Self(events))
    }
}

xdr_enum! {
    /// Kinds of events of `CB_NOTIFY_DEVICEID`. RFC 8881 §20.12.1. Not to be mixed with [`NotifyType`].
    pub enum notify_deviceid_type4 as NotifyDeviceIdType {
        /// A device's address changed.
        Change = 1 "NOTIFY_DEVICEID4_CHANGE",
        /// A device went.
        Delete = 2 "NOTIFY_DEVICEID4_DELETE",
    }
}

xdr_struct! {
    /// A device that went. RFC 8881 §20.12.1.
    #[derive(Copy)]
    pub struct notify_deviceid_delete4 as NotifyDeviceIdDelete {
        /// Kind of layout.
        pub layouttype: LayoutType,
        /// The device.
        pub deviceid: [u8; 16],
    }

    /// A device whose address changed. RFC 8881 §20.12.1.
    #[derive(Copy)]
    pub struct notify_deviceid_change4 as NotifyDeviceIdChange {
        /// Kind of layout.
        pub layouttype: LayoutType,
        /// The device.
        pub deviceid: [u8; 16],
        /// Whether the old address must not be used any more.
        pub immediate: bool,
    }

    /// `notify4` with its items as they came, for the callbacks that are decoded and not served.
    pub struct notify4 as NotifyRaw {
        /// Which items.
        pub mask: Bitmap,
        /// The items.
        pub vals: Opaque<0x7fff_ffff>,
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use bytes::Bytes;
    use nfs4_xdr::{DecodeKind, Encode, Text, Writer, XdrEnum, from_record};

    use super::{
        Notify, NotifyAdd, NotifyEntry, NotifyEvent, NotifyList, NotifyRemove, NotifyType, NotifyVerifier,
        unsupported_event,
    };
    use crate::Attrs;

    fn entry(name: &'static str) -> NotifyEntry {
        NotifyEntry { file: Text::new(name).unwrap(), attrs: Attrs::new() }
    }

    fn removed(name: &'static str) -> NotifyEvent {
        NotifyEvent::RemoveEntry(NotifyRemove { old_entry: entry(name), old_entry_cookie: 9 })
    }

    fn bytes_of(value: &impl Encode) -> Bytes {
        let mut w = Writer::unlimited();
        value.encode(&mut w).unwrap();
        assert_eq!(w.len(), value.encoded_len());
        w.finish().to_bytes()
    }

    fn words(words: &[u32]) -> Bytes {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn golden_addition_after_a_removal() {
        let added = NotifyEvent::AddEntry(alloc::boxed::Box::new(NotifyAdd {
            old_entry: None,
            new_entry: entry("new"),
            new_entry_cookie: Some(4),
            prev_entry: None,
            last_entry: true,
        }));
        let list = NotifyList::new(vec![Notify::one(removed("old")), Notify::one(added)]).unwrap();
        let wire = words(&[
            2, // two notify4
            1,
            0x4,
            24,
            3,
            0x6f6c_6400,
            0,
            0,
            0,
            9, // REMOVE "old", no attributes, cookie 9
            1,
            0x8,
            40,
            0,
            3,
            0x6e65_7700,
            0,
            0,
            1,
            0,
            4,
            0,
            1, // ADD "new", cookie 4, no predecessor, last
        ]);
        assert_eq!(bytes_of(&list), wire);
        assert_eq!(from_record::<NotifyList>(&wire).unwrap(), list);
    }

    #[test]
    fn events_of_one_notify_stand_in_ascending_order_and_once_each() {
        let verifier =
            NotifyEvent::VerifierChanged(NotifyVerifier { old_cookieverf: [0; 8], new_cookieverf: [1; 8] });
        let both = Notify::new(vec![verifier, removed("x")]).unwrap();
        let kinds: alloc::vec::Vec<_> = both.events().iter().map(NotifyEvent::kind).collect();
        assert_eq!(kinds, [NotifyType::RemoveEntry, NotifyType::ChangeCookieVerifier]);
        assert_eq!(from_record::<Notify>(&bytes_of(&both)).unwrap(), both);
        assert_eq!(Notify::new(vec![removed("x"), removed("y")]), None);
    }

    #[test]
    fn an_unknown_bit_says_which_it_is() {
        for bit in [6, 9, 16, 31] {
            let e = from_record::<Notify>(&words(&[1, 1 << bit, 4, 0])).unwrap_err();
            assert_eq!(unsupported_event(&e), Some(bit));
        }
        // Malformed is another matter.
        let e = from_record::<Notify>(&words(&[1, 1 << 2, 4, 0])).unwrap_err();
        assert_eq!(unsupported_event(&e), None);
        assert!(e.to_string().starts_with("NOTIFY4_REMOVE_ENTRY.old_entry"), "{e}");
    }

    #[test]
    fn items_fill_their_opaque_exactly() {
        let e = from_record::<Notify>(&words(&[1, 0x4, 28, 3, 0x6f6c_6400, 0, 0, 0, 9, 0])).unwrap_err();
        assert_eq!(e.kind(), DecodeKind::Trailing(4));
    }

    #[test]
    fn a_count_that_cannot_fit_allocates_nothing() {
        let e = from_record::<NotifyList>(&words(&[60_000, 0, 0, 0, 0])).unwrap_err();
        assert_eq!(e.kind(), DecodeKind::Count { count: 60_000, left: 16 });
    }

    #[test]
    fn a_mask_may_have_draft_bits_and_unknown_ones() {
        let mask = NotifyType::mask(&[NotifyType::AddEntry, NotifyType::GflagExtend]);
        assert_eq!(mask.words(), [0x48]);
        assert!(NotifyType::GflagExtend.is_in(&mask));
        assert_eq!(NotifyType::from_wire(12), Some(NotifyType::CflagOrder));
        assert_eq!(NotifyType::from_wire(40), Some(NotifyType::Other(40)));
    }
}
