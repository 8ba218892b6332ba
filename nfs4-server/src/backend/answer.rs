//! A result that is there already, or will be.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Fault;

/// What a backend's call returns: the result at once, or a future of it.
///
/// `Backend` stays usable as a trait object, and a result that is ready costs no allocation and no task switch.
#[must_use = "an answer does nothing unless it is awaited"]
pub enum Answer<T> {
    /// The result.
    Now(Option<Result<T, Fault>>),
    /// The work goes on elsewhere (a blocking pool).
    Later(Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>),
}

impl<T> Answer<T> {
    /// A ready success.
    pub fn ok(value: T) -> Self {
        Self::Now(Some(Ok(value)))
    }

    /// A ready failure.
    pub fn fault(fault: Fault) -> Self {
        Self::Now(Some(Err(fault)))
    }

    /// A future's result, later.
    pub fn later(future: impl Future<Output = Result<T, Fault>> + Send + 'static) -> Self {
        Self::Later(Box::pin(future))
    }
}

impl<T> From<Result<T, Fault>> for Answer<T> {
    fn from(result: Result<T, Fault>) -> Self {
        Self::Now(Some(result))
    }
}

impl<T: Unpin> Future for Answer<T> {
    type Output = Result<T, Fault>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Now(result) => match result.take() {
                Some(result) => Poll::Ready(result),
                // Polled again after it was ready: a caller's mistake, answered without a panic.
                None => Poll::Ready(Err(Fault::ServerFault)),
            },
            Self::Later(future) => future.as_mut().poll(cx),
        }
    }
}
