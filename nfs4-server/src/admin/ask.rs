//! The other end of the socket: asks and prints.

use std::io::{BufRead as _, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ClientRow, DelegationRow, LockRow, OpenRow, Page, Request, Row, SessionRow};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The socket cannot be used.
    #[error("{path}: {error} (does the server run, and is this its --admin-socket?)")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Not an answer.
    #[error("the server's answer is not understood: {0}")]
    Answer(#[from] serde_json::Error),
    /// The server refuses.
    #[error("{0}")]
    Refused(String),
    /// Nobody reads what is printed.
    #[error("output: {0}")]
    Output(std::io::Error),
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Answer<T> {
    Refused { error: String },
    Given(T),
}

/// One question.
pub fn ask<T: DeserializeOwned>(socket: &Path, request: &Request) -> Result<T, AskError> {
    let failed = |error| AskError::Socket { path: socket.to_owned(), error };
    let mut stream = UnixStream::connect(socket).map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(failed)?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).map_err(failed)?;
    match serde_json::from_str(&answer)? {
        Answer::Refused { error } => Err(AskError::Refused(error)),
        Answer::Given(answer) => Ok(answer),
    }
}

fn list<T: Row + Serialize + DeserializeOwned>(
    socket: &Path,
    json: bool,
    out: &mut impl Write,
    question: impl Fn(Option<String>) -> Request,
) -> Result<(), AskError> {
    let mut after = None;
    let mut first = true;
    loop {
        let page: Page<T> = ask(socket, &question(after))?;
        let text = if json {
            page.rows
                .iter()
                .map(|row| serde_json::to_string(row).map(|line| line + "\n"))
                .collect::<Result<_, _>>()?
        } else {
            table(&page.rows, first)
        };
        out.write_all(text.as_bytes()).map_err(AskError::Output)?;
        first = false;
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Columns as wide as what is in them; the last one ends where it ends.
fn table<T: Row>(rows: &[T], head: bool) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    if head {
        lines.push(T::HEAD.iter().map(|name| (*name).to_owned()).collect());
    }
    lines.extend(rows.iter().map(Row::cells));
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..T::HEAD.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Asks and prints the answer: a table, or with `json` one object a line.
pub fn show(socket: &Path, request: &Request, json: bool, out: &mut impl Write) -> Result<(), AskError> {
    match request {
        Request::Clients { .. } => list::<ClientRow>(socket, json, out, |after| Request::Clients { after }),
        Request::Sessions { .. } => {
            list::<SessionRow>(socket, json, out, |after| Request::Sessions { after })
        }
        Request::Opens { .. } => list::<OpenRow>(socket, json, out, |after| Request::Opens { after }),
        Request::Locks { .. } => list::<LockRow>(socket, json, out, |after| Request::Locks { after }),
        Request::Delegations { .. } => {
            list::<DelegationRow>(socket, json, out, |after| Request::Delegations { after })
        }
        Request::Evict { .. } | Request::Revoke { .. } => {
            let done: serde_json::Value = ask(socket, request)?;
            let text = match done.get("done").and_then(serde_json::Value::as_str) {
                Some(text) if !json => text.to_owned(),
                Some(_) | None => done.to_string(),
            };
            writeln!(out, "{text}").map_err(AskError::Output)
        }
    }
}
