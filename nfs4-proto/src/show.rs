//! Compounds as an engineer reads them in a log.

use core::fmt::{self, Write};

use crate::Status;

/// Most characters of a message; `{:#}` prints all.
const WIDTH: usize = 200;

/// Passes on so many characters and drops the rest.
struct Clip<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    left: usize,
}

impl Write for Clip<'_, '_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let n = s.chars().count();
        if n <= self.left {
            self.left = self.left.saturating_sub(n);
            return self.f.write_str(s);
        }
        if self.left == 0 {
            return Ok(());
        }
        let end = s.char_indices().nth(self.left.saturating_sub(1)).map_or(0, |(at, _)| at);
        self.left = 0;
        self.f.write_str(s.get(..end).unwrap_or_default())?;
        self.f.write_str("…")
    }
}

/// Prints what `show` writes, cut at [`WIDTH`] characters unless the format is alternate.
pub(crate) fn clipped(
    f: &mut fmt::Formatter<'_>,
    show: impl FnOnce(&mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    if f.alternate() {
        return show(f);
    }
    // An `&mut Formatter` is a `Write`; so is the clip around it.
    show(&mut Clip { f, left: WIDTH })
}

/// A handle, session or verifier: its first and last byte.
pub(crate) struct Short<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("-"),
            [a] => write!(f, "{a:02x}"),
            [a, b] => write!(f, "{a:02x}{b:02x}"),
            [a, .., b] => write!(f, "{a:02x}…{b:02x}"),
        }
    }
}

/// Flags by name, unknown bits in hexadecimal.
pub(crate) struct Names<F>(pub(crate) F);

impl<F: bitflags::Flags<Bits = u32> + Copy> fmt::Display for Names<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = self.0.iter_names();
        let mut first = true;
        for (name, _) in names.by_ref() {
            if !first {
                f.write_str("|")?;
            }
            first = false;
            f.write_str(name)?;
        }
        let rest = names.remaining().bits() & !F::all().bits();
        match (first, rest) {
            (true, 0) => f.write_str("0"),
            (false, 0) => Ok(()),
            (true, rest) => write!(f, "{rest:#x}"),
            (false, rest) => write!(f, "|{rest:#x}"),
        }
    }
}

/// `OK`, or the RFC's name of the error.
pub(crate) struct Outcome(pub(crate) Status);

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Status::Ok { f.write_str("OK") } else { write!(f, "{}", self.0) }
    }
}

/// A range of bytes: `offset+length`, `offset+` to the end.
pub(crate) struct Range(pub(crate) u64, pub(crate) u64);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self(offset, u64::MAX) => write!(f, "{offset}+"),
            Self(offset, length) => write!(f, "{offset}+{length}"),
        }
    }
}

/// Items with a space between them.
pub(crate) fn list<T>(
    w: &mut dyn Write,
    items: &[T],
    show: impl Fn(&mut dyn Write, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            w.write_str(" ")?;
        }
        show(w, item)?;
    }
    Ok(())
}

/// `Display` of a family: an operation, its result, and the compounds that they stand in.
macro_rules! display_family {
    ($op:ty, $result:ty, $compound:ty, $reply:ty, $call:ty) => {
        impl fmt::Display for $op {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                clipped(f, |w| arg(w, self))
            }
        }

        impl fmt::Display for $result {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                clipped(f, |w| res(w, self))
            }
        }

        impl fmt::Display for $compound {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                clipped(f, |w| list(w, &self.ops, arg))
            }
        }

        impl fmt::Display for $reply {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                clipped(f, |w| list(w, &self.ops, res))
            }
        }

        impl fmt::Display for $call {
            /// What could not be read is at the end: `!NFS4ERR_BADXDR WRITE`.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                clipped(f, |w| {
                    list(w, &self.ops, arg)?;
                    match &self.fault {
                        Some(fault) => write!(w, " !{} {} ({})", fault.status, fault.num, fault.raw),
                        None => Ok(()),
                    }
                })
            }
        }
    };
}
pub(crate) use display_family;
