//! pNFS, which is decoded and not served: LAYOUTGET and its like, GETDEVICEINFO, GETDEVICELIST.

use nfs4_xdr::{List, Opaque, xdr_enum, xdr_struct, xdr_union};

use crate::outcome::op_error;
use crate::{Bitmap4, LayoutType, NfsTime, OpNum, StateId, Status, Verifier};

/// `deviceid4`.
pub type DeviceId = [u8; 16];
/// The body of a layout, a device or an update, whose form the layout type decides.
pub type LayoutBody = Opaque<65_536>;

xdr_enum! {
    /// RFC 8881 §3.3.20.
    pub enum layoutiomode4 as LayoutIoMode {
        /// Reading.
        Read = 1 "LAYOUTIOMODE4_READ",
        /// Reading and writing.
        Rw = 2 "LAYOUTIOMODE4_RW",
        /// Either (in returns and recalls).
        Any = 3 "LAYOUTIOMODE4_ANY",
    }
}

xdr_enum! {
    /// What is returned or recalled. RFC 8881 §18.44.1, §20.3.1.
    pub enum layoutreturn_type4 as LayoutReturnType {
        /// Of one file.
        File = 1 "LAYOUTRETURN4_FILE",
        /// Of one file system.
        Fsid = 2 "LAYOUTRETURN4_FSID",
        /// All.
        All = 3 "LAYOUTRETURN4_ALL",
    }
}

xdr_union! {
    /// RFC 8881 §18.44.1.
    pub union layoutreturn4 as LayoutReturn switch (LayoutReturnType) {
        /// Of one file.
        File => File {
            /// First byte.
            offset: u64,
            /// Bytes.
            length: u64,
            /// The layout.
            stateid: StateId,
            /// In the form of the layout type.
            body: LayoutBody,
        },
        /// Of the current file system.
        Fsid => Fsid,
        /// All.
        All => All,
    }
}

