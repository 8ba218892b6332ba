//! The hand-written messages of `nfs4-proto/tests/golden`, as bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One message.
#[derive(Clone, Debug)]
pub struct Message {
    /// `call`, `reply`, `cbcall` or `cbreply`.
    pub kind: String,
    /// What `Display` says of it.
    pub text: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Hexadecimal digits, 'text' in quotes, and # before comments.
fn line_bytes(line: &str, out: &mut Vec<u8>) {
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        let (hex, comment) = part.split_once('#').map_or((part, false), |(hex, _)| (hex, true));
        let digits: Vec<u8> =
            hex.chars().filter_map(|c| c.to_digit(16)).filter_map(|d| u8::try_from(d).ok()).collect();
        out.extend(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)));
        if comment {
            return;
        }
    }
}

/// All messages of all files.
pub fn messages() -> io::Result<Vec<Message>> {
    let dir: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nfs4-proto/tests/golden");
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|e| e.map(|e| e.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut all: Vec<Message> = Vec::new();
    for file in files {
        for line in fs::read_to_string(file)?.lines() {
            let head = line
                .split_once(": ")
                .filter(|(kind, _)| ["call", "reply", "cbcall", "cbreply"].contains(kind));
            if let Some((kind, text)) = head {
                all.push(Message { kind: kind.to_owned(), text: text.to_owned(), bytes: Vec::new() });
            } else if let Some(message) = all.last_mut() {
                line_bytes(line, &mut message.bytes);
            }
        }
    }
    Ok(all)
}
