//! Many clients, each with many opens.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use nfs4_client::compound::OpenFor;
use nfs4_client::{Compound, Options, Session};
use nfs4_proto::Fh;
use tokio::task::JoinSet;

use super::{Told, directory, fill};

/// Opens by one compound.
const BATCH: u64 = 20;
/// Clients that work at once.
const AT_ONCE: u64 = 16;

/// Clients with their opens. They last as long as this does.
#[derive(Debug)]
pub struct Opens {
    clients: Vec<Session>,
    dir: Fh,
    files: u64,
}

impl Opens {
    /// Makes the files that are to be opened.
    pub async fn files(address: SocketAddr, files: u64, told: Told<'_>) -> Result<Self> {
        let maker = Session::connect(&address.to_string(), &Options::default()).await?;
        let dir = directory(&maker, "opens").await?;
        fill(&maker, &dir, files, told).await?;
        maker.close().await?;
        Ok(Self { clients: Vec::new(), dir, files })
    }

    /// Makes clients, each with a session of 16 slots on a connection of its own.
    pub async fn clients(&mut self, address: SocketAddr, clients: u64, told: Told<'_>) -> Result<()> {
        let options = Options { slots: 16, back_channel: false, ..Options::default() };
        for n in 0..clients {
            let session = Session::connect(&address.to_string(), &options).await;
            self.clients.push(session.with_context(|| format!("client {}", n + 1))?);
            told(n + 1, clients);
        }
        Ok(())
    }

    /// Lets every client open every file once.
    pub async fn open(&self, told: Told<'_>) -> Result<u64> {
        opens(&self.clients, &self.dir, self.files, told).await
    }
}

/// Lets each of these clients open the files `0..files` of a directory made by [`fill`].
pub async fn opens(clients: &[Session], dir: &Fh, files: u64, told: Told<'_>) -> Result<u64> {
    let all = files * clients.len() as u64;
    let (mut running, mut waiting, mut done) = (JoinSet::new(), clients.iter(), 0);
    loop {
        while (running.len() as u64) < AT_ONCE {
            let Some(session) = waiting.next() else { break };
            running.spawn(one(session.clone(), dir.clone(), files));
        }
        let Some(ended) = running.join_next().await else { return Ok(done) };
        done += ended.context("a client was given up")??;
        told(done, all);
    }
}

async fn one(session: Session, dir: Fh, files: u64) -> Result<u64> {
    for first in (0..files).step_by(usize::try_from(BATCH)?) {
        let mut c = Compound::new();
        for at in first..files.min(first + BATCH) {
            c.putfh(&dir);
            c.open(b"scale", format!("f{at:07}"), OpenFor::Read);
        }
        session.call(c).await?.all_ok()?;
    }
    Ok(files)
}
