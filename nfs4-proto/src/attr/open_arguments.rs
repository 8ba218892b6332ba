//! `open_arguments`: which arguments of OPEN a server knows. RFC 9754.

use nfs4_xdr::{Bitmap, XdrEnum, xdr_enum, xdr_struct};

xdr_enum! {
    /// Bits of `oa_share_access`.
    pub enum open_args_share_access4 as OaShareAccess {
        /// `OPEN4_SHARE_ACCESS_READ`.
        Read = 1 "OPEN_ARGS_SHARE_ACCESS_READ",
        /// `OPEN4_SHARE_ACCESS_WRITE`.
        Write = 2 "OPEN_ARGS_SHARE_ACCESS_WRITE",
        /// `OPEN4_SHARE_ACCESS_BOTH`.
        Both = 3 "OPEN_ARGS_SHARE_ACCESS_BOTH",
    }
}

xdr_enum! {
    /// Bits of `oa_share_deny`.
    pub enum open_args_share_deny4 as OaShareDeny {
        /// `OPEN4_SHARE_DENY_NONE`.
        None = 0 "OPEN_ARGS_SHARE_DENY_NONE",
        /// `OPEN4_SHARE_DENY_READ`.
        Read = 1 "OPEN_ARGS_SHARE_DENY_READ",
        /// `OPEN4_SHARE_DENY_WRITE`.
        Write = 2 "OPEN_ARGS_SHARE_DENY_WRITE",
        /// `OPEN4_SHARE_DENY_BOTH`.
        Both = 3 "OPEN_ARGS_SHARE_DENY_BOTH",
    }
}

xdr_enum! {
    /// Bits of `oa_share_access_want`: numbers of their own, not those of the flags in OPEN (17 and 18 would be 16 and
    /// 17 there).
    pub enum open_args_share_access_want4 as OaWant {
        /// Any delegation: read, write, or either.
        AnyDeleg = 3 "OPEN_ARGS_SHARE_ACCESS_WANT_ANY_DELEG",
        /// No delegation.
        NoDeleg = 4 "OPEN_ARGS_SHARE_ACCESS_WANT_NO_DELEG",
        /// No more wants.
        Cancel = 5 "OPEN_ARGS_SHARE_ACCESS_WANT_CANCEL",
        /// A signal when a delegation may be had.
        SignalDelegWhenResrcAvail = 17 "OPEN_ARGS_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL",
        /// A delegation when nobody contends any more.
        PushDelegWhenUncontended = 18 "OPEN_ARGS_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED",
        /// Times are delegated too.
        DelegTimestamps = 20 "OPEN_ARGS_SHARE_ACCESS_WANT_DELEG_TIMESTAMPS",
        /// An open stateid or a delegation, not both.
        OpenXorDelegation = 21 "OPEN_ARGS_SHARE_ACCESS_WANT_OPEN_XOR_DELEGATION",
    }
}

xdr_enum! {
    /// Bits of `oa_open_claim`.
    pub enum open_args_open_claim4 as OaClaim {
        /// `CLAIM_NULL`.
        Null = 0 "OPEN_ARGS_OPEN_CLAIM_NULL",
        /// `CLAIM_PREVIOUS`.
        Previous = 1 "OPEN_ARGS_OPEN_CLAIM_PREVIOUS",
        /// `CLAIM_DELEGATE_CUR`.
        DelegateCur = 2 "OPEN_ARGS_OPEN_CLAIM_DELEGATE_CUR",
        /// `CLAIM_DELEGATE_PREV`.
        DelegatePrev = 3 "OPEN_ARGS_OPEN_CLAIM_DELEGATE_PREV",
        /// `CLAIM_FH`.
        Fh = 4 "OPEN_ARGS_OPEN_CLAIM_FH",
        /// `CLAIM_DELEG_CUR_FH`.
        DelegCurFh = 5 "OPEN_ARGS_OPEN_CLAIM_DELEG_CUR_FH",
        /// `CLAIM_DELEG_PREV_FH`.
        DelegPrevFh = 6 "OPEN_ARGS_OPEN_CLAIM_DELEG_PREV_FH",
    }
}

xdr_enum! {
    /// Bits of `oa_create_mode`.
    pub enum open_args_createmode4 as OaCreateMode {
        /// UNCHECKED4.
        Unchecked = 0 "OPEN_ARGS_CREATEMODE_UNCHECKED4",
        /// GUARDED4.
        Guarded = 1 "OPEN_ARGS_CREATE_MODE_GUARDED",
        /// EXCLUSIVE4.
        Exclusive = 2 "OPEN_ARGS_CREATEMODE_EXCLUSIVE4",
        /// `EXCLUSIVE4_1`.
        Exclusive41 = 3 "OPEN_ARGS_CREATE_MODE_EXCLUSIVE4_1",
    }
}

xdr_struct! {
    /// What OPEN takes. RFC 9754. Bits are the numbers of the enumerations of this module; others are kept.
    #[derive(Default)]
    pub struct open_arguments4 as OpenArguments {
        /// [`OaShareAccess`].
        pub share_access: Bitmap,
        /// [`OaShareDeny`].
        pub share_deny: Bitmap,
        /// [`OaWant`].
        pub share_access_want: Bitmap,
        /// [`OaClaim`].
        pub open_claim: Bitmap,
        /// [`OaCreateMode`].
        pub create_mode: Bitmap,
    }
}

fn bits<T: XdrEnum>(values: &[T]) -> Bitmap {
    values.iter().map(|value| value.to_wire()).collect()
}

impl OpenArguments {
    /// From lists.
    #[must_use]
    pub fn new(
        access: &[OaShareAccess],
        deny: &[OaShareDeny],
        wants: &[OaWant],
        claims: &[OaClaim],
        create_modes: &[OaCreateMode],
    ) -> Self {
        Self {
            share_access: bits(access),
            share_deny: bits(deny),
            share_access_want: bits(wants),
            open_claim: bits(claims),
            create_mode: bits(create_modes),
        }
    }

    /// Whether a want may be sent.
    #[must_use]
    pub fn wants(&self, want: OaWant) -> bool {
        self.share_access_want.contains(want.to_wire())
    }

    /// Whether a claim may be sent.
    #[must_use]
    pub fn claims(&self, claim: OaClaim) -> bool {
        self.open_claim.contains(claim.to_wire())
    }
}
