//! The configuration as a file: what `--check-config` prints.

use std::collections::HashMap;

use super::{ClientRule, Config, ExportConfig, ExportFile, File, Flags, ForFile, Size, Source};

/// Keys without a default: they say which export it is and where things are.
const OWN: [&str; 4] = ["path", "dir", "id", "state"];

/// The lines of a file as it is printed here, each value on one: number of its table and key, line, value if there is
/// one.
fn values(text: &str) -> impl Iterator<Item = ((usize, &str), &str, Option<&str>)> {
    let mut table = 0_usize;
    text.lines().map(move |line| {
        table = table.saturating_add(usize::from(line.starts_with('[')));
        match line.split_once(" = ") {
            Some((key, value)) => ((table, key), line, Some(value)),
            None => ((table, line), line, None),
        }
    })
}

impl ClientRule {
    fn as_file(&self) -> ForFile {
        ForFile {
            clients: self.clients.iter().map(ToString::to_string).collect(),
            squash: Some(self.squash),
            read_only: Some(self.read_only),
        }
    }
}

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
            rules: self.rules.iter().map(ClientRule::as_file).collect(),
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

    /// The same as TOML. A value that differs from the default has it behind it, as a comment.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let text = toml::to_string(&self.as_file())?;
        let Some(default) = self.defaults() else { return Ok(text) };
        let default = toml::to_string(&default.as_file())?;
        let defaults: HashMap<(usize, &str), &str> =
            values(&default).filter_map(|(place, _, value)| Some((place, value?))).collect();
        let mut marked = String::with_capacity(text.len());
        for (place, line, value) in values(&text) {
            marked.push_str(line);
            let usual = defaults.get(&place).copied();
            if value.is_some() && value != usual && !OWN.contains(&place.1) {
                marked.push_str(" # default: ");
                marked.push_str(usual.unwrap_or("none"));
            }
            marked.push('\n');
        }
        Ok(marked)
    }

    /// The same as JSON, with every key; null where there is no value.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(&self.as_file())
    }

    /// This configuration with all that has a default left out.
    fn defaults(&self) -> Option<Self> {
        let bare = |export: &ExportConfig| {
            let ExportFile { path, dir, id, mut rules, .. } = export.as_file();
            for rule in &mut rules {
                (rule.squash, rule.read_only) = (Some(export.squash), Some(export.read_only));
            }
            ExportFile { path, dir, id, rules, ..ExportFile::default() }
        };
        let file = File {
            state: self.state.clone(),
            // By default the lease, whatever that is.
            grace: Some(self.lease),
            export: self.exports.iter().map(bare).collect(),
            ..File::default()
        };
        Self::merge(&Flags::default(), file).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::merge(&Flags::default(), toml::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn what_differs_from_the_default_is_marked_and_nothing_else() {
        let plain = config("").to_toml().unwrap();
        assert!(!plain.contains('#'), "{plain}");
        let text = "lease = 10\nmetrics = \"127.0.0.1:9\"\n[limits]\noperations = 9\n\
                    [[export]]\npath = \"/a\"\n[[export.for]]\nclients = [\"::1\"]\nsquash = \"all\"\n[[export]]\npath = \"/b\"\nmem-limit = \"3MiB\"";
        let printed = config(text).to_toml().unwrap();
        let marked: Vec<&str> = printed.lines().filter(|line| line.contains('#')).collect();
        let wanted = [
            "lease = 10 # default: 90",
            "metrics = \"127.0.0.1:9\" # default: none",
            "operations = 9 # default: 64",
            "squash = \"all\" # default: \"none\"",
            "mem-limit = \"3MiB\" # default: \"1GiB\"",
        ];
        assert_eq!(marked, wanted, "{printed}");
    }

    #[test]
    fn the_json_form_has_every_key_with_its_value() {
        let json: serde_json::Value =
            serde_json::from_str(&config("[limits]\noperations = 9").to_json().unwrap()).unwrap();
        assert_eq!(json["limits"]["operations"], 9);
        assert_eq!(json["limits"]["connections"], 4096);
        assert_eq!(json["export"][0]["mem-limit"], "1GiB");
        assert!(json["metrics"].is_null());
    }

    #[test]
    fn what_is_printed_gives_the_same_configuration_again() {
        let texts = [
            "",
            "lease = 10\nstate = \"/tmp/s\"\n[[export]]\npath = \"/a\"\ndir = \"/srv/a\"\nclients = [\"10.1.2.3/8\", \"::1\"]\nid = 7\n\
             [[export.for]]\nclients = [\"10.1.0.0/16\"]\nsquash = \"none\"\n\
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
