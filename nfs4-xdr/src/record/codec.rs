//! Record marking for `tokio_util::codec`. It copies what it writes, as its interface has one buffer only; who wants
//! no copy writes [`Segments`](crate::Segments) to the socket.

use bytes::{BufMut, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use super::{Deframer, LAST_FRAGMENT, RecordError, RecordLimits};

/// Records as frames.
#[derive(Debug)]
pub struct RecordCodec {
    deframer: Deframer,
    limits: RecordLimits,
}

impl RecordCodec {
    /// With these bounds.
    #[must_use]
    pub fn new(limits: RecordLimits) -> Self {
        Self { deframer: Deframer::new(limits), limits }
    }
}

fn io_error(error: RecordError) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, error)
}

impl Decoder for RecordCodec {
    type Item = Bytes;
    type Error = std::io::Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Bytes>, std::io::Error> {
        self.deframer.buffer().unsplit(src.split());
        self.deframer.next().map_err(io_error)
    }
}

impl Encoder<Bytes> for RecordCodec {
    type Error = std::io::Error;

    fn encode(&mut self, record: Bytes, dst: &mut BytesMut) -> Result<(), std::io::Error> {
        let most = usize::try_from(LAST_FRAGMENT - 1).unwrap_or(usize::MAX).min(self.limits.bytes);
        let len = u32::try_from(record.len()).ok().filter(|_| record.len() <= most);
        let Some(len) = len else {
            return Err(io_error(RecordError::TooLong { len: record.len(), max: most }));
        };
        dst.reserve(record.len().saturating_add(4));
        dst.put_u32(len | LAST_FRAGMENT);
        dst.put_slice(&record);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_decodes_again_in_any_pieces() {
        let mut codec = RecordCodec::new(RecordLimits::default());
        let mut wire = BytesMut::new();
        codec.encode(Bytes::from_static(b"hello"), &mut wire).unwrap();
        codec.encode(Bytes::from_static(b""), &mut wire).unwrap();
        let mut got = std::vec::Vec::new();
        for byte in wire {
            let mut piece = BytesMut::from(&[byte][..]);
            while let Some(record) = codec.decode(&mut piece).unwrap() {
                got.push(record);
            }
        }
        assert_eq!(got, [&b"hello"[..], b""]);
    }
}
