//! A fixed number of threads for what may block.
//!
//! The queue is bounded and drops nothing: where it is full, a job waits in its caller's task.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::creds;
use crate::backend::{Answer, Fault};

/// Jobs that may stand in the queue.
const QUEUE: usize = 4096;

type Job = Box<dyn FnOnce() + Send>;

/// The threads. They end when this is dropped and the queue is empty.
pub(super) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(Job, Option<OwnedSemaphorePermit>)>,
    closed: bool,
}

impl Pool {
    /// Starts `threads` threads.
    pub(super) fn new(threads: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            room: Arc::new(Semaphore::new(QUEUE)),
        });
        let pool = Self { shared };
        for number in 0..threads.max(1) {
            let shared = Arc::clone(&pool.shared);
            thread::Builder::new().name(format!("nfs4-local-{number}")).spawn(move || shared.serve())?;
        }
        Ok(pool)
    }

    /// Runs `job` on a thread of the pool.
    pub(super) fn run<T, F>(&self, job: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Fault> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move || {
            // Nobody may be waiting any more; the work is done all the same.
            let _ = tell.send(job());
        });
        match Arc::clone(&self.shared.room).try_acquire_owned() {
            Ok(permit) => {
                self.shared.push(job, Some(permit));
                Answer::later(async move { told.await.unwrap_or(Err(Fault::ServerFault)) })
            }
            Err(_full) => {
                let shared = Arc::clone(&self.shared);
                Answer::later(async move {
                    let permit = Arc::clone(&shared.room).acquire_owned().await.map_err(|_| Fault::Delay)?;
                    shared.push(job, Some(permit));
                    told.await.unwrap_or(Err(Fault::ServerFault))
                })
            }
        }
    }

    /// Runs `job` without a place in the bound: for work that others already wait for (their number is bounded).
    pub(super) fn run_unbounded(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.push(Box::new(job), None);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job, permit: Option<OwnedSemaphorePermit>) {
        self.lock().queue.push_back((job, permit));
        self.work.notify_one();
    }

    fn serve(&self) {
        creds::pooled();
        let mut state = self.lock();
        loop {
            if let Some((job, permit)) = state.queue.pop_front() {
                drop(state);
                drop(permit);
                // A panic is a fault of one request: its caller hears ServerFault.
                if catch_unwind(AssertUnwindSafe(job)).is_err() {
                    tracing::error!("a job of the blocking pool panicked");
                }
                state = self.lock();
            } else if state.closed {
                return;
            } else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}
