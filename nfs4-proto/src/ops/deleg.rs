//! Delegations and stateids: DELEGRETURN, GET_DIR_DELEGATION, WANT_DELEGATION, TEST_STATEID.

use nfs4_xdr::{List, xdr_enum, xdr_struct, xdr_union};

use crate::{
    AttrSet, Bitmap4, ClaimType, ClientId, DelegationType, NfsTime, ShareAccess, StateId, Status, Verifier,
};

xdr_struct! {
    /// RFC 8881 §18.5.1.
    #[derive(Copy)]
    pub struct DELEGPURGE4args as DelegpurgeArgs {
        /// Ignored: the session says it.
        pub clientid: ClientId,
    }

    /// RFC 8881 §18.6.1.
    #[derive(Copy)]
    pub struct DELEGRETURN4args as DelegreturnArgs {
        /// The delegation.
        pub deleg_stateid: StateId,
    }

    /// RFC 8881 §18.38.1.
    #[derive(Copy)]
    pub struct FREE_STATEID4args as FreeStateidArgs {
        /// The state to forget.
        pub stateid: StateId,
    }

    /// RFC 8881 §18.48.1.
    pub struct TEST_STATEID4args as TestStateidArgs {
        /// The states to test.
        pub stateids: List<StateId, 65_536>,
    }

    /// RFC 8881 §18.48.2.
    pub struct TEST_STATEID4resok as TestStateidOk {
        /// One for each, in order.
        pub status_codes: List<Status, 65_536>,
    }

    /// RFC 8881 §18.39.1.
    pub struct GET_DIR_DELEGATION4args as GetDirDelegationArgs {
        /// Tell when one can be had.
        pub signal_deleg_avail: bool,
        /// Bits of `notify_type4`.
        pub notification_types: Bitmap4,
        /// How long changes of a child's attributes may wait.
        pub child_attr_delay: NfsTime,
        /// How long changes of the directory's attributes may wait.
        pub dir_attr_delay: NfsTime,
        /// Attributes of children to be told.
        pub child_attributes: AttrSet,
        /// Attributes of the directory to be told.
        pub dir_attributes: AttrSet,
    }

    /// RFC 8881 §18.39.2.
    pub struct GET_DIR_DELEGATION4resok as GetDirDelegationOk {
        /// The verifier of cookies in notifications.
        pub cookieverf: Verifier,
        /// The delegation.
        pub stateid: StateId,
        /// Bits of `notify_type4` that will be told.
        pub notification: Bitmap4,
        /// Attributes of children that will be told.
        pub child_attributes: AttrSet,
        /// Attributes of the directory that will be told.
        pub dir_attributes: AttrSet,
    }
}

xdr_enum! {
    /// RFC 8881 §18.39.2.
    pub enum gddrnf4_status as GddStatus {
        /// Given.
        Ok = 0 "GDD4_OK",
        /// Not given, which is no error.
        Unavail = 1 "GDD4_UNAVAIL",
    }
}

xdr_union! {
    /// RFC 8881 §18.39.2 (`GET_DIR_DELEGATION4res_non_fatal`).
    pub union GET_DIR_DELEGATION4res_non_fatal as GetDirDelegationRes switch (GddStatus) {
        /// Given.
        Ok => Ok(GetDirDelegationOk),
        /// Not given; the rest of the compound goes on.
        Unavail => Unavail {
            /// CB_RECALLABLE_OBJ_AVAIL will tell.
            will_signal: bool,
        },
    }
}

xdr_union! {
    /// By what right a delegation is wanted. RFC 8881 §18.49.1: three of the claims.
    pub union deleg_claim4 as DelegClaim switch (ClaimType) {
        /// The current file.
        Fh => Fh,
        /// The current file, under a delegation of before the client's restart.
        DelegPrevFh => DelegPrevFh,
        /// The current file, whose delegation was held before the server's restart.
        Previous => Previous(DelegationType),
    }
}

xdr_struct! {
    /// RFC 8881 §18.49.1.
    pub struct WANT_DELEGATION4args as WantDelegationArgs {
        /// The delegation wanted.
        pub want: ShareAccess,
        /// By what right.
        pub claim: DelegClaim,
    }
}
