//! Data: READ, WRITE, COMMIT.

use bytes::{Bytes, BytesMut};
use nfs4_xdr::{Decode, Encode, EncodeError, Input, Opaque, Parsed, Writer, padded, xdr_enum, xdr_struct};
use smallvec::SmallVec;

use crate::{StateId, Verifier};

/// Data of a file in a request: a slice of the record, whose size bounds it.
pub type Data = Opaque<0x7fff_ffff>;

xdr_enum! {
    /// How safe written data are. RFC 8881 §18.32.1.
    pub enum stable_how4 as StableHow {
        /// In memory, until COMMIT.
        Unstable = 0 "UNSTABLE4",
        /// Data are on stable storage.
        DataSync = 1 "DATA_SYNC4",
        /// Data and metadata are on stable storage.
        FileSync = 2 "FILE_SYNC4",
    }
}

/// What was read, in the pieces in which the backend had it. Encoding shares them; decoding gives one piece, a slice of
/// the record. Equal where the bytes are.
#[derive(Clone, Debug, Default)]
pub struct ReadData(SmallVec<[Bytes; 2]>);

impl ReadData {
    /// From pieces, in order.
    #[must_use]
    pub fn from_pieces(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        Self(pieces.into_iter().collect())
    }

    /// The pieces.
    #[must_use]
    pub fn pieces(&self) -> &[Bytes] {
        &self.0
    }

    /// Bytes in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().fold(0, |sum, piece| sum.saturating_add(piece.len()))
    }

    /// Whether there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }

    /// All in one piece; copies only where there are several.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        if let [only] = self.0.as_slice() {
            return only.clone();
        }
        let mut all = BytesMut::with_capacity(self.len());
        self.0.iter().for_each(|piece| all.extend_from_slice(piece));
        all.freeze()
    }
}

impl From<Bytes> for ReadData {
    fn from(bytes: Bytes) -> Self {
        Self::from_pieces([bytes])
    }
}

impl PartialEq for ReadData {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().flatten().eq(other.0.iter().flatten())
    }
}

impl Eq for ReadData {}

impl Decode for ReadData {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, data) = Data::decode(input)?;
        Ok((rest, Self::from(data.into_bytes())))
    }
}

impl Encode for ReadData {
    fn encoded_len(&self) -> usize {
        padded(self.len()).saturating_add(4)
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_pieces(&self.0)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for ReadData {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let (a, b): (Data, Data) = u.arbitrary()?;
        Ok(Self::from_pieces([a.into_bytes(), b.into_bytes()]))
    }
}

xdr_struct! {
    /// RFC 8881 §18.22.1.
    #[derive(Copy)]
    pub struct READ4args as ReadArgs {
        /// By what right.
        pub stateid: StateId,
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub count: u32,
    }

    /// RFC 8881 §18.22.2.
    pub struct READ4resok as ReadOk {
        /// The data reach to the end of the file.
        pub eof: bool,
        /// The data.
        pub data: ReadData,
    }

    /// RFC 8881 §18.32.1.
    pub struct WRITE4args as WriteArgs {
        /// By what right.
        pub stateid: StateId,
        /// First byte.
        pub offset: u64,
        /// How safe the data must be before the reply.
        pub stable: StableHow,
        /// The data.
        pub data: Data,
    }

    /// RFC 8881 §18.32.2.
    #[derive(Copy)]
    pub struct WRITE4resok as WriteOk {
        /// Bytes written.
        pub count: u32,
        /// How safe they are.
        pub committed: StableHow,
        /// Changes when unstable data may be lost.
        pub writeverf: Verifier,
    }

    /// RFC 8881 §18.3.1.
    #[derive(Copy)]
    pub struct COMMIT4args as CommitArgs {
        /// First byte.
        pub offset: u64,
        /// Bytes; 0: to the end.
        pub count: u32,
    }

    /// RFC 8881 §18.3.2.
    #[derive(Copy)]
    pub struct COMMIT4resok as CommitOk {
        /// Changes when unstable data may be lost.
        pub writeverf: Verifier,
    }
}
