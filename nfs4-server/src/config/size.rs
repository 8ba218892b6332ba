//! Sizes in bytes: a number, or one with a unit (`64KiB`, `1GiB`, `2G`).

use std::str::FromStr;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kib" => 10,
            "m" | "mib" => 20,
            "g" | "gib" => 30,
            "t" | "tib" => 40,
            _ => return Err(format!("{text:?} is no size: a number and K, M, G, T (or KiB …) is")),
        };
        let number: u64 =
            number.parse().map_err(|_| format!("{text:?} is no size: it has no number in front"))?;
        number.checked_mul(1 << shift).map(Self).ok_or_else(|| format!("{text:?} is too large"))
    }
}

impl fmt::Display for Size {
    /// In the largest unit that it is a whole number of.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        match units.iter().find(|(shift, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift) {
            Some((shift, unit)) => write!(f, "{}{unit}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(u64),
            Text(String),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(n) => Ok(Self(n)),
            Either::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        for (text, bytes) in
            [("0", 0), ("17", 17), ("4k", 4096), ("64KiB", 65_536), ("1 GiB", 1 << 30), ("2t", 2 << 40)]
        {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
            assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)));
        }
        for text in ["", "x", "-1", "1.5G", "1kb", "99999999999999999999", "18446744073709551615K"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
