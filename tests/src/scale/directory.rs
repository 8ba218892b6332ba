//! One large directory, listed while it changes.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context as _, Result, ensure};
use nfs4_client::compound::OpenFor;
use nfs4_client::{Compound, Session};
use nfs4_proto::{
    ArgOp, Attr, AttrSet, Attrs, Component, CreateHow, CreateType, Fh, LinkArgs, StateId, Status,
};
use tokio::task::JoinSet;

use super::{AT_ONCE, Told};

/// Files made by one compound.
const BATCH: u64 = 15;

fn name(at: u64) -> String {
    format!("f{at:07}")
}

fn mode(mode: u32) -> Attrs {
    let mut attrs = Attrs::new();
    attrs.set_mode(mode);
    attrs
}

/// Makes a directory below the root.
pub async fn directory(session: &Session, name: &str) -> Result<Fh> {
    let mut c = Compound::new();
    c.putrootfh();
    let made = c.create(CreateType::Dir, name, mode(0o755));
    let fh = c.getfh();
    let results = session.call(c).await?;
    results.get(made).with_context(|| format!("directory {name}"))?;
    Ok(results.get(fh)?.object.clone())
}

/// Adds an OPEN that makes an empty file, and its CLOSE.
fn file(c: &mut Compound, dir: &Fh, name: &str) {
    c.putfh(dir);
    c.create_file(b"scale", name, OpenFor::Write, CreateHow::Unchecked(Box::new(mode(0o644))));
    c.close(StateId::CURRENT);
}

/// Runs one compound for each batch of `0..count`, many at once.
async fn batches(
    session: &Session,
    count: u64,
    told: Told<'_>,
    compound: impl Fn(std::ops::Range<u64>) -> Compound,
) -> Result<()> {
    let mut running = JoinSet::new();
    let mut next = 0;
    let mut done = 0;
    while next < count || !running.is_empty() {
        if next < count && running.len() < AT_ONCE {
            let end = count.min(next + BATCH);
            let (c, session) = (compound(next..end), session.clone());
            running.spawn(async move {
                let results = session.call(c).await?;
                results.all_ok()?;
                Ok::<_, anyhow::Error>(end - next)
            });
            next = end;
        } else if let Some(ended) = running.join_next().await {
            done += ended.context("a call was given up")??;
            told(done, count);
        }
    }
    Ok(())
}

/// Makes `count` empty files in a directory.
pub async fn fill(session: &Session, dir: &Fh, count: u64, told: Told<'_>) -> Result<()> {
    batches(session, count, told, |range| {
        let mut c = Compound::new();
        for at in range {
            file(&mut c, dir, &name(at));
        }
        c
    })
    .await
}

/// Makes `count` names of one file in a directory: entries without inodes.
pub async fn entries_of_one_file(session: &Session, dir: &Fh, count: u64, told: Told<'_>) -> Result<()> {
    let mut c = Compound::new();
    file(&mut c, dir, "one");
    session.call(c).await?.all_ok()?;
    let mut c = Compound::new();
    c.putfh(dir);
    c.lookup("one");
    let fh = c.getfh();
    let one = session.call(c).await?.get(fh)?.object.clone();
    batches(session, count, told, |range| {
        let mut c = Compound::new();
        for at in range {
            let newname = Component::new(name(at).into_bytes()).unwrap_or_default();
            c.putfh(&one);
            c.savefh();
            c.putfh(dir);
            c.push(ArgOp::Link(LinkArgs { newname }));
        }
        c
    })
    .await
}

/// What the other client did meanwhile.
#[derive(Debug, Default)]
pub struct Churn {
    /// Ends it.
    pub stop: AtomicBool,
    /// Files made.
    pub made: AtomicU64,
    /// Files removed, of those that were there before.
    pub removed: AtomicU64,
}

/// Makes files and removes every second one of the files `from..` of the directory, one after the other, until it is
/// told to stop. No name is made twice.
pub async fn churn(session: Session, dir: Fh, from: u64, count: u64, churn: Arc<Churn>) -> Result<()> {
    let mut at = from + 1;
    while !churn.stop.load(Ordering::Relaxed) {
        let made = churn.made.load(Ordering::Relaxed);
        let mut c = Compound::new();
        file(&mut c, &dir, &format!("new{made}"));
        if at < count {
            c.putfh(&dir);
            c.remove(name(at));
        }
        session.call(c).await?.all_ok()?;
        churn.made.store(made + 1, Ordering::Relaxed);
        if at < count {
            churn.removed.fetch_add(1, Ordering::Relaxed);
        }
        at += 2;
    }
    Ok(())
}

/// What a listing brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Files that stayed all the time and were listed (exactly once, else it is an error).
    pub stayed: u64,
    /// Others.
    pub others: u64,
    /// READDIRs.
    pub pages: u64,
}

/// Lists a directory that [`fill`] made and [`churn`] changes. Of the files below `from`, and of every second one above,
/// each must come exactly once; no name may come twice.
pub async fn list(session: &Session, dir: &Fh, from: u64, count: u64, told: Told<'_>) -> Result<Listing> {
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let (mut cookie, mut verifier, mut pages) = (0, [0; 8], 0);
    loop {
        let mut c = Compound::new();
        c.putfh(dir);
        let page = c.readdir(cookie, verifier, 64 << 10, AttrSet::of(&[Attr::Type, Attr::Fileid]));
        let results = session.call(c).await?;
        ensure!(results.status() == Status::Ok, "page {pages}: {}", results.status());
        let page = results.get(page)?;
        pages += 1;
        verifier = page.cookieverf;
        for entry in &page.reply.entries.0 {
            cookie = entry.cookie;
            let name = entry.name.bytes().to_vec();
            ensure!(seen.insert(name.clone()), "{} was listed twice", String::from_utf8_lossy(&name));
        }
        told((seen.len() as u64).min(count), count);
        if page.reply.eof {
            break;
        }
        ensure!(!page.reply.entries.0.is_empty(), "page {pages} is empty and not the last");
    }
    let mut stayed = 0;
    for at in (0..count).filter(|at| *at <= from || (at - from).is_multiple_of(2)) {
        ensure!(seen.contains(name(at).as_bytes()), "{} was not listed", name(at));
        stayed += 1;
    }
    Ok(Listing { stayed, others: seen.len() as u64 - stayed, pages })
}
