//! Holes and space: ALLOCATE, DEALLOCATE, IO_ADVISE, READ_PLUS, SEEK, WRITE_SAME (RFC 7862).

use nfs4_xdr::{List, Opaque, xdr_enum, xdr_struct, xdr_union};

use crate::{Bitmap4, StableHow, StateId, Verifier};

use super::io::ReadData;

xdr_enum! {
    /// What lies in a range. RFC 7862 §15.10.2. Values to come are legal input: NFS4ERR_UNION_NOTSUPP.
    pub open enum data_content4 as DataContent {
        /// Data.
        Data = 0 "NFS4_CONTENT_DATA",
        /// A hole.
        Hole = 1 "NFS4_CONTENT_HOLE",
    }
}

xdr_struct! {
    /// ALLOCATE and DEALLOCATE. RFC 7862 §15.1.1, §15.4.1.
    #[derive(Copy)]
    pub struct ALLOCATE4args as AllocateArgs {
        /// By what right.
        pub stateid: StateId,
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub length: u64,
    }

    /// RFC 7862 §15.5.1.
    pub struct IO_ADVISE4args as IoAdviseArgs {
        /// By what right.
        pub stateid: StateId,
        /// First byte.
        pub offset: u64,
        /// Bytes; 0: to the end.
        pub count: u64,
        /// Bits of `IO_ADVISE_type4`.
        pub hints: Bitmap4,
    }

    /// RFC 7862 §15.5.2.
    pub struct IO_ADVISE4resok as IoAdviseOk {
        /// Those that are followed.
        pub hints: Bitmap4,
    }

    /// RFC 7862 §15.10.1.
    #[derive(Copy)]
    pub struct READ_PLUS4args as ReadPlusArgs {
        /// By what right.
        pub stateid: StateId,
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub count: u32,
    }

    /// RFC 7862 §15.10.2.
    pub struct read_plus_res4 as ReadPlusOk {
        /// The contents reach to the end of the file.
        pub eof: bool,
        /// Data and holes, ascending.
        pub contents: List<ReadPlusContent, 65_536>,
    }

    /// RFC 7862 §15.11.1.
    #[derive(Copy)]
    pub struct SEEK4args as SeekArgs {
        /// By what right.
        pub stateid: StateId,
        /// Where to begin.
        pub offset: u64,
        /// What to look for.
        pub what: DataContent,
    }

    /// RFC 7862 §15.11.2.
    #[derive(Copy)]
    pub struct seek_res4 as SeekOk {
        /// Nothing more until the end of the file.
        pub eof: bool,
        /// Where it begins.
        pub offset: u64,
    }

    /// A pattern of data. RFC 7862 §8.1.1.
    pub struct app_data_block4 as AppDataBlock {
        /// First byte.
        pub offset: u64,
        /// Bytes of a block.
        pub block_size: u64,
        /// Blocks.
        pub block_count: u64,
        /// Where in a block its number goes.
        pub reloff_blocknum: u64,
        /// The first block's number.
        pub block_num: u32,
        /// Where in a block the pattern goes.
        pub reloff_pattern: u64,
        /// The pattern.
        pub pattern: Opaque<0x7fff_ffff>,
    }

    /// RFC 7862 §15.12.1.
    pub struct WRITE_SAME4args as WriteSameArgs {
        /// By what right.
        pub stateid: StateId,
        /// How safe the data must be before the reply.
        pub stable: StableHow,
        /// The pattern.
        pub adb: AppDataBlock,
    }

    /// What COPY and WRITE_SAME wrote, or that they go on. RFC 7862 §15.2.2.
    #[derive(Copy)]
    pub struct write_response4 as WriteResponse {
        /// The work goes on under this name; CB_OFFLOAD tells its end.
        pub callback_id: Option<StateId>,
        /// Bytes.
        pub count: u64,
        /// How safe they are.
        pub committed: StableHow,
        /// Changes when unstable data may be lost.
        pub writeverf: Verifier,
    }
}

xdr_union! {
    /// One range. RFC 7862 §15.10.2.
    pub union read_plus_content as ReadPlusContent switch (DataContent) {
        /// Data.
        Data => Data {
            /// First byte.
            offset: u64,
            /// The data.
            data: ReadData,
        },
        /// A hole.
        Hole => Hole {
            /// First byte.
            offset: u64,
            /// Bytes.
            length: u64,
        },
        ;
        /// Something without a name.
        else Other
    }
}
