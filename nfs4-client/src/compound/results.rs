//! Results by typed index.

use std::fmt;

use nfs4_proto::{OpNum, ResOp, Status};

use crate::CallError;

/// Where the result of an operation will be, and of what type it is.
pub struct At<T: 'static> {
    pub(super) index: usize,
    pub(super) num: OpNum,
    pub(super) of: fn(&ResOp) -> Option<Result<&T, Status>>,
}

impl<T> Clone for At<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for At<T> {}

impl<T> fmt::Debug for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.num.name(), self.index)
    }
}

/// The results behind SEQUENCE's. A compound ends at the first operation that fails: later ones have no result.
#[derive(Clone, Debug)]
pub struct Results {
    status: Status,
    ops: Vec<ResOp>,
}

impl Results {
    pub(crate) fn new(status: Status, ops: Vec<ResOp>) -> Self {
        Self { status, ops }
    }

    /// The compound's status: that of its last result.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// All results.
    #[must_use]
    pub fn ops(&self) -> &[ResOp] {
        &self.ops
    }

    /// The result of one operation; an error where it, or one in front of it, failed.
    pub fn get<T>(&self, at: At<T>) -> Result<&T, CallError> {
        match self.ops.get(at.index).and_then(at.of) {
            Some(Ok(value)) => Ok(value),
            Some(Err(status)) => Err(CallError::Status { op: at.num, status }),
            None => Err(self.failure(at.num)),
        }
    }

    /// The same as an option: a failed tail keeps the head's results.
    #[must_use]
    pub fn get_opt<T>(&self, at: At<T>) -> Option<&T> {
        self.ops.get(at.index).and_then(at.of).and_then(Result::ok)
    }

    /// An error unless all succeeded.
    pub fn all_ok(&self) -> Result<(), CallError> {
        match self.ops.last() {
            Some(last) if last.status() != Status::Ok => {
                Err(CallError::Status { op: last.num(), status: last.status() })
            }
            Some(_) | None if self.status != Status::Ok => {
                Err(CallError::Status { op: OpNum::Illegal, status: self.status })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn failure(&self, wanted: OpNum) -> CallError {
        match self.ops.last() {
            Some(last) if last.status() != Status::Ok => {
                CallError::Status { op: last.num(), status: last.status() }
            }
            Some(_) | None => CallError::Missing(wanted),
        }
    }
}