xdr_struct! {
    /// RFC 8881 §3.3.16.
    pub struct layout4 as Layout {
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub length: u64,
        /// For what.
        pub iomode: LayoutIoMode,
        /// Its type.
        pub layout_type: LayoutType,
        /// In the form of the layout type.
        pub body: LayoutBody,
    }

    /// RFC 8881 §3.3.14.
    pub struct device_addr4 as DeviceAddr {
        /// Its type.
        pub layout_type: LayoutType,
        /// In the form of the layout type.
        pub addr_body: LayoutBody,
    }

    /// RFC 8881 §3.3.18.
    pub struct layoutupdate4 as LayoutUpdate {
        /// Its type.
        pub layout_type: LayoutType,
        /// In the form of the layout type.
        pub body: LayoutBody,
    }

    /// RFC 8881 §18.40.1.
    pub struct GETDEVICEINFO4args as GetdeviceinfoArgs {
        /// The device.
        pub device_id: DeviceId,
        /// Its type.
        pub layout_type: LayoutType,
        /// Most bytes.
        pub maxcount: u32,
        /// Bits of `notify_deviceid_type4`.
        pub notify_types: Bitmap4,
    }

    /// RFC 8881 §18.40.2.
    pub struct GETDEVICEINFO4resok as GetdeviceinfoOk {
        /// The device.
        pub device_addr: DeviceAddr,
        /// What will be told.
        pub notification: Bitmap4,
    }

    /// RFC 8881 §18.41.1.
    #[derive(Copy)]
    pub struct GETDEVICELIST4args as GetdevicelistArgs {
        /// Their type.
        pub layout_type: LayoutType,
        /// Most devices.
        pub maxdevices: u32,
        /// 0, or where the last list ended.
        pub cookie: u64,
        /// 0, or what came with that cookie.
        pub cookieverf: Verifier,
    }

    /// RFC 8881 §18.41.2.
    pub struct GETDEVICELIST4resok as GetdevicelistOk {
        /// Where the next list goes on.
        pub cookie: u64,
        /// To be sent with it.
        pub cookieverf: Verifier,
        /// The devices.
        pub deviceid_list: List<DeviceId, 65_536>,
        /// There are no more.
        pub eof: bool,
    }

    /// RFC 8881 §18.42.1.
    pub struct LAYOUTCOMMIT4args as LayoutcommitArgs {
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub length: u64,
        /// After the server's restart.
        pub reclaim: bool,
        /// The layout.
        pub stateid: StateId,
        /// The last byte written (`newoffset4`).
        pub last_write_offset: Option<u64>,
        /// When (`newtime4`).
        pub time_modify: Option<NfsTime>,
        /// In the form of the layout type.
        pub layoutupdate: LayoutUpdate,
    }

    /// RFC 8881 §18.42.2.
    #[derive(Copy)]
    pub struct LAYOUTCOMMIT4resok as LayoutcommitOk {
        /// The size, if it changed (`newsize4`).
        pub newsize: Option<u64>,
    }

    /// RFC 8881 §18.43.1.
    #[derive(Copy)]
    pub struct LAYOUTGET4args as LayoutgetArgs {
        /// Tell when one can be had.
        pub signal_layout_avail: bool,
        /// Its type.
        pub layout_type: LayoutType,
        /// For what.
        pub iomode: LayoutIoMode,
        /// First byte.
        pub offset: u64,
        /// Bytes wanted.
        pub length: u64,
        /// Bytes at least.
        pub minlength: u64,
        /// By what right.
        pub stateid: StateId,
        /// Most bytes of the layout.
        pub maxcount: u32,
    }

    /// RFC 8881 §18.43.2.
    pub struct LAYOUTGET4resok as LayoutgetOk {
        /// To be returned at the last CLOSE.
        pub return_on_close: bool,
        /// The layout.
        pub stateid: StateId,
        /// Its parts.
        pub layout: List<Layout, 65_536>,
    }

    /// RFC 8881 §18.44.1.
    pub struct LAYOUTRETURN4args as LayoutreturnArgs {
        /// After the server's restart.
        pub reclaim: bool,
        /// Its type.
        pub layout_type: LayoutType,
        /// For what.
        pub iomode: LayoutIoMode,
        /// What is returned.
        pub layoutreturn: LayoutReturn,
    }

    /// RFC 8881 §18.44.2.
    #[derive(Copy)]
    pub struct LAYOUTRETURN4resok as LayoutreturnOk {
        /// What is left of the layout (`layoutreturn_stateid`).
        pub stateid: Option<StateId>,
    }

    /// RFC 7862 §15.6.1.
    #[derive(Copy)]
    pub struct device_error4 as DeviceError {
        /// The device.
        pub deviceid: DeviceId,
        /// What it answered.
        pub status: Status,
        /// To what.
        pub opnum: OpNum,
    }

    /// RFC 7862 §15.6.1.
    pub struct LAYOUTERROR4args as LayouterrorArgs {
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub length: u64,
        /// The layout.
        pub stateid: StateId,
        /// What went wrong.
        pub errors: List<DeviceError, 65_536>,
    }

    /// RFC 7862 §15.7.1.
    #[derive(Copy)]
    pub struct io_info4 as IoInfo {
        /// Operations.
        pub count: u64,
        /// Bytes.
        pub bytes: u64,
    }

    /// RFC 7862 §15.7.1.
    pub struct LAYOUTSTATS4args as LayoutstatsArgs {
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub length: u64,
        /// The layout.
        pub stateid: StateId,
        /// Reads.
        pub read: IoInfo,
        /// Writes.
        pub write: IoInfo,
        /// The device.
        pub deviceid: DeviceId,
        /// In the form of the layout type.
        pub layoutupdate: LayoutUpdate,
    }
}

op_error! {
    /// Why GETDEVICEINFO failed. RFC 8881 §18.40.2.
    pub enum GetdeviceinfoError {
        /// NFS4ERR_TOOSMALL with the bytes that it takes.
        TooSmall => TooSmall(u32)
    }

    /// Why LAYOUTGET failed. RFC 8881 §18.43.2.
    pub enum LayoutgetError {
        /// NFS4ERR_LAYOUTTRYLATER and whether CB_RECALLABLE_OBJ_AVAIL will tell when.
        LayoutTryLater => LayoutTryLater(bool)
    }
}
