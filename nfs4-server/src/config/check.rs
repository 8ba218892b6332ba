//! From flags and file to a configuration that holds together.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use ipnet::IpNet;

use super::{
    ClientRule, Config, DelegationMode, ExportConfig, ExportFile, File, Flags, ForFile, LogFormat, Size,
    Source, Squash,
};

/// Why a configuration is refused. The text names the key or flag.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("--config {path}: {error}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is not what it must be.
    #[error("--config {path}: {text}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why, with what is accepted.
        text: String,
    },
    /// A value cannot be used.
    #[error("{key}: {text}")]
    Value {
        /// The key or flag.
        key: String,
        /// Why, with what is accepted.
        text: String,
    },
}

fn refuse<T>(key: impl Into<String>, text: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError::Value { key: key.into(), text: text.into() })
}

impl File {
    /// Reads a TOML file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|error| ConfigError::Read { path: path.into(), error })?;
        toml::from_str(&text)
            .map_err(|e| ConfigError::Parse { path: path.into(), text: e.to_string().trim_end().to_owned() })
    }
}

impl Config {
    /// The configuration of these flags, and of the file that they name.
    pub fn from_flags(flags: &Flags) -> Result<Self, ConfigError> {
        let file = flags.config.as_deref().map(File::read).transpose()?.unwrap_or_default();
        Self::merge(flags, file)
    }

    /// The configuration of flags and file; flags win.
    pub fn merge(flags: &Flags, file: File) -> Result<Self, ConfigError> {
        let mut listen = if flags.listen.is_empty() {
            file.listen.clone().unwrap_or_default()
        } else {
            flags.listen.clone()
        };
        if listen.is_empty() {
            listen.push(SocketAddr::from((Ipv4Addr::LOCALHOST, 20_490)));
        }
        let lease = flags.lease.or(file.lease).unwrap_or(90);
        if !(1..=3600).contains(&lease) {
            return refuse("lease", format!("{lease} is not in 1..=3600 seconds"));
        }
        let grace = flags.grace.or(file.grace).unwrap_or(lease);
        if grace > 3600 {
            return refuse("grace", format!("{grace} is not in 0..=3600 seconds"));
        }
        let exports = exports(flags, &file)?;
        let state = match flags.state.clone().or_else(|| file.state.clone()) {
            Some(dir) => Some(dir),
            None => default_state(flags, &exports)?,
        };
        let admin_socket = flags.admin_socket.clone().or_else(|| file.admin_socket.clone()).or_else(|| {
            // A longer path is no address of a socket.
            let beside = state.as_ref().map(|dir| dir.join("admin.sock"));
            beside.filter(|path| path.as_os_str().len() < 108)
        });
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let threads = flags.threads.or(file.threads).map_or(2 * cores, usize::from);
        if threads == 0 || threads > 1024 {
            return refuse("threads", format!("{threads} is not in 1..=1024"));
        }
        check_limits(&file)?;
        Ok(Self {
            listen,
            exports,
            state,
            lease,
            grace,
            threads,
            admin_socket,
            metrics: flags.metrics.or(file.metrics),
            log: flags.log.clone().or(file.log).unwrap_or_else(|| "info".into()),
            log_format: flags.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            limits: file.limits,
        })
    }
}

fn check_limits(file: &File) -> Result<(), ConfigError> {
    let l = &file.limits;
    for (key, value, least, most) in [
        ("limits.connections", l.connections, 1, 1 << 20),
        ("limits.connections-per-address", l.connections_per_address, 1, 1 << 20),
        ("limits.record-bytes", l.record_bytes, 16 << 10, 64 << 20),
        ("limits.inflight-per-connection", l.inflight_per_connection, 1, 1 << 16),
        ("limits.inflight-bytes-per-connection", l.inflight_bytes_per_connection, l.record_bytes, 1 << 30),
        ("limits.clients", l.clients, 1, 1 << 20),
        ("limits.sessions-per-client", l.sessions_per_client, 1, 1024),
        ("limits.slots-per-session", l.slots_per_session, 1, 1024),
        ("limits.operations", l.operations, 8, 1024),
        ("limits.reply-cached-bytes", l.reply_cached_bytes, 512, 64 << 10),
        ("limits.opens-per-client", l.opens_per_client, 1, 1 << 27),
        ("limits.locks-per-client", l.locks_per_client, 1, 1 << 27),
        ("limits.lock-waiters-per-client", l.lock_waiters_per_client, 0, 1 << 20),
        ("limits.lock-waiters-per-file", l.lock_waiters_per_file, 0, 1 << 12),
        ("limits.lock-hold", l.lock_hold, 1, 60),
        ("limits.callbacks-per-client", l.callbacks_per_client, 1, 1 << 16),
        ("limits.copies", l.copies, 1, 4096),
        ("limits.callback-timeout", l.callback_timeout, 1, 60),
        ("limits.name-bytes", l.name_bytes, 1, 4096),
        // What an entry without attributes takes, and the reason why it has none.
        ("limits.readdir-entry-bytes", l.readdir_entry_bytes, l.name_bytes.saturating_add(128), 1 << 20),
        ("limits.xattr-bytes", l.xattr_bytes, 0, 64 << 10),
        ("limits.acl-entries", l.acl_entries, 1, 2000),
        ("limits.delegations", l.delegations, 0, crate::deleg::MOST),
        ("limits.delegations-per-client", l.delegations_per_client, 0, crate::deleg::MOST),
        ("limits.wants", l.wants, 0, 1 << 20),
        ("limits.wants-per-client", l.wants_per_client, 0, 1 << 20),
        ("limits.parked", l.parked, 1, 1 << 20),
        ("limits.parked-per-file", l.parked_per_file, 1, 1 << 16),
        ("limits.patience", l.patience, 1, 60),
    ] {
        if value < least || value > most {
            return refuse(key, format!("{value} is not in {least}..={most}"));
        }
    }
    Ok(())
}

