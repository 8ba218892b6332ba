//! What of another configuration can come into force while the server runs.

use super::{Config, ExportConfig, Source};
use crate::export::Export;

impl ExportConfig {
    /// Its number in handles and fsid.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.id.unwrap_or_else(|| Export::id_of_path(&self.path))
    }
}

/// Keeps the old value of a key that cannot change now, and notes the key where another one was asked for.
fn keep<T: PartialEq + Clone>(key: &str, old: &T, new: &mut T, waiting: &mut Vec<String>) {
    if old != new {
        *new = old.clone();
        waiting.push(key.to_owned());
    }
}

impl Config {
    /// This configuration with all of `new` that can change while it is in force, and the keys that wait for a restart:
    /// where to listen and keep state, the lease and its like, what connections and sessions were promised, and what an
    /// export that stays shows.
    #[must_use]
    pub fn reloaded(&self, new: &Self) -> (Self, Vec<String>) {
        let (mut next, mut waiting) = (new.clone(), Vec::new());
        let w = &mut waiting;
        keep("listen", &self.listen, &mut next.listen, w);
        keep("state", &self.state, &mut next.state, w);
        keep("lease", &self.lease, &mut next.lease, w);
        keep("grace", &self.grace, &mut next.grace, w);
        keep("threads", &self.threads, &mut next.threads, w);
        keep("metrics", &self.metrics, &mut next.metrics, w);
        keep("admin-socket", &self.admin_socket, &mut next.admin_socket, w);
        keep("log", &self.log, &mut next.log, w);
        keep("log-format", &self.log_format, &mut next.log_format, w);
        let (old, limits) = (&self.limits, &mut next.limits);
        keep("limits.record-bytes", &old.record_bytes, &mut limits.record_bytes, w);
        keep("limits.operations", &old.operations, &mut limits.operations, w);
        keep("limits.copies", &old.copies, &mut limits.copies, w);
        keep("limits.descriptors", &old.descriptors, &mut limits.descriptors, w);
        // It was checked against the new size of a record.
        limits.inflight_bytes_per_connection = limits.inflight_bytes_per_connection.max(limits.record_bytes);
        for export in &mut next.exports {
            let Some(old) = self.exports.iter().find(|old| old.number() == export.number()) else { continue };
            let key = |name: &str| format!("export {:?} {name}", old.path);
            keep(&key("path"), &old.path, &mut export.path, w);
            let what = match &old.source {
                Source::Memory(_) => "mem-limit",
                Source::Directory(_) => "dir",
            };
            keep(&key(what), &old.source, &mut export.source, w);
            keep(&key("sync-metadata"), &old.sync_metadata, &mut export.sync_metadata, w);
            keep(&key("delegations"), &old.delegations, &mut export.delegations, w);
            keep(&key("exclusive"), &old.exclusive, &mut export.exclusive, w);
            // A directory that was opened for reading cannot be written through.
            if old.is_never_written()
                && !export.is_never_written()
                && matches!(old.source, Source::Directory(_))
            {
                export.read_only = true;
                export.rules.iter_mut().for_each(|rule| rule.read_only = true);
                w.push(key("read-only"));
            }
        }
        (next, waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn parse(text: &str) -> Config {
        Config::merge(&Flags::default(), toml::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn what_cannot_change_stays_and_is_named() {
        let old = parse("[[export]]\npath = \"/a\"\nmem-limit = \"1MiB\"");
        let new = parse(
            "lease = 7\n[limits]\nopens-per-client = 9\noperations = 9\n\
             [[export]]\npath = \"/a\"\nmem-limit = \"2MiB\"\nread-only = true\n[[export]]\npath = \"/b\"",
        );
        let (next, waiting) = old.reloaded(&new);
        assert_eq!(waiting, ["lease", "grace", "limits.operations", "export \"/a\" mem-limit"]);
        assert_eq!((next.lease, next.limits.operations), (90, 64));
        assert_eq!(next.limits.opens_per_client, 9);
        assert_eq!(next.exports[0].source, Source::Memory(1 << 20));
        assert!(next.exports[0].read_only);
        assert_eq!(next.exports.len(), 2);
        assert_eq!(next.reloaded(&next), (next.clone(), vec![]), "the same again changes nothing");
    }
}
