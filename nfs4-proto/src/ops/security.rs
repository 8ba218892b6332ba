//! Security: SECINFO, SECINFO_NO_NAME, SET_SSV, and what a client says about the backchannel's credentials.

use nfs4_xdr::rpc::AuthSys;
use nfs4_xdr::{List, Opaque, xdr_enum, xdr_struct, xdr_union};

use crate::Component;

/// `sec_oid4`: an object identifier in DER.
pub type SecOid = Opaque<256>;
/// `gsshandle4_t`.
pub type GssHandle = Opaque<1024>;

xdr_enum! {
    /// RPC security flavors. RFC 5531 §8.2, RFC 2203.
    pub open enum auth_flavor as SecFlavor {
        /// None.
        None = 0 "AUTH_NONE",
        /// User and groups.
        Sys = 1 "AUTH_SYS",
        /// RPCSEC_GSS.
        Gss = 6 "RPCSEC_GSS",
    }
}

xdr_enum! {
    /// How RPCSEC_GSS protects. RFC 2203 §5.2.2.1.
    pub enum rpc_gss_svc_t as GssService {
        /// It authenticates.
        None = 1 "RPC_GSS_SVC_NONE",
        /// And it protects against changes.
        Integrity = 2 "RPC_GSS_SVC_INTEGRITY",
        /// And it encrypts.
        Privacy = 3 "RPC_GSS_SVC_PRIVACY",
    }
}

xdr_enum! {
    /// Of what SECINFO_NO_NAME speaks. RFC 8881 §18.45.1.
    pub enum secinfo_style4 as SecinfoStyle {
        /// The current filehandle.
        CurrentFh = 0 "SECINFO_STYLE4_CURRENT_FH",
        /// Its parent.
        Parent = 1 "SECINFO_STYLE4_PARENT",
    }
}

xdr_struct! {
    /// RFC 8881 §18.29.1.
    pub struct SECINFO4args as SecinfoArgs {
        /// The name in the current directory.
        pub name: Component,
    }

    /// RFC 8881 §18.29.2.
    pub struct rpcsec_gss_info as GssInfo {
        /// The mechanism.
        pub oid: SecOid,
        /// Quality of protection.
        pub qop: u32,
        /// How it protects.
        pub service: GssService,
    }

    /// Handles of the backchannel's contexts. RFC 8881 §18.33.1.
    pub struct gss_cb_handles4 as GssCbHandles {
        /// How it protects.
        pub service: GssService,
        /// The handle that the server made.
        pub handle_from_server: GssHandle,
        /// The handle that the client made.
        pub handle_from_client: GssHandle,
    }

    /// RFC 8881 §18.47.1.
    pub struct SET_SSV4args as SetSsvArgs {
        /// Mixed into the secret.
        pub ssv: Opaque<4096>,
        /// Proof.
        pub digest: Opaque<4096>,
    }

    /// RFC 8881 §18.47.2.
    pub struct SET_SSV4resok as SetSsvOk {
        /// Proof.
        pub digest: Opaque<4096>,
    }
}

xdr_union! {
    /// One security flavor that is accepted. RFC 8881 §18.29.2.
    pub union secinfo4 as Secinfo switch (SecFlavor) {
        /// None.
        None => None,
        /// User and groups.
        Sys => Sys,
        /// RPCSEC_GSS.
        Gss => Gss(GssInfo),
        ;
        /// Another flavor, by its number.
        else Other
    }
}

/// SECINFO and SECINFO_NO_NAME: the flavors accepted, most wanted first. RFC 8881 §18.29.2.
pub type SecinfoOk = List<Secinfo, 256>;

xdr_union! {
    /// A credential for the backchannel. RFC 8881 §18.33.1.
    pub union callback_sec_parms4 as CallbackSecParms switch (SecFlavor) {
        /// None.
        None => None,
        /// User and groups, to be sent exactly so.
        Sys => Sys(AuthSys),
        /// RPCSEC_GSS.
        Gss => Gss(GssCbHandles),
    }
}
