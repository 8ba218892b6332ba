//! Threads for what may block: started as they are needed, up to a number.
//!
//! The queue is bounded and drops nothing: where it is full, a job waits in its caller's task.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::creds;
use crate::backend::{Answer, Fault, in_place};

/// Jobs that may stand in the queue.
const QUEUE: usize = 4096;

/// A job in place that takes longer shows that the medium is waited for, and the pool does the next ones.
const QUICK: Duration = Duration::from_millis(2);
/// For so long, in milliseconds.
const AFTER_SLOW: u64 = 1000;

type Job = Box<dyn FnOnce() + Send>;

/// The threads. They end when this is dropped and the queue is empty.
pub(super) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    name: &'static str,
    most: usize,
    state: Mutex<State>,
    work: Condvar,
    room: Arc<Semaphore>,
    in_place: InPlace,
}

/// Jobs in place.
struct InPlace {
    started: Instant,
    /// Threads that are busy with one now, and how many may be.
    busy: AtomicUsize,
    most: usize,
    /// Not before so many milliseconds after the start.
    not_before: AtomicU64,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(Job, Option<OwnedSemaphorePermit>)>,
    /// Threads, and those of them that wait for work and were not called yet.
    threads: usize,
    idle: usize,
    /// Those that were called and have not woken yet.
    called: usize,
    closed: bool,
}

impl Pool {
    /// A pool of at most `most` threads; the first one is started at once.
    pub(super) fn new(name: &'static str, most: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            name,
            most: most.max(1),
            state: Mutex::default(),
            work: Condvar::new(),
            room: Arc::new(Semaphore::new(QUEUE)),
            in_place: InPlace::new(),
        });
        shared.lock().threads = 1;
        shared.start(0)?;
        Ok(Self { shared })
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

    /// Runs a short `job` in place where that is allowed and jobs have been short, else on a thread of the pool.
    pub(super) fn run_short<T, F>(&self, job: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Fault> + Send + 'static,
    {
        if in_place::allowed()
            && let Some(_busy) = self.shared.in_place.enter()
        {
            let done = catch_unwind(AssertUnwindSafe(job));
            return done
                .unwrap_or_else(|_| {
                    tracing::error!("a job in place panicked");
                    Err(Fault::ServerFault)
                })
                .into();
        }
        self.run(job)
    }

    /// Runs a short `job` that nobody waits for.
    pub(super) fn run_aside(&self, job: impl FnOnce() + Send + 'static) {
        match in_place::allowed().then(|| self.shared.in_place.enter()).flatten() {
            Some(_busy) => job(),
            None => self.run_unbounded(job),
        }
    }

    /// Runs `job` without a place in the bound: for work that others already wait for (their number is bounded).
    pub(super) fn run_unbounded(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.push(Box::new(job), None);
    }
}

/// A job in place.
struct Busy<'a> {
    of: &'a InPlace,
    since: Instant,
}

impl InPlace {
    fn new() -> Self {
        let most = thread::available_parallelism().map_or(1, |n| (n.get() / 2).max(1));
        Self { started: Instant::now(), busy: AtomicUsize::new(0), most, not_before: AtomicU64::new(0) }
    }

    fn enter(&self) -> Option<Busy<'_>> {
        let since = Instant::now();
        if self.at(since) < self.not_before.load(Ordering::Relaxed) {
            return None;
        }
        if self.busy.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.busy.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Busy { of: self, since })
    }

    fn at(&self, when: Instant) -> u64 {
        u64::try_from(when.saturating_duration_since(self.started).as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.of.busy.fetch_sub(1, Ordering::Relaxed);
        if self.since.elapsed() > QUICK {
            self.of.not_before.store(self.of.at(Instant::now()) + AFTER_SLOW, Ordering::Relaxed);
        }
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

    fn start(self: &Arc<Self>, number: usize) -> io::Result<()> {
        let shared = Arc::clone(self);
        let name = format!("nfs4-{}-{number}", self.name);
        thread::Builder::new().name(name).spawn(move || shared.serve()).map(drop)
    }

    fn push(self: &Arc<Self>, job: Job, permit: Option<OwnedSemaphorePermit>) {
        let mut state = self.lock();
        state.queue.push_back((job, permit));
        if state.idle > 0 {
            state.idle -= 1;
            state.called += 1;
            drop(state);
            self.work.notify_one();
        } else if state.threads < self.most {
            let number = state.threads;
            state.threads += 1;
            drop(state);
            // Without it the others do the work.
            if let Err(error) = self.start(number) {
                tracing::warn!(%error, "a thread was not started");
                self.lock().threads -= 1;
            }
        }
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
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                // A thread may also wake by itself, or at the end.
                if state.called > 0 {
                    state.called -= 1;
                } else {
                    state.idle = state.idle.saturating_sub(1);
                }
            }
        }
    }
}
