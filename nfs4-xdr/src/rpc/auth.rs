//! Credentials and what is made of them.

use crate::{Decode, Input, Opaque, xdr_enum, xdr_struct};

use super::{AuthSys, Call};

xdr_enum! {
    /// Authentication flavors. RFC 5531 §8.2, RFC 2203, RFC 9289 §4.1.
    pub open enum auth_flavor as Flavor {
        /// No credentials.
        None = 0 "AUTH_NONE",
        /// User, group, groups, on the client's word.
        Sys = 1 "AUTH_SYS",
        /// A short form that only a server hands out; ours does not.
        Short = 2 "AUTH_SHORT",
        /// GSS-API.
        Gss = 6 "RPCSEC_GSS",
        /// A probe for TLS.
        Tls = 7 "AUTH_TLS",
    }
}

xdr_enum! {
    /// Why credentials are refused. RFC 5531 §9.
    pub open enum auth_stat as AuthStat {
        /// Success.
        Ok = 0 "AUTH_OK",
        /// The credential is bad.
        BadCred = 1 "AUTH_BADCRED",
        /// The client must begin anew.
        RejectedCred = 2 "AUTH_REJECTEDCRED",
        /// The verifier is bad.
        BadVerf = 3 "AUTH_BADVERF",
        /// The verifier was replayed or expired.
        RejectedVerf = 4 "AUTH_REJECTEDVERF",
        /// Refused for security.
        TooWeak = 5 "AUTH_TOOWEAK",
    }
}

xdr_struct! {
    /// A credential or verifier: flavor and at most 400 bytes. RFC 5531 §8.2.
    pub struct opaque_auth as OpaqueAuth {
        /// Flavor.
        pub flavor: Flavor,
        /// Body, as the flavor says.
        pub body: Opaque<400>,
    }
}

impl OpaqueAuth {
    /// AUTH_NONE.
    #[must_use]
    pub fn none() -> Self {
        Self { flavor: Flavor::None, body: Opaque::default() }
    }

    /// AUTH_SYS.
    #[must_use]
    pub fn sys(who: &AuthSys) -> Self {
        let mut w = crate::Writer::unlimited();
        // Its own bounds keep it under 400 bytes: 255 of name, 16 groups.
        let body = match w.put(who) {
            Ok(()) => Opaque::new(w.finish().to_bytes()).unwrap_or_default(),
            Err(_) => Opaque::default(),
        };
        Self { flavor: Flavor::Sys, body }
    }
}

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// AUTH_NONE: nobody in particular.
    None,
    /// AUTH_SYS.
    Sys(AuthSys),
}

/// What a call's credentials say, or why they are refused: AUTH_SHORT is AUTH_REJECTEDCRED; RPCSEC_GSS, AUTH_TLS,
/// unknown flavors and bodies that do not parse are AUTH_BADCRED, so that a client goes on with another flavor.
pub fn authenticate(call: &Call) -> Result<Credentials, AuthStat> {
    match call.cred.flavor {
        Flavor::None => Ok(Credentials::None),
        Flavor::Sys => {
            let body = call.cred.body.bytes();
            match AuthSys::decode(Input::new(body)) {
                Ok((rest, who)) if rest.remaining() == 0 => Ok(Credentials::Sys(who)),
                Ok(_) | Err(_) => Err(AuthStat::BadCred),
            }
        }
        Flavor::Short => Err(AuthStat::RejectedCred),
        Flavor::Gss | Flavor::Tls | Flavor::Other(_) => Err(AuthStat::BadCred),
    }
}
