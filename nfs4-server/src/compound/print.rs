//! The fingerprint of a request: what a retry must agree with (RFC 8881 §2.10.6.1.3.1).

use std::hash::Hasher;

use nfs4_proto::ArgOp;
use siphasher::sip::SipHasher13;

use crate::net::Call;

/// Data shorter than this are hashed like everything else.
const SKIP_FROM: usize = 256;

/// Principal, length and the whole body, but for the data of large WRITEs: hashing them would cost more than it finds.
pub(super) fn fingerprint(call: &Call, ops: &[ArgOp]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(&call.principal);
    let record: &[u8] = &call.record;
    hasher.write_usize(record.len());
    let mut at = call.body_at;
    for op in ops {
        if let ArgOp::Write(args) = op
            && args.data.len() >= SKIP_FROM
        {
            // The data are a slice of the record.
            let start = (args.data.as_ptr() as usize).saturating_sub(record.as_ptr() as usize);
            hasher.write(record.get(at..start).unwrap_or_default());
            at = start.saturating_add(args.data.len());
        }
    }
    hasher.write(record.get(at..).unwrap_or_default());
    hasher.finish()
}
