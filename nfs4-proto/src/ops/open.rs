//! Opens: OPEN, OPEN_DOWNGRADE, CLOSE.

use alloc::boxed::Box;

use nfs4_xdr::{xdr_enum, xdr_struct, xdr_union};

use crate::{
    Ace, AttrSet, Attrs, ChangeInfo, Component, OpenResultFlags, ShareAccess, ShareDeny, StateId, StateOwner,
    Verifier,
};

xdr_enum! {
    /// Whether OPEN may create. RFC 8881 §18.16.1.
    pub enum opentype4 as OpenType {
        /// It may not.
        NoCreate = 0 "OPEN4_NOCREATE",
        /// It may.
        Create = 1 "OPEN4_CREATE",
    }
}

xdr_enum! {
    /// How OPEN creates. RFC 8881 §18.16.1.
    pub enum createmode4 as CreateMode {
        /// What is there already is taken.
        Unchecked = 0 "UNCHECKED4",
        /// What is there already is an error.
        Guarded = 1 "GUARDED4",
        /// Once, recognised by a verifier; attributes are set afterwards.
        Exclusive = 2 "EXCLUSIVE4",
        /// Once, recognised by a verifier, with attributes.
        Exclusive41 = 3 "EXCLUSIVE4_1",
    }
}

xdr_union! {
    /// How OPEN creates, with what. RFC 8881 §18.16.1.
    pub union createhow4 as CreateHow switch (CreateMode) {
        /// What is there already is taken.
        Unchecked => Unchecked(Box<Attrs>),
        /// What is there already is an error.
        Guarded => Guarded(Box<Attrs>),
        /// Once, recognised by a verifier.
        Exclusive => Exclusive(Verifier),
        /// Once, recognised by a verifier, with attributes.
        Exclusive41 => Exclusive41 {
            /// Recognises the same creation sent again.
            verifier: Verifier,
            /// The first attributes.
            attrs: Box<Attrs>,
        },
    }
}

xdr_union! {
    /// Whether and how OPEN creates. RFC 8881 §18.16.1.
    pub union openflag4 as OpenHow switch (OpenType) {
        /// The file must be there.
        NoCreate => NoCreate,
        /// It is created.
        Create => Create(CreateHow),
    }
}

xdr_enum! {
    /// Kinds of delegation in OPEN. RFC 8881 §18.16.1, RFC 9754.
    pub enum open_delegation_type4 as DelegationType {
        /// None.
        None = 0 "OPEN_DELEGATE_NONE",
        /// For reading.
        Read = 1 "OPEN_DELEGATE_READ",
        /// For writing.
        Write = 2 "OPEN_DELEGATE_WRITE",
        /// None, with the reason.
        NoneExt = 3 "OPEN_DELEGATE_NONE_EXT",
        /// For reading, with the access time.
        ReadAttrs = 4 "OPEN_DELEGATE_READ_ATTRS_DELEG",
        /// For writing, with access and modification times.
        WriteAttrs = 5 "OPEN_DELEGATE_WRITE_ATTRS_DELEG",
    }
}

xdr_enum! {
    /// By what right a file is opened. RFC 8881 §18.16.1.
    pub enum open_claim_type4 as ClaimType {
        /// A name in the current directory.
        Null = 0 "CLAIM_NULL",
        /// An open of before the server's restart.
        Previous = 1 "CLAIM_PREVIOUS",
        /// A delegation and a name.
        DelegateCur = 2 "CLAIM_DELEGATE_CUR",
        /// A delegation of before the client's restart and a name.
        DelegatePrev = 3 "CLAIM_DELEGATE_PREV",
        /// The current filehandle.
        Fh = 4 "CLAIM_FH",
        /// A delegation and the current filehandle.
        DelegCurFh = 5 "CLAIM_DELEG_CUR_FH",
        /// A delegation of before the client's restart and the current filehandle.
        DelegPrevFh = 6 "CLAIM_DELEG_PREV_FH",
    }
}

xdr_union! {
    /// What is opened and by what right. RFC 8881 §18.16.1.
    pub union open_claim4 as OpenClaim switch (ClaimType) {
        /// This name in the current directory.
        Null => Null(Component),
        /// The current file, open before the server's restart, with this delegation.
        Previous => Previous(DelegationType),
        /// A name in the current directory, under a delegation.
        DelegateCur => DelegateCur {
            /// The delegation.
            stateid: StateId,
            /// The name.
            file: Component,
        },
        /// A name in the current directory, under a delegation of before the client's restart.
        DelegatePrev => DelegatePrev(Component),
        /// The current file.
        Fh => Fh,
        /// The current file, under this delegation.
        DelegCurFh => DelegCurFh(StateId),
        /// The current file, under a delegation of before the client's restart.
        DelegPrevFh => DelegPrevFh,
    }
}

xdr_enum! {
    /// How a write delegation is limited. RFC 8881 §18.16.1.
    pub enum limit_by4 as LimitBy {
        /// By the size of the file.
        Size = 1 "NFS_LIMIT_SIZE",
        /// By a number of blocks.
        Blocks = 2 "NFS_LIMIT_BLOCKS",
    }
}

xdr_union! {
    /// How much a holder may write before it must flush at close. RFC 8881 §18.16.1.
    pub union nfs_space_limit4 as SpaceLimit switch (LimitBy) {
        /// To this size.
        Size => Size(u64),
        /// This many blocks.
        Blocks => Blocks {
            /// Blocks.
            num_blocks: u32,
            /// Bytes of each.
            bytes_per_block: u32,
        },
    }
}

