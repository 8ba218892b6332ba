//! What is served, and under which path: the export table.

mod handle;
mod pseudo;
mod squash;

pub use handle::HandleKey;
pub use pseudo::PseudoFs;
pub use squash::{ANONYMOUS, squash};

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ipnet::IpNet;
use nfs4_deleg::server::Delegations;
use nfs4_proto::{Fh, Fsid, Status};

use crate::backend::{Backend, Node};
use crate::config::Squash;

/// The number of the pseudo file system above several exports.
pub const PSEUDO_ID: u32 = 0;

/// One exported file system.
pub struct Export {
    /// Its number in handles and fsid: from its path or the configuration, never from its place in the file.
    pub id: u32,
    /// Where clients see it.
    pub path: String,
    /// The file system.
    pub backend: Arc<dyn Backend>,
    /// Whose identity is replaced.
    pub squash: Squash,
    /// Every change is refused.
    pub read_only: bool,
    /// `fsid`.
    pub fsid: Fsid,
    /// Who may see it; empty: everybody.
    pub clients: Vec<IpNet>,
    /// Its delegations and permits.
    pub delegations: Mutex<Delegations>,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Export({} {:?})", self.id, self.path)
    }
}

impl Export {
    /// An export with its delegation machine.
    #[must_use]
    pub fn new(id: u32, path: &str, backend: Arc<dyn Backend>, squash: Squash, read_only: bool) -> Self {
        Self {
            id,
            path: path.to_owned(),
            backend,
            squash,
            read_only,
            fsid: Fsid { major: u64::from(id), minor: 0 },
            clients: Vec::new(),
            delegations: Mutex::new(Delegations::new(nfs4_deleg::server::Config::default())),
        }
    }

    /// Only these clients see it; none: all do.
    #[must_use]
    pub fn only_for(self, clients: Vec<IpNet>) -> Self {
        Self { clients, ..self }
    }

    /// Whether a client at this address may see it.
    #[must_use]
    pub fn admits(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.clients.is_empty() || self.clients.iter().any(|net| net.contains(&peer))
    }

    /// Changes are refused on a read-only export.
    pub(crate) fn writable(&self) -> Result<(), Status> {
        if self.read_only { Err(Status::RoFs) } else { Ok(()) }
    }

    /// The export's delegation machine. Never held across an await.
    pub(crate) fn machine(&self) -> MutexGuard<'_, Delegations> {
        self.delegations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number made from a path: stable, never [`PSEUDO_ID`].
    #[must_use]
    pub fn id_of_path(path: &str) -> u32 {
        let hash = siphasher::sip::SipHasher13::new().hash(path.as_bytes());
        let [a, b, c, d, ..] = hash.to_be_bytes();
        u32::from_be_bytes([a, b, c, d]).max(1)
    }
}

/// An object of an export: what a filehandle stands for.
#[derive(Clone, Debug)]
pub struct Place {
    /// The export.
    pub export: Arc<Export>,
    /// The object.
    pub node: Node,
}

/// Why exports cannot stand side by side.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Two have one number.
    #[error("exports {a:?} and {b:?} have the number {id}: give one of them another `id`")]
    SameId {
        /// The number.
        id: u32,
        /// One path.
        a: String,
        /// The other.
        b: String,
    },
    /// There is none.
    #[error("there is no export")]
    None,
}

/// All exports under one root.
#[derive(Debug)]
pub struct Exports {
    by_id: HashMap<u32, Arc<Export>>,
    root: Arc<Export>,
    /// What those see who may not see the root.
    nothing: Arc<Export>,
    pseudo: Option<Arc<PseudoFs>>,
    key: HandleKey,
}

impl Exports {
    /// A table. One export at "/" is the root itself; otherwise a pseudo file system leads to them.
    pub fn new(exports: Vec<Export>, key: HandleKey) -> Result<Self, ExportError> {
        let mut by_id: HashMap<u32, Arc<Export>> = HashMap::new();
        let mut paths = Vec::new();
        for export in exports {
            paths.push((export.path.clone(), export.id));
            let (id, export) = (export.id, Arc::new(export));
            if let Some(other) = by_id.insert(id, Arc::clone(&export)) {
                return Err(ExportError::SameId { id, a: other.path.clone(), b: export.path.clone() });
            }
        }
        if let [(path, id)] = paths.as_slice()
            && path == "/"
            && let Some(root) = by_id.get(id).cloned()
        {
            let backend: Arc<dyn Backend> = Arc::new(PseudoFs::new(&[]));
            let nothing = Arc::new(Export::new(PSEUDO_ID, "/", backend, Squash::All, true));
            by_id.insert(PSEUDO_ID, Arc::clone(&nothing));
            return Ok(Self { by_id, root, nothing, pseudo: None, key });
        }
        if paths.is_empty() {
            return Err(ExportError::None);
        }
        let pseudo = Arc::new(PseudoFs::new(&paths));
        let backend: Arc<dyn Backend> = Arc::<PseudoFs>::clone(&pseudo);
        let root = Arc::new(Export::new(PSEUDO_ID, "/", backend, Squash::All, true));
        by_id.insert(PSEUDO_ID, Arc::clone(&root));
        Ok(Self { by_id, nothing: Arc::clone(&root), root, pseudo: Some(pseudo), key })
    }

    /// What PUTROOTFH gives to a client at this address: an empty directory where it may not see the root.
    #[must_use]
    pub fn root(&self, peer: IpAddr) -> Place {
        let root = if self.root.admits(peer) { &self.root } else { &self.nothing };
        Place { export: Arc::clone(root), node: root.backend.root() }
    }

    /// All exports, the pseudo one among them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Export>> {
        self.by_id.values()
    }

    /// An export by its number.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Arc<Export>> {
        self.by_id.get(&id)
    }

    /// If `place` is a directory of the pseudo file system on which an export is mounted: that export's root, or nothing
    /// where the client may not see it.
    #[must_use]
    pub fn cross(&self, place: Place, peer: IpAddr) -> Option<Place> {
        if place.export.id == PSEUDO_ID
            && let Some(pseudo) = &self.pseudo
            && let Some(export) = pseudo.mounted_on(&place.node).and_then(|id| self.by_id.get(&id))
        {
            let root = Place { export: Arc::clone(export), node: export.backend.root() };
            return export.admits(peer).then_some(root);
        }
        Some(place)
    }

    /// The pseudo directory that an export's root lies on; `None` for the root of all.
    #[must_use]
    pub fn below(&self, export: &Export) -> Option<Place> {
        let pseudo = self.pseudo.as_ref()?;
        let node = pseudo.junction(export.id)?;
        Some(Place { export: Arc::clone(&self.root), node })
    }

    /// The filehandle of an object.
    #[must_use]
    pub fn handle(&self, place: &Place) -> Fh {
        self.key.seal(place.export.id, &place.export.backend.handle(&place.node))
    }

    /// The export of a filehandle, and the backend's part of it.
    pub fn open_handle<'a>(&self, fh: &'a [u8], peer: IpAddr) -> Result<(&Arc<Export>, &'a [u8]), Status> {
        let (id, raw) = self.key.open(fh)?;
        // An export that is configured no more, or not for this client: its objects are gone.
        let export = self.by_id.get(&id).filter(|export| export.admits(peer)).ok_or(Status::Stale)?;
        Ok((export, raw))
    }
}
