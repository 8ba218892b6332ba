//! Filehandles: version 1 · export 4 · the backend's part · MAC 8.
//!
//! The MAC is there because `open_by_handle_at` opens any inode of a file system: a handle that a client could make up
//! would be a way out of the export.

use std::hash::Hasher;

use nfs4_proto::{Fh, NFS4_FHSIZE, Status};
use siphasher::sip::SipHasher24;
use smallvec::SmallVec;

const VERSION: u8 = 1;
const HEAD: usize = 5;
const MAC: usize = 8;

/// The key of the MAC: kept with the state, so that handles survive a restart.
#[derive(Clone)]
pub struct HandleKey(SipHasher24);

impl std::fmt::Debug for HandleKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HandleKey")
    }
}

impl HandleKey {
    /// From 16 secret bytes.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(key))
    }

    fn mac(&self, body: &[u8]) -> [u8; MAC] {
        let mut hasher = self.0;
        hasher.write(body);
        hasher.finish().to_be_bytes()
    }

    /// A handle.
    #[must_use]
    pub fn seal(&self, export: u32, raw: &[u8]) -> Fh {
        let mut bytes: SmallVec<[u8; NFS4_FHSIZE]> = SmallVec::new();
        bytes.push(VERSION);
        bytes.extend_from_slice(&export.to_be_bytes());
        // Backends promise at most 100 bytes; one that lied would get a handle that nobody can open.
        bytes.extend_from_slice(raw.get(..NFS4_FHSIZE - HEAD - MAC).unwrap_or(raw));
        let mac = self.mac(&bytes);
        bytes.extend_from_slice(&mac);
        Fh::new(bytes::Bytes::copy_from_slice(&bytes)).unwrap_or_default()
    }

    /// Export number and backend's part. Not our form: NFS4ERR_BADHANDLE. Our form with another MAC (a server without
    /// kept state was restarted, or the handle is forged): NFS4ERR_STALE, from which clients recover.
    pub fn open<'a>(&self, fh: &'a [u8]) -> Result<(u32, &'a [u8]), Status> {
        let (body, mac) = fh.split_last_chunk::<MAC>().ok_or(Status::BadHandle)?;
        let (head, raw) = body.split_first_chunk::<HEAD>().ok_or(Status::BadHandle)?;
        let [version, export @ ..] = *head;
        if version != VERSION {
            return Err(Status::BadHandle);
        }
        if self.mac(body) != *mac {
            return Err(Status::Stale);
        }
        Ok((u32::from_be_bytes(export), raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_opens_to_what_was_sealed() {
        let key = HandleKey::new(&[1; 16]);
        let fh = key.seal(77, b"object");
        assert_eq!(key.open(&fh), Ok((77, &b"object"[..])));
    }

    #[test]
    fn a_forged_handle_is_stale_whatever_bit_was_changed() {
        let key = HandleKey::new(&[1; 16]);
        let fh = key.seal(77, b"object");
        for bit in 0..fh.len() * 8 {
            let mut forged = fh.to_vec();
            forged[bit / 8] ^= 1 << (bit % 8);
            let error = key.open(&forged).unwrap_err();
            assert!(matches!(error, Status::Stale | Status::BadHandle), "bit {bit}");
        }
        assert_eq!(HandleKey::new(&[2; 16]).open(&fh), Err(Status::Stale));
    }

    #[test]
    fn bytes_of_another_form_are_bad_handles() {
        let key = HandleKey::new(&[1; 16]);
        for bad in [&b""[..], b"x", &[9; 12], &[9; 128]] {
            assert_eq!(key.open(bad), Err(Status::BadHandle));
        }
    }
}