fn exports(flags: &Flags, file: &File) -> Result<Vec<ExportConfig>, ConfigError> {
    let mem_limit = flags.mem_limit.or(file.mem_limit).unwrap_or(Size(1 << 30));
    let one = |path: &str, dir: Option<&PathBuf>, own: &ExportFile| {
        let squash = own.squash.or(flags.squash).or(file.squash);
        ExportConfig {
            path: path.to_owned(),
            source: match dir {
                Some(dir) => Source::Directory(dir.clone()),
                None => Source::Memory(own.mem_limit.unwrap_or(mem_limit).0),
            },
            squash: squash.unwrap_or(if dir.is_some() { Squash::Root } else { Squash::None }),
            read_only: flags.read_only || own.read_only.or(file.read_only).unwrap_or(false),
            sync_metadata: own.sync_metadata.or(flags.sync_metadata).or(file.sync_metadata).unwrap_or(true),
            exclusive: flags.exclusive || own.exclusive.or(file.exclusive).unwrap_or(false),
            delegations: own
                .delegations
                .or(flags.delegations)
                .or(file.delegations)
                .unwrap_or(DelegationMode::File),
            id: own.id,
            clients: Vec::new(),
            rules: Vec::new(),
        }
    };
    let all_clients = clients(file.clients.as_deref().unwrap_or_default())?;
    if flags.dir.is_some() || file.export.is_empty() {
        if let Some(first) = file.export.first() {
            return refuse(
                "DIR",
                format!("the config file has exports of its own (the first is {:?})", first.path),
            );
        }
        let only = one("/", flags.dir.as_ref(), &ExportFile::default());
        return Ok(vec![ExportConfig { clients: all_clients, ..only }]);
    }
    let mut all = Vec::new();
    for own in &file.export {
        let path = canonical(&own.path)?;
        if all.iter().any(|e: &ExportConfig| e.path == path) {
            return refuse("export.path", format!("{path:?} is there twice"));
        }
        let clients = own.clients.as_deref().map_or_else(|| Ok(all_clients.clone()), clients)?;
        let made = one(&path, own.dir.as_ref(), own);
        let rules = own.rules.iter().map(|rule| client_rule(rule, &made, flags)).collect::<Result<_, _>>()?;
        all.push(ExportConfig { clients, rules, ..made });
    }
    if all.len() > 1 && all.iter().any(|e| e.path == "/") {
        return refuse("export.path", "\"/\" must be the only export; several need a path each");
    }
    for inner in &all {
        for outer in &all {
            if inner.path.strip_prefix(&outer.path).is_some_and(|rest| rest.starts_with('/')) {
                return refuse("export.path", format!("{:?} lies inside of {:?}", inner.path, outer.path));
            }
        }
    }
    Ok(all)
}

/// What a rule leaves out is as for the export's other clients.
fn client_rule(rule: &ForFile, export: &ExportConfig, flags: &Flags) -> Result<ClientRule, ConfigError> {
    if rule.clients.is_empty() {
        return refuse("export.for.clients", format!("a rule of {:?} is for nobody", export.path));
    }
    Ok(ClientRule {
        clients: clients(&rule.clients)?,
        squash: rule.squash.unwrap_or(export.squash),
        read_only: flags.read_only || rule.read_only.unwrap_or(export.read_only),
    })
}

/// Addresses and networks.
fn clients(texts: &[String]) -> Result<Vec<IpNet>, ConfigError> {
    let parse = |text: &String| {
        let net = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        net.map(|net| net.trunc()).or_else(|_| {
            refuse(
                "clients",
                format!("{text:?} is neither an address (10.0.0.7, ::1) nor a network (10.0.0.0/8)"),
            )
        })
    };
    texts.iter().map(parse).collect()
}

fn canonical(path: &str) -> Result<String, ConfigError> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if !path.starts_with('/') || parts.iter().any(|p| *p == "." || *p == ".." || p.len() > 255) {
        return refuse("export.path", format!("{path:?} is no absolute path without \".\" and \"..\""));
    }
    Ok(format!("/{}", parts.join("/")))
}

