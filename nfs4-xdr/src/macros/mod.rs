//! The one macro family: a type is written once, in the order of the wire, and its codec follows.

mod enums;
mod flags;
mod newtypes;
mod structs;
mod unions;

/// An XDR enumeration.
pub trait XdrEnum: Sized + Copy {
    /// The RFC's name of the type.
    const NAME: &'static str;

    /// The value of a number; `None` where a closed enumeration has none.
    fn from_wire(value: u32) -> Option<Self>;

    /// Its number.
    fn to_wire(self) -> u32;
}

impl XdrEnum for bool {
    const NAME: &'static str = "bool";

    fn from_wire(value: u32) -> Option<Self> {
        match value {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn to_wire(self) -> u32 {
        u32::from(self)
    }
}
