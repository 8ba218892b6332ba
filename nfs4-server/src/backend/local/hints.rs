//! Where objects were last seen, for a server that may not open by handle.
//!
//! A hint is `handle → parent's handle, name`. It is never trusted: each step down from the root is checked by the
//! kernel's handle of what is found. On disk it is an append-only file, rewritten when most of it is out of date;
//! a torn end (a crash) is cut off.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::hash::Hasher as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use siphasher::sip::SipHasher13;

use crate::backend::RawHandle;

/// Hints kept; the oldest go first.
const LIMIT: usize = 262_144;
/// The file is rewritten when it has this many records beyond twice the live ones.
const SLACK: usize = 4096;

/// The parent's handle and the name there.
type Place = (RawHandle, Box<[u8]>);

/// The hints of one export.
pub(super) struct Hints {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    places: HashMap<RawHandle, Place>,
    order: VecDeque<RawHandle>,
    file: Option<(PathBuf, File)>,
    records: usize,
}

impl Hints {
    /// Reads what an earlier start left. Without a file the hints last as long as the process.
    pub(super) fn open(path: Option<PathBuf>) -> io::Result<Self> {
        let mut state = State::default();
        if let Some(path) = path {
            let old = match fs::read(&path) {
                Ok(old) => old,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => return Err(error),
            };
            let mut rest = old.as_slice();
            while let Some((child, place, after)) = read_record(rest) {
                rest = after;
                state.records += 1;
                state.keep(child, place);
            }
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            if !rest.is_empty() {
                file.set_len((old.len() - rest.len()) as u64)?;
            }
            state.file = Some((path, file));
        }
        Ok(Self { state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where an object was last seen.
    pub(super) fn get(&self, child: &[u8]) -> Option<Place> {
        self.lock().places.get(child).cloned()
    }

    /// An object was seen.
    pub(super) fn seen(&self, child: &RawHandle, parent: &RawHandle, name: &[u8]) {
        let mut state = self.lock();
        if state.places.get(child).is_some_and(|(dir, old)| dir == parent && **old == *name) {
            return;
        }
        state.append(child, parent, name);
        state.keep(child.clone(), (parent.clone(), name.into()));
        if state.records > 2 * state.places.len() + SLACK
            && let Err(error) = state.rewrite()
        {
            tracing::warn!(%error, "the store of places was not rewritten");
        }
    }

    /// The last name of an object is gone. (On disk its record stays; a check will not find it.)
    pub(super) fn forget(&self, child: &[u8]) {
        self.lock().places.remove(child);
    }
}

impl State {
    fn keep(&mut self, child: RawHandle, place: Place) {
        if self.places.insert(child.clone(), place).is_none() {
            self.order.push_back(child);
        }
        while self.places.len() > LIMIT {
            let Some(oldest) = self.order.pop_front() else { break };
            self.places.remove(&oldest);
        }
        // Forgotten ones leave their place in the order; it does not grow without bound.
        if self.order.len() > 2 * LIMIT {
            let places = &self.places;
            self.order.retain(|child| places.contains_key(child));
        }
    }

    fn append(&mut self, child: &[u8], parent: &[u8], name: &[u8]) {
        let Some((path, file)) = &mut self.file else { return };
        if let Err(error) = file.write_all(&record(child, parent, name)) {
            tracing::warn!(path = %path.display(), %error, "a place was not written; its handle ends with this start");
        }
        self.records += 1;
    }

    fn rewrite(&mut self) -> io::Result<()> {
        let Some((path, _)) = &self.file else { return Ok(()) };
        let temporary = path.with_extension("new");
        let mut file = io::BufWriter::new(File::create(&temporary)?);
        for (child, (parent, name)) in &self.places {
            file.write_all(&record(child, parent, name))?;
        }
        file.flush()?;
        file.get_ref().sync_data()?;
        fs::rename(&temporary, path)?;
        let path = path.clone();
        let file = OpenOptions::new().append(true).open(&path)?;
        self.records = self.places.len();
        self.file = Some((path, file));
        Ok(())
    }
}

/// `length 2 · checksum 4 · child length 1 · parent length 1 · child · parent · name`.
fn record(child: &[u8], parent: &[u8], name: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(2 + child.len() + parent.len() + name.len());
    body.push(u8::try_from(child.len()).unwrap_or(0));
    body.push(u8::try_from(parent.len()).unwrap_or(0));
    body.extend_from_slice(child);
    body.extend_from_slice(parent);
    body.extend_from_slice(name);
    let mut record = Vec::with_capacity(6 + body.len());
    record.extend_from_slice(&u16::try_from(body.len()).unwrap_or(0).to_le_bytes());
    record.extend_from_slice(&checksum(&body).to_le_bytes());
    record.extend_from_slice(&body);
    record
}

fn read_record(bytes: &[u8]) -> Option<(RawHandle, Place, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let (body, after) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    if checksum(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (&[child, parent], body) = body.split_first_chunk::<2>()?;
    let (child, body) = body.split_at_checked(child.into())?;
    let (parent, name) = body.split_at_checked(parent.into())?;
    Some((RawHandle::from_slice(child), (RawHandle::from_slice(parent), name.into()), after))
}

fn checksum(body: &[u8]) -> u32 {
    let mut hasher = SipHasher13::new();
    hasher.write(body);
    u32::try_from(hasher.finish() >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_record_is_cut_off_and_the_rest_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hints");
        let [root, a, b, c] = [b"root".as_slice(), b"aaaa", b"bbbb", b"cccc"].map(RawHandle::from_slice);
        let hints = Hints::open(Some(path.clone())).unwrap();
        hints.seen(&a, &root, b"a");
        hints.seen(&b, &a, b"b\xff");
        hints.seen(&b, &root, b"moved");
        drop(hints);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let hints = Hints::open(Some(path.clone())).unwrap();
        assert_eq!(hints.get(&b), Some((a.clone(), b"b\xff".as_slice().into())));
        hints.seen(&c, &root, b"c");
        drop(hints);
        let hints = Hints::open(Some(path)).unwrap();
        assert_eq!(hints.get(&a), Some((root.clone(), b"a".as_slice().into())));
        assert_eq!(hints.get(&c), Some((root, b"c".as_slice().into())));
    }

    #[test]
    fn the_file_is_rewritten_when_most_of_it_is_out_of_date() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hints");
        let (root, a) = (RawHandle::from_slice(b"root"), RawHandle::from_slice(b"aaaa"));
        let hints = Hints::open(Some(path.clone())).unwrap();
        for turn in 0..2 * SLACK {
            hints.seen(&a, &root, turn.to_string().as_bytes());
        }
        assert!(hints.lock().records <= SLACK + 2);
        drop(hints);
        let hints = Hints::open(Some(path)).unwrap();
        assert_eq!(hints.get(&a), Some((root, (2 * SLACK - 1).to_string().as_bytes().into())));
    }
}