/// For directories a folder named after the export (or the config file); none for memory.
fn default_state(flags: &Flags, exports: &[ExportConfig]) -> Result<Option<PathBuf>, ConfigError> {
    let named_after = match (&flags.config, exports) {
        (Some(config), _) if exports.iter().any(|e| matches!(e.source, Source::Directory(_))) => config,
        (None, [ExportConfig { source: Source::Directory(dir), .. }]) => dir,
        _ => return Ok(None),
    };
    let absolute = std::fs::canonicalize(named_after).or_else(|_| std::path::absolute(named_after));
    let Ok(absolute) = absolute else {
        return refuse("DIR", format!("{} cannot be made absolute", named_after.display()));
    };
    let name: String =
        absolute.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let base = if rustix::process::geteuid().is_root() {
        PathBuf::from("/var/lib/nfs4-server")
    } else if let Some(dir) = std::env::var_os("XDG_STATE_HOME").filter(|dir| !dir.is_empty()) {
        PathBuf::from(dir).join("nfs4-server")
    } else if let Some(home) = std::env::var_os("HOME").filter(|dir| !dir.is_empty()) {
        PathBuf::from(home).join(".local/state/nfs4-server")
    } else {
        return refuse("--state", "neither $XDG_STATE_HOME nor $HOME is set: say where state is to be kept");
    };
    // Two paths may give one name: the end tells them apart.
    let mark = siphasher::sip::SipHasher13::new().hash(absolute.as_os_str().as_encoded_bytes());
    Ok(Some(base.join(format!("{}-{:08x}", name.trim_matches('-'), mark & 0xffff_ffff))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        let file = toml::from_str(text)
            .map_err(|e: toml::de::Error| ConfigError::Parse { path: "test".into(), text: e.to_string() })?;
        Config::merge(&Flags::default(), file)
    }

    #[test]
    fn without_anything_memory_is_served_on_loopback() {
        let config = parse("").unwrap();
        assert_eq!(config.listen, ["127.0.0.1:20490".parse().unwrap()]);
        assert_eq!(config.exports.len(), 1);
        assert_eq!(config.exports[0].squash, Squash::None);
        assert_eq!(config.state, None);
        assert_eq!(config.grace, config.lease);
    }

    #[test]
    fn an_unknown_key_is_named_with_the_accepted_ones() {
        let error = parse("leese = 5").unwrap_err().to_string();
        assert!(error.contains("leese") && error.contains("lease"), "{error}");
        let error = parse("[limits]\nconection = 5").unwrap_err().to_string();
        assert!(error.contains("conection") && error.contains("connections"), "{error}");
    }

    #[test]
    fn a_flag_wins_over_the_file() {
        let flags = Flags { lease: Some(7), ..Flags::default() };
        let config = Config::merge(&flags, toml::from_str("lease = 30\ngrace = 9").unwrap()).unwrap();
        assert_eq!((config.lease, config.grace), (7, 9));
    }

    #[test]
    fn exports_must_not_nest_or_repeat() {
        for bad in [
            "[[export]]\npath = \"/a\"\n[[export]]\npath = \"/a/\"",
            "[[export]]\npath = \"/a\"\n[[export]]\npath = \"/a/b\"",
            "[[export]]\npath = \"/\"\n[[export]]\npath = \"/b\"",
            "[[export]]\npath = \"a\"",
            "[[export]]\npath = \"/a/../b\"",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let config = parse(
            "squash = \"all\"\n[[export]]\npath = \"/a\"\n[[export]]\npath = \"//ab/c/\"\nsquash = \"none\"",
        )
        .unwrap();
        assert_eq!(config.exports[1].path, "/ab/c");
        assert_eq!((config.exports[0].squash, config.exports[1].squash), (Squash::All, Squash::None));
    }

    #[test]
    fn options_for_some_clients_are_those_of_the_export_where_they_are_left_out() {
        let config = parse(
            "[[export]]\npath = \"/a\"\nread-only = true\nsquash = \"all\"\n\
             [[export.for]]\nclients = [\"10.0.0.1\"]\nread-only = false\n\
             [[export.for]]\nclients = [\"10.0.0.0/8\"]\nsquash = \"none\"\n[[export]]\npath = \"/b\"",
        )
        .unwrap();
        let rules: Vec<_> = config.exports[0].rules.iter().map(|r| (r.squash, r.read_only)).collect();
        assert_eq!(rules, [(Squash::All, false), (Squash::None, true)]);
        assert!(!config.exports[0].is_never_written());
        for bad in ["clients = []", "read-only = true", "clients = [\"host\"]", "clients = [\"::1\"]\nid = 1"]
        {
            assert!(parse(&format!("[[export]]\npath = \"/a\"\n[[export.for]]\n{bad}")).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_limit_out_of_range_is_refused_with_its_range() {
        let error = parse("[limits]\noperations = 2").unwrap_err().to_string();
        assert!(error.contains("limits.operations") && error.contains("8..=1024"), "{error}");
    }
}
