//! What can be measured.

use std::fmt;
use std::str::FromStr;

/// A measured operation. Those of two steps are counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// The NULL procedure.
    Null,
    /// SEQUENCE alone.
    Sequence,
    /// SEQUENCE PUTFH GETATTR.
    Getattr,
    /// OPEN of a file that exists, and CLOSE.
    OpenClose,
    /// OPEN that creates with CLOSE, and REMOVE.
    CreateRemove,
    /// READDIR of a directory with 100 entries, with attributes.
    Readdir,
    /// READ at random places of a file of 64 MiB.
    Read,
    /// WRITE at random places of a file of 64 MiB, unstable.
    Write,
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Null,
        Self::Sequence,
        Self::Getattr,
        Self::OpenClose,
        Self::CreateRemove,
        Self::Readdir,
        Self::Read,
        Self::Write,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Sequence => "sequence",
            Self::Getattr => "getattr",
            Self::OpenClose => "open-close",
            Self::CreateRemove => "create-remove",
            Self::Readdir => "readdir",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|op| op.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|op| op.name()).collect();
            format!("accepted: {}", names.join(", "))
        })
    }
}
