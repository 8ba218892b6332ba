//! Errors that say what is wrong, in which field and at which byte.

use alloc::boxed::Box;
use core::fmt;
use smallvec::SmallVec;

use crate::Input;

/// Why bytes are not a value of the type asked for.
///
/// It is boxed so that the success path stays small; each decoder adds its own [`Step`] while the error unwinds.
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(Box<Detail>);

#[derive(Clone, PartialEq, Eq)]
struct Detail {
    offset: usize,
    kind: DecodeKind,
    /// Innermost first.
    path: SmallVec<[Step; 8]>,
}

/// One step of the way from the outermost type to the field that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A type.
    Type(&'static str),
    /// A field or an arm of a union.
    Field(&'static str),
    /// An element of an array.
    Index(u32),
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeKind {
    /// Fewer bytes are left than the value takes.
    #[error("{need} bytes needed, {left} left")]
    Short {
        /// Bytes that the value takes at least.
        need: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("{0} is no boolean")]
    BadBool(u32),
    /// An enumeration or a union has no such value.
    #[error("{of} has no value {value}")]
    Unknown {
        /// The XDR type.
        of: &'static str,
        /// What was sent.
        value: u32,
    },
    /// A length above the bound of the type.
    #[error("length {len} exceeds {max}")]
    TooLong {
        /// What was sent.
        len: u32,
        /// The bound.
        max: usize,
    },
    /// An array's count that cannot fit into the bytes left.
    #[error("{count} elements cannot fit into {left} bytes")]
    Count {
        /// What was sent.
        count: u32,
        /// Bytes left.
        left: usize,
    },
    /// A padding byte that is not zero.
    #[error("padding is not zero")]
    Padding,
    /// Bytes after the end of the value.
    #[error("{0} bytes after the end")]
    Trailing(usize),
    /// Text that must be UTF-8 and is not.
    #[error("not UTF-8")]
    Utf8,
    /// A rule of the type itself.
    #[error("{0}")]
    Invalid(&'static str),
    /// A nom combinator refused.
    #[error("no match ({0:?})")]
    Nom(nom::error::ErrorKind),
}

impl DecodeError {
    /// An error at `input`'s position.
    #[must_use]
    pub fn new(input: Input<'_>, kind: DecodeKind) -> Self {
        Self(Box::new(Detail { offset: input.offset(), kind, path: SmallVec::new() }))
    }

    /// The same as a nom error that no alternative can mend.
    #[must_use]
    pub fn fail(input: Input<'_>, kind: DecodeKind) -> nom::Err<Self> {
        nom::Err::Failure(Self::new(input, kind))
    }

    /// Adds an outer step. Paths are cut at 32 steps: types that nest deeper do not exist in the protocol.
    #[must_use]
    pub fn within(mut self, step: Step) -> Self {
        if self.0.path.len() < 32 {
            self.0.path.push(step);
        }
        self
    }

    /// Bytes from the record's start to the value that is wrong.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> DecodeKind {
        self.0.kind
    }

    /// The way to the field, outermost first.
    pub fn path(&self) -> impl Iterator<Item = Step> + '_ {
        self.0.path.iter().rev().copied()
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for step in self.path() {
            match step {
                Step::Index(i) => write!(f, "[{i}]")?,
                Step::Type(name) | Step::Field(name) => {
                    if !first {
                        f.write_str(".")?;
                    }
                    f.write_str(name)?;
                }
            }
            first = false;
        }
        if !first {
            f.write_str(" ")?;
        }
        write!(f, "at byte {}: {}", self.0.offset, self.0.kind)
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecodeError({self})")
    }
}

impl core::error::Error for DecodeError {}

impl nom::error::ParseError<Input<'_>> for DecodeError {
    fn from_error_kind(input: Input<'_>, kind: nom::error::ErrorKind) -> Self {
        Self::new(input, DecodeKind::Nom(kind))
    }

    fn append(_: Input<'_>, _: nom::error::ErrorKind, other: Self) -> Self {
        other
    }
}

/// Why a value was not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The writer's limit does not allow it. Not a failure of the connection: the cue for the protocol's own error.
    #[error("{need} more bytes do not fit: limit {limit}")]
    TooBig {
        /// Bytes that were to be added.
        need: usize,
        /// The writer's limit.
        limit: usize,
    },
    /// A value breaks the bound of its type.
    #[error("length {len} exceeds {max}")]
    Bound {
        /// Its length.
        len: usize,
        /// The bound.
        max: usize,
    },
}
