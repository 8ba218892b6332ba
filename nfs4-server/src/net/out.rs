//! What waits to be written to one connection.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::{Buf, Bytes, BytesMut};
use nfs4_xdr::{SHARE_MIN, Segments};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// Most pieces of one `writev`; the kernel takes 1,024.
const PIECES: usize = 256;

#[derive(Debug, Default)]
struct Queue {
    /// Whole pieces, in order; `small` comes behind them.
    pieces: VecDeque<Bytes>,
    /// Short pieces gathered: copying some hundred bytes costs less than one more entry of a `writev`.
    small: BytesMut,
    failed: bool,
}

impl Queue {
    fn add(&mut self, message: Segments) {
        for piece in message {
            if piece.len() < SHARE_MIN {
                self.small.extend_from_slice(&piece);
            } else {
                if !self.small.is_empty() {
                    self.pieces.push_back(self.small.split().freeze());
                }
                self.pieces.push_back(piece);
            }
        }
    }

    /// Writes what the socket takes. True: all of it.
    fn write(&mut self, stream: &TcpStream) -> io::Result<(bool, usize)> {
        if !self.small.is_empty() {
            self.pieces.push_back(self.small.split().freeze());
        }
        let mut total = 0;
        while !self.pieces.is_empty() {
            let written = {
                let slices: smallvec::SmallVec<[IoSlice<'_>; 16]> =
                    self.pieces.iter().take(PIECES).map(|piece| IoSlice::new(piece)).collect();
                stream.try_write_vectored(&slices)
            };
            let mut n = match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok((false, total)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            total += n;
            while let Some(first) = self.pieces.front_mut() {
                if n < first.len() {
                    first.advance(n);
                    break;
                }
                n -= first.len();
                self.pieces.pop_front();
            }
        }
        Ok((true, total))
    }
}

/// The queue of one connection. Whoever has a reply adds it and writes at once; only what the socket does not take
/// waits for the connection's flusher.
#[derive(Debug, Default)]
pub(super) struct Out {
    queue: Mutex<Queue>,
    waiting: AtomicUsize,
    /// The socket was full: the flusher has work.
    pub(super) full: Notify,
    /// There is room again.
    pub(super) drained: Notify,
}

impl Out {
    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message without writing yet.
    pub(super) fn add(&self, message: Segments) {
        let len = message.len();
        let mut queue = self.lock();
        if queue.failed {
            return;
        }
        queue.add(message);
        self.waiting.fetch_add(len, Ordering::Relaxed);
    }

    /// Writes what the socket takes; the rest is the flusher's.
    pub(super) fn write(&self, stream: &TcpStream) {
        let mut queue = self.lock();
        if queue.failed {
            return;
        }
        if let Ok((all, n)) = queue.write(stream) {
            self.waiting.fetch_sub(n, Ordering::Relaxed);
            drop(queue);
            if all { self.drained.notify_waiters() } else { self.full.notify_one() }
        } else {
            // The reader finds out by itself; nothing can be said to this peer any more.
            queue.failed = true;
            queue.pieces.clear();
            queue.small.clear();
            self.waiting.store(0, Ordering::Relaxed);
            drop(queue);
            self.drained.notify_waiters();
        }
    }

    /// Bytes that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}
