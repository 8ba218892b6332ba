//! The server's end of the socket.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nfs4_proto::ClientId;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

use super::{PAGE, Page, Request};
use crate::core::Core;

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
#[error("--admin-socket {path}: {error}")]
pub struct AdminError {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub error: std::io::Error,
}

/// Connections at one time; a further one is closed.
const CONNECTIONS: usize = 8;
/// Bytes of a question; a longer one closes the connection.
const LINE: u64 = 4096;
/// Without a question for so long, or with an answer that is not read for so long, a connection is closed.
const IDLE: Duration = Duration::from_secs(60);

/// The socket, which goes with the server.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Takes a path. A socket that nobody serves any more is replaced, everything else is left alone.
    pub(crate) fn bind(path: &Path) -> Result<Self, AdminError> {
        let failed = |error| AdminError { path: path.to_owned(), error };
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
        if is_socket && std::os::unix::net::UnixStream::connect(path).is_err() {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let socket = Self { listener, path: path.to_owned() };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(socket)
    }

    /// Serves until it is dropped.
    pub(crate) async fn serve(self, core: Arc<Core>) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!("admin socket: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Whoever came before the file's mode was set.
            let own = rustix::process::geteuid().as_raw();
            if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0) {
                continue;
            }
            if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                let served = Arc::clone(&core);
                core.beside(async move {
                    // Whoever hangs up gets no answer.
                    drop(answer_all(stream, served).await);
                    drop(place);
                });
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Gone already is what was wanted.
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn answer_all(stream: UnixStream, core: Arc<Core>) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut line = Vec::new();
        let got = tokio::time::timeout(IDLE, (&mut read).take(LINE).read_until(b'\n', &mut line)).await;
        if !matches!(got, Ok(Ok(1..))) {
            return Ok(());
        }
        let whole = line.ends_with(b"\n");
        let answer = match serde_json::from_slice(&line) {
            _ if !whole => refused(format!("a question ends with a line and has at most {LINE} bytes")),
            Err(error) => refused(error.to_string()),
            Ok(request) => {
                let core = Arc::clone(&core);
                let done = tokio::task::spawn_blocking(move || carry_out(&core, &request)).await;
                done.unwrap_or_else(|_| refused("the server failed to answer".into()))
            }
        };
        let text = format!("{answer}\n");
        match tokio::time::timeout(IDLE, write.write_all(text.as_bytes())).await {
            Ok(Ok(())) if whole => {}
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "every caller has just made it")]
fn refused(why: String) -> Value {
    json!({ "error": why })
}

fn page<T: Serialize>(page: Page<T>) -> Value {
    serde_json::to_value(page).unwrap_or_else(|error| refused(error.to_string()))
}

/// Client IDs are told as hexadecimal numbers.
pub(crate) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (n, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Where to go on; the answer where that is none of our cursors.
fn cursor<T>(after: Option<&String>, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Value> {
    let parsed =
        after.map(|text| parse(text).ok_or_else(|| refused("`after` is not what a page before said".into())));
    parsed.transpose()
}

fn carry_out(core: &Core, request: &Request) -> Value {
    list_or_do(core, request).unwrap_or_else(|refused| refused)
}

fn list_or_do(core: &Core, request: &Request) -> Result<Value, Value> {
    Ok(match request {
        Request::Clients { after } => {
            let after = cursor(after.as_ref(), number)?.map(ClientId);
            page(core.client_rows(after, PAGE))
        }
        Request::Sessions { after } => page(core.state.session_rows(cursor(after.as_ref(), bytes)?, PAGE)),
        Request::Opens { after } => page(core.files.open_rows(cursor(after.as_ref(), bytes)?, PAGE)),
        Request::Locks { after } => page(core.files.lock_rows(cursor(after.as_ref(), bytes)?, PAGE)),
        Request::Delegations { after } => {
            page(core.delegation_rows(cursor(after.as_ref(), bytes::<12>)?, PAGE))
        }
        Request::Evict { client } => match number(client).map(ClientId) {
            None => refused(format!("{client:?} is no client ID")),
            Some(id) => match core.state.evict(id) {
                Ok(true) => json!({ "done": format!("{client} is evicted") }),
                Ok(false) => refused(format!("there is no client {client}")),
                Err(error) => refused(format!("its record cannot be removed, so it stays: {error}")),
            },
        },
        Request::Revoke { stateid } => match bytes(stateid) {
            None => refused(format!(
                "{stateid:?} is no stateid: 24 hexadecimal digits, as `opens` and `locks` tell"
            )),
            Some(other) => match core.revoke(other) {
                Some(client) => json!({ "done": format!("{stateid} is revoked; {:#x} is told", client.0) }),
                None => refused(format!("there is no open and no lock with the stateid {stateid}")),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_read_as_they_are_told() {
        assert_eq!(number("0x10"), Some(16));
        assert_eq!(number("10"), Some(10));
        for bad in ["", "0x", "-1", "0x1ffffffffffffffff", "é"] {
            assert_eq!(number(bad), None, "{bad}");
        }
        assert_eq!(bytes("00ff"), Some([0, 255]));
        for bad in ["", "00f", "00fg", "00ff00", "ééé", "+0ff"] {
            assert!(bad == "+0ff" || bytes::<2>(bad).is_none(), "{bad}");
        }
    }
}