xdr_enum! {
    /// Why there is no delegation. RFC 8881 §18.16.1.
    pub enum why_no_delegation4 as WhyNoDelegation {
        /// The client did not want one.
        NotWanted = 0 "WND4_NOT_WANTED",
        /// Others use the file.
        Contention = 1 "WND4_CONTENTION",
        /// The server's limits.
        Resource = 2 "WND4_RESOURCE",
        /// Not for this kind of object.
        NotSuppFtype = 3 "WND4_NOT_SUPP_FTYPE",
        /// Not for writing to this kind of object.
        WriteDelegNotSuppFtype = 4 "WND4_WRITE_DELEG_NOT_SUPP_FTYPE",
        /// No upgrade in place.
        NotSuppUpgrade = 5 "WND4_NOT_SUPP_UPGRADE",
        /// No downgrade in place.
        NotSuppDowngrade = 6 "WND4_NOT_SUPP_DOWNGRADE",
        /// The client cancelled.
        Cancelled = 7 "WND4_CANCELLED",
        /// The object is a directory.
        IsDir = 8 "WND4_IS_DIR",
    }
}

xdr_union! {
    /// Why there is no delegation, and whether one may come. RFC 8881 §18.16.2.
    pub union open_none_delegation4 as NoDelegation switch (WhyNoDelegation) {
        /// The client did not want one.
        NotWanted => NotWanted,
        /// Others use the file.
        Contention => Contention {
            /// CB_PUSH_DELEG will bring it when they no longer do.
            will_push: bool,
        },
        /// The server's limits.
        Resource => Resource {
            /// CB_RECALLABLE_OBJ_AVAIL will tell.
            will_signal: bool,
        },
        /// Not for this kind of object.
        NotSuppFtype => NotSuppFtype,
        /// Not for writing to this kind of object.
        WriteDelegNotSuppFtype => WriteDelegNotSuppFtype,
        /// No upgrade in place.
        NotSuppUpgrade => NotSuppUpgrade,
        /// No downgrade in place.
        NotSuppDowngrade => NotSuppDowngrade,
        /// The client cancelled.
        Cancelled => Cancelled,
        /// The object is a directory.
        IsDir => IsDir,
        ;
        /// A reason without a name.
        else Other
    }
}

xdr_struct! {
    /// A delegation for reading. RFC 8881 §18.16.2.
    pub struct open_read_delegation4 as ReadDelegation {
        /// Its name.
        pub stateid: StateId,
        /// It is recalled already: return it after use.
        pub recall: bool,
        /// Who may read without asking.
        pub permissions: Ace,
    }

    /// A delegation for writing. RFC 8881 §18.16.2.
    pub struct open_write_delegation4 as WriteDelegation {
        /// Its name.
        pub stateid: StateId,
        /// It is recalled already: return it after use.
        pub recall: bool,
        /// How much may be written before a flush at close.
        pub space_limit: SpaceLimit,
        /// Who may read and write without asking.
        pub permissions: Ace,
    }
}

xdr_union! {
    /// What OPEN says of a delegation. RFC 8881 §18.16.2, RFC 9754.
    pub union open_delegation4 as OpenDelegation switch (DelegationType) {
        /// None.
        None => None,
        /// For reading.
        Read => Read(ReadDelegation),
        /// For writing.
        Write => Write(WriteDelegation),
        /// None, with the reason.
        NoneExt => NoneExt(NoDelegation),
        /// For reading, with the access time.
        ReadAttrs => ReadAttrs(ReadDelegation),
        /// For writing, with access and modification times.
        WriteAttrs => WriteAttrs(WriteDelegation),
    }
}

xdr_struct! {
    /// RFC 8881 §18.16.1.
    pub struct OPEN4args as OpenArgs {
        /// Ignored in 4.1.
        pub seqid: u32,
        /// Access, and the delegation wanted.
        pub share_access: ShareAccess,
        /// What others may not do meanwhile.
        pub share_deny: ShareDeny,
        /// Who opens.
        pub owner: StateOwner,
        /// Whether and how to create.
        pub openhow: OpenHow,
        /// What, and by what right.
        pub claim: OpenClaim,
    }

    /// RFC 8881 §18.16.2.
    pub struct OPEN4resok as OpenOk {
        /// The open.
        pub stateid: StateId,
        /// The directory's change.
        pub cinfo: ChangeInfo,
        /// What the server does.
        pub rflags: OpenResultFlags,
        /// The attributes that were set.
        pub attrset: AttrSet,
        /// The delegation.
        pub delegation: OpenDelegation,
    }

    /// RFC 8881 §18.18.1.
    #[derive(Copy)]
    pub struct OPEN_DOWNGRADE4args as OpenDowngradeArgs {
        /// The open.
        pub open_stateid: StateId,
        /// Ignored in 4.1.
        pub seqid: u32,
        /// The access that stays.
        pub share_access: ShareAccess,
        /// The denial that stays.
        pub share_deny: ShareDeny,
    }

    /// RFC 8881 §18.18.2.
    #[derive(Copy)]
    pub struct OPEN_DOWNGRADE4resok as OpenDowngradeOk {
        /// The open, one older.
        pub open_stateid: StateId,
    }

    /// RFC 8881 §18.2.1.
    #[derive(Copy)]
    pub struct CLOSE4args as CloseArgs {
        /// Ignored in 4.1.
        pub seqid: u32,
        /// The open.
        pub open_stateid: StateId,
    }
}
