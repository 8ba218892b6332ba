//! The configuration as a file: what `--check-config` prints.

use super::{Config, ExportConfig, ExportFile, File, Size, Source};

impl ExportConfig {
    fn as_file(&self) -> ExportFile {
        let (dir, mem_limit) = match &self.source {
            Source::Memory(limit) => (None, Some(Size(*limit))),
            Source::Directory(dir) => (Some(dir.clone()), None),
        };
        ExportFile {
            path: self.path.clone(),
            dir,
            squash: Some(self.squash),
            read_only: Some(self.read_only),
            sync_metadata: Some(self.sync_metadata),
            exclusive: Some(self.exclusive),
            delegations: Some(self.delegations),
            mem_limit,
            id: self.id,
            clients: Some(self.clients.iter().map(ToString::to_string).collect()),
        }
    }
}

impl Config {
    /// Every key with the value that is used, as a file that gives this configuration again.
    #[must_use]
    pub fn as_file(&self) -> File {
        File {
            listen: Some(self.listen.clone()),
            state: self.state.clone(),
            lease: Some(self.lease),
            grace: Some(self.grace),
            threads: u16::try_from(self.threads).ok(),
            metrics: self.metrics,
            admin_socket: self.admin_socket.clone(),
            log: Some(self.log.clone()),
            log_format: Some(self.log_format),
            limits: self.limits,
            export: self.exports.iter().map(ExportConfig::as_file).collect(),
            ..File::default()
        }
    }

    /// The same as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&self.as_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn what_is_printed_gives_the_same_configuration_again() {
        let texts = [
            "",
            "lease = 10\nstate = \"/tmp/s\"\n[[export]]\npath = \"/a\"\ndir = \"/srv/a\"\nclients = [\"10.1.2.3/8\", \"::1\"]\nid = 7\n\
             [[export]]\npath = \"/b\"\nmem-limit = \"3MiB\"\nread-only = true\n[limits]\noperations = 9",
        ];
        for text in texts {
            let config = Config::merge(&Flags::default(), toml::from_str(text).unwrap()).unwrap();
            let printed = config.to_toml().unwrap();
            let again = Config::merge(&Flags::default(), toml::from_str(&printed).unwrap()).unwrap();
            assert_eq!(again, config, "{printed}");
            assert!(printed.contains("connections-per-address = 512"), "{printed}");
        }
    }
}
