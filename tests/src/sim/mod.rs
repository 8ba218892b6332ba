//! Clients and a server in a world of chance: both halves of the delegations, joined by encoded messages over a network
//! that loses, doubles, delays and reorders them, with clients that are cut off and that die. An oracle judges each
//! answer. All of it follows from one seed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "here a broken rule is a panic")]

mod client;
mod machine;
mod oracle;
mod server;
mod wire;

use std::collections::BTreeMap;

use bytes::Bytes;
use client::Client;
use oracle::Oracle;
use server::Server;

/// What to play.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// All chance follows from it.
    pub seed: u64,
    /// How many clients.
    pub clients: usize,
    /// How many files.
    pub files: usize,
    /// For how long, in simulated milliseconds.
    pub length: u64,
    /// The lease, in milliseconds.
    pub lease: u64,
    /// Clients are cut off and die.
    pub faults: bool,
    /// Say what happens.
    pub trace: bool,
}

impl Default for Script {
    fn default() -> Self {
        Self { seed: 1, clients: 5, files: 3, length: 20_000, lease: 2_000, faults: true, trace: false }
    }
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Files opened, used and closed.
    pub finished: u64,
    /// Reads that a client answered by itself.
    pub local: u64,
    /// Reads that the server answered.
    pub remote: u64,
    /// Delegations taken.
    pub revoked: u64,
}

impl Seen {
    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.finished += other.finished;
        self.local += other.local;
        self.remote += other.remote;
        self.revoked += other.revoked;
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { finished, local, remote, revoked } = self;
        write!(
            f,
            "{finished} files used, {local} reads local, {remote} from the server, {revoked} delegations taken"
        )
    }
}

/// SplitMix64: small, and the same everywhere.
#[derive(Clone, Debug)]
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

#[derive(Debug)]
enum Message {
    Call(Bytes),
    Reply(u64, Bytes),
    Callback(u64, Bytes),
    CbReply(u64, Bytes),
}

/// Plays a script.
///
/// # Panics
/// Where a rule is broken.
#[must_use]
pub fn play(script: &Script) -> Seen {
    let mut rng = Rng(script.seed);
    let mut oracle = Oracle::default();
    oracle.trace = script.trace;
    let mut server = Server::new(script.lease);
    let mut network: BTreeMap<(u64, u64), Message> = BTreeMap::new();
    let mut clients: Vec<Client> = Vec::new();
    let mut cut: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut next_key, mut order, mut finished) = (0, 0, 0);
    for _ in 0..script.clients {
        next_key += 1;
        server.welcome(0, next_key);
        clients.push(Client::new(0, next_key, script.lease));
    }
    for now in (0..script.length).step_by(2) {
        while let Some(entry) = network.first_entry().filter(|e| e.key().0 <= now) {
            match entry.remove() {
                Message::Call(bytes) => server.receive(now, &bytes, &mut oracle),
                Message::CbReply(_, bytes) => server.answered(now, &bytes, &mut oracle),
                Message::Reply(to, bytes) => {
                    if let Some(client) = clients.iter_mut().find(|c| c.key == to) {
                        client.receive(now, &bytes, &mut oracle);
                    }
                }
                Message::Callback(to, bytes) => {
                    if let Some(client) = clients.iter_mut().find(|c| c.key == to) {
                        client.callback(now, &bytes);
                    }
                }
            }
        }
        server.tick(now, &mut oracle);
        for client in &mut clients {
            let dies = script.faults && rng.below(10_000) == 0;
            if dies || !client.alive {
                // A new instance; what the old one had is the server's to find out.
                next_key += 1;
                finished += client.finished;
                server.welcome(now, next_key);
                *client = Client::new(now, next_key, script.lease);
            }
            if script.faults && rng.below(5_000) == 0 {
                cut.insert(client.key, now + rng.below(script.lease * 3 / 2));
            }
            client.tick(now, &mut rng, &server, &mut oracle, script.files);
        }
        // Onto the network.
        let mut sent: Vec<(u64, Message)> = Vec::new();
        for client in &mut clients {
            let key = client.key;
            sent.extend(client.outbox.drain(..).map(|b| (key, Message::Call(b))));
            sent.extend(client.cb_outbox.drain(..).map(|b| (key, Message::CbReply(key, b))));
        }
        for (to, callback, bytes) in server.outbox.drain(..) {
            sent.push((to, if callback { Message::Callback(to, bytes) } else { Message::Reply(to, bytes) }));
        }
        for (client, message) in sent {
            if cut.get(&client).is_some_and(|until| *until > now) || rng.below(20) == 0 {
                continue;
            }
            let copies = 1 + u64::from(rng.below(20) == 0);
            for _ in 0..copies {
                let slow = if rng.below(10) == 0 { 100 } else { 10 };
                order += 1;
                network.insert((now + 1 + rng.below(slow), order), message.copy());
            }
        }
    }
    finished += clients.iter().map(|c| c.finished).sum::<u64>();
    Seen { finished, local: oracle.local, remote: oracle.remote, revoked: oracle.revoked }
}

impl Message {
    fn copy(&self) -> Self {
        match self {
            Self::Call(b) => Self::Call(b.clone()),
            Self::Reply(to, b) => Self::Reply(*to, b.clone()),
            Self::Callback(to, b) => Self::Callback(*to, b.clone()),
            Self::CbReply(from, b) => Self::CbReply(*from, b.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_seed_breaks_coherence_or_loses_a_write_or_hangs() {
        let seeds = std::env::var("NFS4_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
        let mut all = Seen::default();
        for seed in 0..seeds {
            let script = Script { seed, length: 8_000, ..Script::default() };
            let seen = std::panic::catch_unwind(|| play(&script)).unwrap_or_else(|_| {
                panic!(
                    "cargo xtask sim --seed {seed} --length {} --clients {}",
                    script.length, script.clients
                )
            });
            all.add(&seen);
        }
        // The world is not empty: each kind of thing happened.
        assert!(
            all.finished > seeds * 20 && all.local > seeds && all.remote > seeds && all.revoked > 0,
            "{all:?}"
        );
    }

    #[test]
    fn the_same_seed_plays_the_same() {
        let script = Script { seed: 7, length: 4_000, ..Script::default() };
        assert_eq!(format!("{:?}", play(&script)), format!("{:?}", play(&script)));
    }
}
