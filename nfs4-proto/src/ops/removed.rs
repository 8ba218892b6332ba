//! What 4.0 had and 4.1 took away: decoded, so that NFS4ERR_NOTSUPP can be answered at its place (RFC 8881 §15.2); the
//! shapes are RFC 7531's.

use nfs4_xdr::{Opaque, xdr_struct};

use crate::outcome::op_error;
use crate::{ClientId, NFS4_OPAQUE_LIMIT, NetAddr, StateId, StateOwner, Verifier};

xdr_struct! {
    /// RFC 7530 §16.18.
    #[derive(Copy)]
    pub struct OPEN_CONFIRM4args as OpenConfirmArgs {
        /// The open.
        pub open_stateid: StateId,
        /// The owner's sequence.
        pub seqid: u32,
    }

    /// RFC 7530 §16.28.
    #[derive(Copy)]
    pub struct RENEW4args as RenewArgs {
        /// The client.
        pub clientid: ClientId,
    }

    /// RFC 7530 §16.33 (`nfs_client_id4`, `cb_client4`).
    pub struct SETCLIENTID4args as SetclientidArgs {
        /// Changes when the client restarts.
        pub verifier: Verifier,
        /// Stays the same.
        pub id: Opaque<NFS4_OPAQUE_LIMIT>,
        /// RPC program of callbacks.
        pub cb_program: u32,
        /// Where callbacks go.
        pub cb_location: NetAddr,
        /// Told in callbacks.
        pub callback_ident: u32,
    }

    /// SETCLIENTID's result and SETCLIENTID_CONFIRM's arguments. RFC 7530 §16.33, §16.34.
    #[derive(Copy)]
    pub struct SETCLIENTID4resok as SetclientidOk {
        /// The client's ID.
        pub clientid: ClientId,
        /// Confirms it.
        pub setclientid_confirm: Verifier,
    }

    /// RFC 7530 §16.37.
    pub struct RELEASE_LOCKOWNER4args as ReleaseLockownerArgs {
        /// The owner.
        pub lock_owner: StateOwner,
    }
}

op_error! {
    /// Why SETCLIENTID failed. RFC 7530 §16.33.
    pub enum SetclientidError {
        /// NFS4ERR_CLID_INUSE with the other's address.
        ClidInUse => ClidInUse(NetAddr)
    }
}
