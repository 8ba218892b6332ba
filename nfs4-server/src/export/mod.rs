//! What is served, and under which path: the export table.

mod handle;
mod pseudo;
mod squash;

pub use handle::HandleKey;
pub use pseudo::PseudoFs;
pub use squash::{ANONYMOUS, squash};

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use ipnet::IpNet;
use nfs4_deleg::server::Effect;
use nfs4_proto::{Fh, Fsid, Status};

use crate::backend::{Backend, Node};
use crate::config::{ClientRule, ExportConfig, Squash};
use crate::deleg::Machine;

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
    /// Other options for some of them.
    rules: Vec<ClientRule>,
    /// Its delegations; `None`: it gives none.
    pub(crate) delegations: Option<Arc<Machine>>,
    /// Set for the pseudo file system.
    pseudo: Option<Arc<PseudoFs>>,
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
            rules: Vec::new(),
            delegations: None,
            pseudo: None,
        }
    }

    fn pseudo(fs: Arc<PseudoFs>) -> Self {
        let backend: Arc<dyn Backend> = Arc::<PseudoFs>::clone(&fs);
        Self { pseudo: Some(fs), ..Self::new(PSEUDO_ID, "/", backend, Squash::All, true) }
    }

    /// The same file system and delegations, with other options.
    #[must_use]
    pub fn with_options(&self, config: &ExportConfig) -> Self {
        Self {
            id: self.id,
            path: self.path.clone(),
            backend: Arc::clone(&self.backend),
            squash: config.squash,
            read_only: config.read_only,
            fsid: self.fsid,
            clients: config.clients.clone(),
            rules: config.rules.clone(),
            delegations: self.delegations.clone(),
            pseudo: self.pseudo.clone(),
        }
    }

    /// Whether a client at this address may see it.
    #[must_use]
    pub fn admits(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.clients.is_empty() || self.clients.iter().any(|net| net.contains(&peer))
    }

    fn rule(&self, peer: IpAddr) -> Option<&ClientRule> {
        let peer = peer.to_canonical();
        self.rules.iter().find(|rule| rule.clients.iter().any(|net| net.contains(&peer)))
    }

    /// Whose identity is replaced of those who come from this address.
    #[must_use]
    pub fn squash_for(&self, peer: IpAddr) -> Squash {
        self.rule(peer).map_or(self.squash, |rule| rule.squash)
    }

    /// Whether they can change nothing.
    #[must_use]
    pub fn read_only_for(&self, peer: IpAddr) -> bool {
        self.rule(peer).map_or(self.read_only, |rule| rule.read_only)
    }

    /// It gives delegations by this machine.
    pub(crate) fn delegating(self, machine: Option<Arc<Machine>>) -> Self {
        Self { delegations: machine, ..self }
    }

    /// Something happened that its delegations are to know.
    pub(crate) fn effect(&self, effect: Effect) {
        if let Some(machine) = &self.delegations {
            machine.effect(effect);
        }
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

/// All exports under one root. They may be replaced while they are served.
#[derive(Debug)]
pub struct Exports {
    table: ArcSwap<Table>,
    key: HandleKey,
}

#[derive(Debug)]
struct Table {
    by_id: HashMap<u32, Arc<Export>>,
    root: Arc<Export>,
    /// What those see who may not see the root.
    nothing: Arc<Export>,
    /// Path and number of each, in the order of the configuration.
    paths: Vec<(String, u32)>,
}

impl Table {
    /// `before`: where the paths are the same, so is the pseudo file system, and listings of it go on.
    fn new(exports: Vec<Export>, before: Option<&Self>) -> Result<Self, ExportError> {
        let mut by_id: HashMap<u32, Arc<Export>> = HashMap::new();
        let mut paths = Vec::new();
        for export in exports {
            paths.push((export.path.clone(), export.id));
            let (id, export) = (export.id, Arc::new(export));
            if let Some(other) = by_id.insert(id, Arc::clone(&export)) {
                return Err(ExportError::SameId { id, a: other.path.clone(), b: export.path.clone() });
            }
        }
        let only = match paths.as_slice() {
            [] => return Err(ExportError::None),
            [(path, id)] if path == "/" => by_id.get(id).cloned(),
            _ => None,
        };
        let nothing = match before {
            Some(before) if before.paths == paths => Arc::clone(&before.nothing),
            Some(_) | None => {
                let leads_to: &[(String, u32)] = if only.is_some() { &[] } else { &paths };
                Arc::new(Export::pseudo(Arc::new(PseudoFs::new(leads_to))))
            }
        };
        by_id.insert(PSEUDO_ID, Arc::clone(&nothing));
        Ok(Self { by_id, root: only.unwrap_or_else(|| Arc::clone(&nothing)), nothing, paths })
    }
}

impl Exports {
    /// A table. One export at "/" is the root itself; otherwise a pseudo file system leads to them.
    pub fn new(exports: Vec<Export>, key: HandleKey) -> Result<Self, ExportError> {
        Ok(Self { table: ArcSwap::from_pointee(Table::new(exports, None)?), key })
    }

    /// Serves these from now on; the numbers of those that are gone. Compounds in progress end with what they began.
    pub fn replace(&self, exports: Vec<Export>) -> Result<Vec<u32>, ExportError> {
        let before = self.table.load_full();
        let new = Table::new(exports, Some(&before))?;
        let gone = before.by_id.keys().filter(|id| !new.by_id.contains_key(*id)).copied().collect();
        self.table.store(Arc::new(new));
        Ok(gone)
    }

    /// What PUTROOTFH gives to a client at this address: an empty directory where it may not see the root.
    #[must_use]
    pub fn root(&self, peer: IpAddr) -> Place {
        let table = self.table.load();
        let root = if table.root.admits(peer) { &table.root } else { &table.nothing };
        Place { export: Arc::clone(root), node: root.backend.root() }
    }

    /// An export by its number.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<Arc<Export>> {
        self.table.load().by_id.get(&id).cloned()
    }

    /// If `place` is a directory of the pseudo file system on which an export is mounted: that export's root, or nothing
    /// where the client may not see it.
    #[must_use]
    pub fn cross(&self, place: Place, peer: IpAddr) -> Option<Place> {
        // The place's own pseudo file system knows its nodes; the table's may be a newer one.
        if let Some(pseudo) = &place.export.pseudo
            && let Some(id) = pseudo.mounted_on(&place.node)
        {
            let export = self.get(id)?;
            let node = export.backend.root();
            return export.admits(peer).then_some(Place { export, node });
        }
        Some(place)
    }

    /// The pseudo directory that an export's root lies on; `None` for the root of all.
    #[must_use]
    pub fn below(&self, export: &Export) -> Option<Place> {
        let table = self.table.load();
        let node = table.root.pseudo.as_ref()?.junction(export.id)?;
        Some(Place { export: Arc::clone(&table.root), node })
    }

    /// The filehandle of an object.
    #[must_use]
    pub fn handle(&self, place: &Place) -> Fh {
        self.key.seal(place.export.id, &place.export.backend.handle(&place.node))
    }

    /// The same from the backend's part.
    pub(crate) fn seal(&self, export: u32, raw: &[u8]) -> Fh {
        self.key.seal(export, raw)
    }

    /// The exports that give delegations, and their machines.
    pub(crate) fn machines(&self) -> Vec<(Arc<Export>, Arc<Machine>)> {
        let table = self.table.load();
        let machine = |export: &Arc<Export>| Some((Arc::clone(export), export.delegations.clone()?));
        table.by_id.values().filter_map(machine).collect()
    }

    /// Bytes that the exports in memory use, each with its path.
    pub(crate) fn memory_used(&self) -> Vec<(String, u64)> {
        let table = self.table.load();
        let used = |export: &Arc<Export>| Some((export.path.clone(), export.backend.memory_used()?));
        table.by_id.values().filter_map(used).collect()
    }

    /// The machine that a stateid names.
    pub(crate) fn machine(&self, number: u8) -> Option<Arc<Machine>> {
        let table = self.table.load();
        table.by_id.values().filter_map(|e| e.delegations.as_ref()).find(|m| m.number() == number).cloned()
    }

    /// The export of a filehandle, and the backend's part of it.
    pub fn open_handle<'a>(&self, fh: &'a [u8], peer: IpAddr) -> Result<(Arc<Export>, &'a [u8]), Status> {
        let (id, raw) = self.key.open(fh)?;
        // An export that is configured no more, or not for this client: its objects are gone.
        let export = self.get(id).filter(|export| export.admits(peer)).ok_or(Status::Stale)?;
        Ok((export, raw))
    }
}
