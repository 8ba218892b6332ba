//! What a compound carries from operation to operation.

use std::net::IpAddr;
use std::sync::Arc;

use nfs4_deleg::server::{Intent, Party};
use nfs4_deleg::{ClientKey, Now};
use nfs4_proto::{ClientId, StateId, Status};

use super::admitted::Admitted;
use super::attached::Attached;
use crate::backend::{FileKind, Who};
use crate::core::Core;
use crate::export::{Export, Place, squash};
use crate::net::{Call, Conn};
use crate::state::{ChannelAttrs, Waiting};

/// The state of one compound (RFC 8881 §16.2.3).
pub(crate) struct Ctx<'a> {
    /// The server.
    pub(crate) core: &'a Arc<Core>,
    /// The connection that it came over.
    pub(crate) conn: &'a Arc<Conn>,
    /// The caller's identity; `None` is AUTH_NONE.
    pub(crate) caller: Option<&'a Who>,
    /// When it was taken up.
    pub(crate) now: Now,
    /// Its minor version.
    pub(crate) minor: u32,
    /// Bytes that its results may still take.
    pub(crate) room: usize,
    /// What is answered where they don't suffice: NFS4ERR_REP_TOO_BIG, or _TO_CACHE where the reply is to be kept.
    pub(crate) too_big: Status,
    /// Client and session, after SEQUENCE.
    pub(crate) attached: Option<Attached>,
    current: Option<Place>,
    /// `None`: all zeros.
    current_stateid: Option<StateId>,
    saved: Option<(Place, Option<StateId>)>,
}

impl<'a> Ctx<'a> {
    pub(crate) fn new(core: &'a Arc<Core>, conn: &'a Arc<Conn>, call: &'a Call, minor: u32) -> Self {
        Self {
            core,
            conn,
            caller: call.caller.as_ref(),
            now: core.now(),
            minor,
            room: usize::MAX,
            too_big: Status::RepTooBig,
            attached: None,
            current: None,
            current_stateid: None,
            saved: None,
        }
    }

    /// The client, which SEQUENCE told.
    pub(crate) fn client(&self) -> Result<ClientId, Status> {
        self.attached.as_ref().map(|a| a.client).ok_or(Status::OpNotInSession)
    }

    /// The caller as the export sees it.
    pub(crate) fn who(&self, export: &Export) -> Who {
        squash(export.squash_for(self.peer()), self.caller)
    }

    /// Whether the caller can change nothing in the export.
    pub(crate) fn read_only(&self, export: &Export) -> bool {
        export.read_only_for(self.peer())
    }

    /// Changes are refused on a read-only export.
    pub(crate) fn writable(&self, export: &Export) -> Result<(), Status> {
        if self.read_only(export) { Err(Status::RoFs) } else { Ok(()) }
    }

    /// The current filehandle's object.
    pub(crate) fn current(&self) -> Result<&Place, Status> {
        self.current.as_ref().ok_or(Status::NoFileHandle)
    }

    /// The current object, which must be a directory.
    pub(crate) fn directory(&self) -> Result<&Place, Status> {
        let place = self.current()?;
        must_be_dir(place)?;
        Ok(place)
    }

    /// The same for LOOKUP and OPEN, which tell a symbolic link apart, so that the client can follow it
    /// (RFC 8881 §18.13.4, §18.16.4).
    pub(crate) fn directory_to_walk(&self) -> Result<&Place, Status> {
        let place = self.current()?;
        if place.node.kind == FileKind::Symlink { Err(Status::Symlink) } else { self.directory() }
    }

    /// The current object, which must be a regular file.
    pub(crate) fn file(&self) -> Result<&Place, Status> {
        let place = self.current()?;
        match place.node.kind {
            FileKind::File => Ok(place),
            FileKind::Dir => Err(Status::IsDir),
            FileKind::Symlink => Err(Status::Symlink),
            FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => Err(Status::WrongType),
        }
    }

    /// Sets the current filehandle; the current stateid becomes all zeros (RFC 8881 §16.2.3.1.2).
    pub(crate) fn set_current(&mut self, place: Place) {
        self.current = Some(place);
        self.current_stateid = None;
    }

    /// The current filehandle is used up.
    pub(crate) fn clear_current(&mut self) {
        self.current = None;
        self.current_stateid = None;
    }

    /// What an operation returned becomes the current stateid.
    pub(crate) fn set_stateid(&mut self, stateid: Option<StateId>) {
        self.current_stateid = stateid;
    }

