//! The main operation of a compound: what statistics count it as.

use crate::{ArgOp, OpNum, OpenHow};

/// What a compound is counted as. OPEN counts in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MainOp {
    /// Any operation but OPEN.
    Op(OpNum),
    /// OPEN of a file that must be there.
    OpenNocreate,
    /// OPEN that may create.
    OpenCreate,
}

impl MainOp {
    /// How many there are: one more than operations.
    pub const COUNT: usize = OpNum::ALL.len() + 1;

    /// All, in the order of [`index`](Self::index).
    pub fn all() -> impl Iterator<Item = Self> {
        OpNum::ALL
            .iter()
            .map(|num| if *num == OpNum::Open { Self::OpenNocreate } else { Self::Op(*num) })
            .chain([Self::OpenCreate])
    }

    /// Its place among [`all`](Self::all): below [`COUNT`](Self::COUNT).
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Op(num) => num.index(),
            Self::OpenNocreate => OpNum::Open.index(),
            Self::OpenCreate => OpNum::ALL.len(),
        }
    }

    /// The operation.
    #[must_use]
    pub const fn num(self) -> OpNum {
        match self {
            Self::Op(num) => num,
            Self::OpenNocreate | Self::OpenCreate => OpNum::Open,
        }
    }

    /// As metrics print it: `Getattr`, `Open/nocreate`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::OpenNocreate => "Open/nocreate",
            Self::OpenCreate => "Open/create",
            Self::Op(num) => num.label(),
        }
    }

    /// What one operation counts as.
    #[must_use]
    pub fn of(op: &ArgOp) -> Self {
        let ArgOp::Open(args) = op else { return Self::Op(op.num()) };
        match args.openhow {
            OpenHow::NoCreate => Self::OpenNocreate,
            OpenHow::Create(_) => Self::OpenCreate,
        }
    }
}

/// The main operation of a compound: the one of the highest [rank](OpNum::rank), the first of them where several have
/// it. It is taken from what was asked, so that it is known before anything runs and also where the compound fails.
/// Operations of ranks below ten (attributes, access, filehandles) only ride along where there is any other. A compound
/// without operations counts as `Illegal`.
#[must_use]
pub fn main_op(ops: &[ArgOp]) -> MainOp {
    let mut best: Option<&ArgOp> = None;
    for op in ops {
        if best.is_none_or(|b| op.num().rank() > b.num().rank()) {
            best = Some(op);
        }
    }
    best.map_or(MainOp::Op(OpNum::Illegal), MainOp::of)
}
