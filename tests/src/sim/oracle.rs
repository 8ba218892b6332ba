//! What was true when: the judge of all answers.

use std::collections::BTreeMap;

/// The truth about each file: what a reader must see. It is the server's data, or what the holder of the write
/// delegation made of it.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    truth: BTreeMap<usize, Vec<(u64, u64)>>,
    /// Client and file: the truth when a delegation was taken, and until when the client need not know.
    taken: BTreeMap<(u64, usize), (u64, u64)>,
    told: BTreeMap<usize, u64>,
    /// Say what happens.
    pub(super) trace: bool,
    pub(super) local: u64,
    pub(super) remote: u64,
    pub(super) revoked: u64,
}

impl Oracle {
    pub(super) fn say(&self, now: u64, what: impl FnOnce() -> String) {
        if self.trace {
            println!("{now:6} {}", what());
        }
    }

    pub(super) fn now(&self, file: usize) -> u64 {
        self.truth.get(&file).and_then(|h| h.last()).map_or(0, |(_, value)| *value)
    }

    pub(super) fn wrote(&mut self, now: u64, file: usize, value: u64) {
        self.say(now, || format!("file {file} is {value}"));
        self.truth.entry(file).or_insert_with(|| vec![(0, 0)]).push((now, value));
    }

    /// A delegation was taken: what was written under it and not flushed is lost, and that is right so. A client whose
    /// lease passed knows by its own clock, at once; another by its next SEQUENCE, at `until`.
    pub(super) fn took(&mut self, now: u64, until: u64, client: u64, file: usize, server: u64) {
        self.revoked += 1;
        self.say(now, || format!("file {file} taken from client {client}; the server has {server}"));
        let truth = self.now(file);
        self.taken.insert((client, file), (truth, until));
        if truth != server {
            self.wrote(now, file, server);
        }
    }

    /// Written by a client under a delegation that was taken, which it could not know yet: it may see it again itself.
    pub(super) fn wrote_in_vain(&mut self, client: u64, file: usize, value: u64) {
        let Some((last, _)) = self.taken.get_mut(&(client, file)) else {
            panic!("client {client} wrote file {file} and holds nothing");
        };
        *last = value;
    }

    /// A client answered an application by itself.
    pub(super) fn served(&mut self, now: u64, client: u64, file: usize, value: u64, holds: bool) {
        self.local += 1;
        if holds {
            let truth = self.now(file);
            assert_eq!(value, truth, "client {client} served an old value of file {file} at {now}");
        } else {
            // It could not know yet: the value is the last that it had a right to.
            let Some((last, until)) = self.taken.get(&(client, file)) else {
                panic!("client {client} served file {file} at {now} and holds nothing");
            };
            assert_eq!(value, *last, "client {client} served file {file} at {now}: not its last value");
            assert!(
                now < *until,
                "client {client} served file {file} at {now}: it was lost, and that was to be known"
            );
        }
    }

    /// The server answered a READ that was under way from `sent` to `now`.
    pub(super) fn read(&mut self, sent: u64, now: u64, file: usize, value: u64) {
        self.remote += 1;
        self.say(now, || format!("READ of file {file} sent at {sent}: {value}"));
        let none = vec![(0, 0)];
        let history = self.truth.get(&file).unwrap_or(&none);
        let right = history.iter().enumerate().any(|(at, (from, known))| {
            let until = history.get(at + 1).map_or(u64::MAX, |(next, _)| *next);
            *known == value && *from <= now && until >= sent
        });
        assert!(right, "READ of file {file} from {sent} to {now}: {value} was never true in that time");
    }

    /// A write delegation came back: nothing that was written under it may be missing.
    pub(super) fn returned(&self, client: u64, file: usize, server: u64) {
        assert_eq!(server, self.now(file), "client {client} returned file {file} before its data");
    }

    /// `change` never goes backwards, in the order in which the server tells it.
    pub(super) fn told(&mut self, file: usize, change: u64) {
        let before = self.told.insert(file, change).unwrap_or(0);
        assert!(change >= before, "file {file}: change went from {before} to {change}");
    }
}