    /// SAVEFH.
    pub(crate) fn save(&mut self) -> Result<(), Status> {
        self.saved = Some((self.current()?.clone(), self.current_stateid));
        Ok(())
    }

    /// RESTOREFH.
    pub(crate) fn restore(&mut self) -> Result<(), Status> {
        let (place, stateid) = self.saved.clone().ok_or(Status::NoFileHandle)?;
        self.current = Some(place);
        self.current_stateid = stateid;
        Ok(())
    }

    /// The saved filehandle's object.
    pub(crate) fn saved(&self) -> Result<&Place, Status> {
        self.saved.as_ref().map(|(place, _)| place).ok_or(Status::NoFileHandle)
    }

    /// A stateid argument with the special "current" one replaced: with seqid 0 (§8.2.3), but as it was for CLOSE and
    /// OPEN_DOWNGRADE.
    pub(crate) fn stateid(&self, given: StateId, keep_seqid: bool) -> Result<StateId, Status> {
        resolve(given, self.current_stateid, keep_seqid)
    }

    /// The same for the saved filehandle's stateid (source of COPY and CLONE).
    pub(crate) fn saved_stateid(&self, given: StateId) -> Result<StateId, Status> {
        resolve(given, self.saved.as_ref().and_then(|(_, stateid)| *stateid), false)
    }

    /// Asks the export's delegations for leave to carry out an operation.
    pub(crate) async fn admit(&self, export: &Export, intent: &Intent) -> Result<Admitted, Status> {
        let session = self.attached.as_ref().map(|a| &*a.session);
        Admitted::ask(self.core, session, self.party(), export, intent).await
    }

    /// This client, as the delegations know it.
    pub(crate) fn party(&self) -> Party {
        self.attached.as_ref().map_or(Party::Local, |a| Party::Client(ClientKey(a.client.0)))
    }

    /// Leave to wait for others; else NFS4ERR_DELAY.
    pub(crate) fn park(&self) -> Result<Waiting<'_>, Status> {
        let attached = self.attached.as_ref().ok_or(Status::OpNotInSession)?;
        attached.session.wait()
    }

    /// The client's address.
    pub(crate) fn peer(&self) -> IpAddr {
        self.conn.peer().ip()
    }

    /// Most bytes of a READ's data that the session's replies hold.
    pub(crate) fn max_read(&self) -> u32 {
        // RPC's header, SEQUENCE, PUTFH, and READ's own.
        self.io(|fore| fore.maxresponsesize.saturating_sub(192))
    }

    /// Most bytes of a WRITE's data that the session's requests hold.
    pub(crate) fn max_write(&self) -> u32 {
        // RPC's header with 16 groups and a long machine name, SEQUENCE, PUTFH, WRITE, GETATTR.
        self.io(|fore| fore.maxrequestsize.saturating_sub(1024))
    }

    /// What is left of a message beside its headers.
    fn io(&self, size: impl Fn(&ChannelAttrs) -> u32) -> u32 {
        let message = self.attached.as_ref().map_or(u32::MAX, |a| size(a.session.fore()));
        let most = message.max(512).min(self.core.max_io());
        // Whole pages, where there is at least one.
        if most >= 4096 { most & !4095 } else { most }
    }

    /// Whether the client may get new state, or with `reclaim` what it had before the restart (RFC 8881 §8.4.2.1).
    pub(crate) fn may_lock(&self, reclaim: bool) -> Result<(), Status> {
        let attached = self.attached.as_ref().ok_or(Status::OpNotInSession)?;
        self.core.state.may_lock(attached.session.client(), reclaim)?;
        if reclaim {
            self.core.state.reclaiming(self.now);
        }
        Ok(())
    }
}

fn resolve(given: StateId, current: Option<StateId>, keep_seqid: bool) -> Result<StateId, Status> {
    if given == StateId::CURRENT {
        let current = current.ok_or(Status::BadStateId)?;
        return Ok(if keep_seqid { current } else { StateId { seqid: 0, ..current } });
    }
    if given.is_special() && given != StateId::ANONYMOUS && given != StateId::READ_BYPASS {
        return Err(Status::BadStateId);
    }
    Ok(given)
}

/// NOTDIR for anything else.
pub(crate) fn must_be_dir(place: &Place) -> Result<(), Status> {
    if place.node.kind == FileKind::Dir { Ok(()) } else { Err(Status::NotDir) }
}
