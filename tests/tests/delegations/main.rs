//! File delegations over the wire: the scenarios of RFC 8881 §10.4 and what belongs to it, by the numbers of the
//! project's list (FS-1 to FS-44).

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod attributes;
mod granting;
mod races;
mod recalls;
mod recovery;
mod revocation;
mod stateids;
mod wants;

use std::time::Duration;

use nfs4_proto::{Fh, NoDelegation, OpenDelegation};
use nfs4_tests::wire::{Peer, TestServer};

/// Long enough for what must not come.
const MOMENT: Duration = Duration::from_millis(150);

const CONTENTION: OpenDelegation = OpenDelegation::NoneExt(NoDelegation::Contention { will_push: false });
const RESOURCE: OpenDelegation = OpenDelegation::NoneExt(NoDelegation::Resource { will_signal: false });

/// A server in memory, two clients that can be called, and a file.
async fn two() -> (TestServer, Peer, Peer, Fh) {
    let server = TestServer::mem().await;
    let (a, b, f) = two_of(&server).await;
    (server, a, b, f)
}

async fn two_of(server: &TestServer) -> (Peer, Peer, Fh) {
    let a = server.holder("a").await;
    let b = server.holder("b").await;
    let root = a.root.clone();
    // Made by one who asks for none, so that nobody holds anything yet.
    let mut maker = server.peer("maker").await;
    let f = maker.file(&root, "f", b"content").await;
    (a, b, f)
}
