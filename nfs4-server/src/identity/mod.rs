//! Owner strings (RFC 8881 §5.9).
//!
//! Under AUTH_SYS users are numbers, and they are told as plain decimal numbers: that is what Linux, FreeBSD and macOS
//! clients take when no identity mapping is set up, and it cannot be wrong. A string that is no such number is
//! NFS4ERR_BADOWNER.

use nfs4_proto::Status;

/// The number of an owner string: decimal digits without sign and without zeros in front.
pub fn number_of(owner: &[u8]) -> Result<u32, Status> {
    let digits = !owner.is_empty() && owner.iter().all(u8::is_ascii_digit);
    if owner.is_empty() {
        return Err(Status::Inval);
    }
    if !digits || (owner.len() > 1 && owner.starts_with(b"0")) {
        return Err(Status::BadOwner);
    }
    let text = std::str::from_utf8(owner).map_err(|_| Status::BadOwner)?;
    text.parse().map_err(|_| Status::BadOwner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimal_numbers_are_owners() {
        assert_eq!(number_of(b"0"), Ok(0));
        assert_eq!(number_of(b"4294967295"), Ok(u32::MAX));
        for bad in [&b"01"[..], b"+1", b"-1", b"4294967296", b"ghost@domain", b"1 ", b"\xff"] {
            assert_eq!(number_of(bad), Err(Status::BadOwner), "{bad:?}");
        }
        assert_eq!(number_of(b""), Err(Status::Inval));
    }
}
