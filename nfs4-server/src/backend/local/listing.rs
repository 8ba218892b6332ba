//! Names of directories that are listed again and again.
//!
//! A directory's ctime moves with every name that comes, goes or changes, and where the clock is fine a ctime that was
//! asked for never comes again. So names read after it was asked for are the names as long as it stays; the objects'
//! attributes are asked for each time. The second listing of an unchanged directory keeps its names, and further ones
//! are answered in place: nothing in them can wait for the medium.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, Weak};

use bytes::Bytes;

use super::Inner;
use super::attr::{R, X};
use super::cache::Object;
use super::change::ctime;
use super::handle::{Wait, is_dir};
use crate::backend::{Entry, Fault, Page, Room, Who};

/// Directories with more entries are not kept.
const LARGEST: usize = 1024;
/// What [`Room::bytes`] counts for each entry besides its name.
pub(super) const ENTRY: usize = 24;

/// What is known of a directory's names.
#[derive(Default)]
pub(super) struct Listing(Option<Arc<Names>>);

struct Names {
    /// The directory's ctime before they were read.
    at: u64,
    /// `None`: they were read once.
    all: Option<Vec<Listed>>,
    /// Where they are counted.
    count: Weak<AtomicUsize>,
}

struct Listed {
    name: Bytes,
    cookie: u64,
    object: Weak<Object>,
}

impl Drop for Names {
    fn drop(&mut self) {
        if let (Some(count), Some(all)) = (self.count.upgrade(), &self.all) {
            count.fetch_sub(all.len(), Ordering::Relaxed);
        }
    }
}

impl Inner {
    fn kept(dir: &Object) -> Option<Arc<Names>> {
        dir.listing.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// A page from kept names; `None` where they must be read.
    pub(super) fn list_kept(
        &self,
        who: &Who,
        dir: &Object,
        cookie: u64,
        room: Room,
    ) -> Result<Option<Page>, Fault> {
        is_dir(dir)?;
        let Some(names) = Self::kept(dir) else { return Ok(None) };
        let Some(all) = &names.all else { return Ok(None) };
        let stat = self.alive(dir)?;
        if ctime(&stat) != names.at || self.permits(who, dir, &stat, R | X)? != R | X {
            return Ok(None);
        }
        let first = match cookie {
            0 => 0,
            _ => match all.iter().position(|name| name.cookie == cookie) {
                Some(at) => at + 1,
                None => return Ok(None),
            },
        };
        let rest = all.get(first..).unwrap_or_default();
        let mut page = Page { entries: Vec::with_capacity(room.entries.min(rest.len())), eof: false };
        let mut bytes = 0;
        for Listed { name, cookie, object } in rest {
            bytes += name.len() + ENTRY;
            if !page.entries.is_empty() && (page.entries.len() >= room.entries || bytes > room.bytes) {
                return Ok(Some(page));
            }
            let mut entry = Entry { name: name.clone(), cookie: *cookie, meta: None, node: None };
            if room.meta || room.nodes {
                let Some(object) = object.upgrade() else { return Ok(None) };
                if room.meta {
                    match self.getattr(&object) {
                        // Its name went just now.
                        Err(Fault::Stale) => continue,
                        meta => entry.meta = Some(meta),
                    }
                }
                entry.node = room.nodes.then(|| Self::node(&object));
            }
            page.entries.push(entry);
        }
        page.eof = true;
        Ok(Some(page))
    }

    /// Keeps the names of a whole listing that was read after the directory's ctime was `at`, with the caller's
    /// identity.
    pub(super) fn keep_names(&self, dir: &Object, at: u64, page: &Page) {
        if !self.clock.fine || page.entries.len() > LARGEST {
            return;
        }
        let again = Self::kept(dir).is_some_and(|names| names.at == at);
        let room = self.listed.load(Ordering::Relaxed) + page.entries.len() <= 4 * self.options.descriptors;
        let all = if again && room {
            let all: Option<Vec<_>> = page.entries.iter().map(|entry| self.name(dir, entry)).collect();
            if let Some(all) = &all {
                self.listed.fetch_add(all.len(), Ordering::Relaxed);
            }
            all
        } else {
            None
        };
        let names = Names { at, all, count: Arc::downgrade(&self.listed) };
        let old = dir.listing.lock().unwrap_or_else(PoisonError::into_inner).0.replace(Arc::new(names));
        drop(old);
    }

    fn name(&self, dir: &Object, entry: &Entry) -> Option<Listed> {
        let object = if let Some(node) = &entry.node {
            node.object::<Object>()?
        } else {
            let fd = Self::child(dir.fd(), &entry.name, Wait::Yes).ok()?;
            self.adopt(fd, Some((dir, &entry.name))).ok()?
        };
        Some(Listed { name: entry.name.clone(), cookie: entry.cookie, object: Arc::downgrade(&object) })
    }
}
