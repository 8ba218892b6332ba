//! Rules of READDIR's material.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::super::{Backend, Create, Room};
use super::{Ground, Verdict, fails, hold, mode, room, same};

/// A directory with files, and names of one object, in it; the names.
async fn filled(g: &Ground, count: usize) -> Result<BTreeSet<Bytes>, super::Broken> {
    let (first, _open) = g.file("f000").await?;
    let mut names = BTreeSet::from([Bytes::from_static(b"f000")]);
    for number in 1..count {
        let name = format!("f{number:03}");
        if number % 10 == 0 {
            g.fs.link(&g.root, &first, &g.dir, name.as_bytes()).await?;
        } else {
            g.fs.create(&g.root, &g.dir, name.as_bytes(), Create::Fifo, &mode(0o644)).await?;
        }
        names.insert(Bytes::from(name));
    }
    Ok(names)
}

/// Each entry is the last of a page once; two names of one object are two entries (S-13).
pub async fn every_name_is_listed_once_for_every_page_size(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let names = filled(&g, 60).await?;
    for entries in [1, 2, 3, 7, 59, 60, 61, 1_000] {
        let listed = g.names(&g.dir, entries).await?;
        same!(listed.len(), names.len());
        same!(listed.into_iter().collect::<BTreeSet<_>>(), names);
    }
    let page = g.fs.list(&g.root, &g.dir, 0, room(1_000)).await?;
    hold!(page.eof);
    let cookies: BTreeSet<u64> = page.entries.iter().map(|entry| entry.cookie).collect();
    same!(cookies.len(), names.len());
    hold!(cookies.iter().all(|&cookie| cookie > 2));
    hold!(page.entries.iter().all(|entry| &*entry.name != b"." && &*entry.name != b".."));
    let last = page.entries.last().map_or(0, |entry| entry.cookie);
    let end = g.fs.list(&g.root, &g.dir, last, room(10)).await?;
    hold!(end.eof && end.entries.is_empty());
    Ok(())
}

/// Entries that are there all along come exactly once, whatever else comes and goes, and the cookie of an entry
/// that was removed goes on (S-14).
pub async fn a_listing_goes_on_while_the_directory_changes(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let names = filled(&g, 200).await?;
    let mut seen: Vec<Bytes> = Vec::new();
    let mut gone = BTreeSet::new();
    let (mut cookie, mut round) = (0, 0);
    loop {
        let page = g.fs.list(&g.root, &g.dir, cookie, room(7)).await?;
        hold!(page.eof || !page.entries.is_empty());
        cookie = page.entries.last().map_or(cookie, |entry| entry.cookie);
        let last = page.entries.last().map(|entry| entry.name.clone());
        seen.extend(page.entries.into_iter().map(|entry| entry.name));
        if page.eof {
            break;
        }
        hold!(round < 1_000, "the listing does not end");
        // The cookie's own entry goes, one that was not listed goes, one comes, one gets another name.
        let unseen = names.iter().find(|&name| !seen.contains(name) && !gone.contains(name)).cloned();
        for name in last.into_iter().filter(|name| names.contains(name)).chain(unseen) {
            g.fs.remove(&g.root, &g.dir, &name).await?;
            gone.insert(name);
        }
        let moved = names.iter().rev().find(|&name| !seen.contains(name) && !gone.contains(name)).cloned();
        if let Some(name) = moved {
            g.fs.rename(&g.root, (&g.dir, &name), (&g.dir, format!("moved{round}").as_bytes())).await?;
            gone.insert(name);
        }
        if round < 5 {
            g.mkdir(&g.dir, &format!("new{round}")).await?;
        }
        round += 1;
    }
    hold!(round > 5, "only {round} pages");
    for name in names.iter().filter(|name| !gone.contains(*name)) {
        let times = seen.iter().filter(|seen| *seen == name).count();
        hold!(times == 1, "{name:?} comes {times} times");
    }
    for name in &gone {
        hold!(seen.iter().filter(|seen| *seen == name).count() <= 1);
    }
    Ok(())
}

/// Never more than asked for, but one entry however little it is.
pub async fn a_listing_keeps_within_its_room(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    filled(&g, 30).await?;
    for bytes in [0, 1, 27, 28, 29, 100, 500] {
        let room = Room { entries: 1_000, bytes, meta: false, nodes: false };
        let page = g.fs.list(&g.root, &g.dir, 0, room).await?;
        let used: usize = page.entries.iter().map(|entry| entry.name.len() + 24).sum();
        hold!(page.entries.len() == 1 || used <= bytes, "{used} of {bytes}");
        hold!(!page.entries.is_empty());
        hold!(!page.eof);
    }
    same!(g.fs.list(&g.root, &g.dir, 0, room(5)).await?.entries.len(), 5);
    same!(g.fs.list(&g.root, &g.dir, 0, room(0)).await?.entries.len(), 1);
    Ok(())
}

/// 1 and 2 are nobody's (§18.23.3); a made-up one is refused or ends the listing.
pub async fn reserved_cookies_are_refused(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    filled(&g, 5).await?;
    fails!(g.fs.list(&g.root, &g.dir, 1, room(10)), BadCookie);
    fails!(g.fs.list(&g.root, &g.dir, 2, room(10)), BadCookie);
    match g.fs.list(&g.root, &g.dir, u64::MAX, room(10)).await {
        Ok(page) => hold!(page.eof && page.entries.is_empty()),
        Err(fault) => same!(fault, super::super::Fault::BadCookie),
    }
    Ok(())
}

/// Attributes and nodes of a page are the ones that LOOKUP and GETATTR find.
pub async fn an_entry_tells_what_its_object_tells(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    filled(&g, 12).await?;
    g.mkdir(&g.dir, "dir").await?;
    let all = Room { meta: true, nodes: true, ..room(100) };
    for entry in g.fs.list(&g.root, &g.dir, 0, all).await?.entries {
        let node = g.fs.lookup(&g.root, &g.dir, &entry.name).await?;
        same!(entry.node.map(|node| node.oid), Some(node.oid));
        same!(entry.meta, Some(Ok(g.meta(&node).await?)));
    }
    let plain = g.fs.list(&g.root, &g.dir, 0, room(100)).await?;
    hold!(plain.entries.iter().all(|entry| entry.meta.is_none()));
    Ok(())
}

/// No entries is the end.
pub async fn an_empty_directory_ends_at_once(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let page = g.fs.list(&g.root, &g.dir, 0, room(10)).await?;
    hold!(page.eof && page.entries.is_empty());
    g.file("f").await?;
    g.remove("f").await?;
    let page = g.fs.list(&g.root, &g.dir, 0, room(10)).await?;
    hold!(page.eof && page.entries.is_empty());
    Ok(())
}

/// A verifier that moves with each entry makes long listings fail (trap 25).
pub async fn the_cookie_verifier_does_not_follow_changes(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let before = g.fs.cookie_verifier();
    filled(&g, 20).await?;
    g.remove("f003").await?;
    same!(g.fs.cookie_verifier(), before);
    Ok(())
}

/// NOTDIR for anything else.
pub async fn only_directories_are_listed(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    fails!(g.fs.list(&g.root, &file, 0, room(10)), NotDir);
    Ok(())
}
