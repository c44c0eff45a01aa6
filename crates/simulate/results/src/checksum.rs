//! Checksums. A file that changed after it was written is never accepted as a result.
//!
//! Each is the XXH64 of a file, as `xxhsum` computes it. `summary.json` holds those of the tables and captures of a
//! run. A text ends with its own checksum, in a [`Seal`].

use std::fmt;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

/// The checksum of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Checksum(pub(super) u64);

impl Checksum {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(XxHash64::oneshot(0, bytes))
    }

    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hasher = XxHash64::with_seed(0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self(hasher.finish())),
                read => hasher.write(&buffer[..read]),
            }
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The form of a text's end: the checksum of everything before it.
#[derive(Clone, Copy)]
pub(super) struct Seal {
    before: &'static str,
    after: &'static str,
}

impl Seal {
    /// A last comment.
    pub(super) const TOML: Self = Self {
        before: "# checksum: ",
        after: "\n",
    };
    /// A last member of an object that is spread over lines.
    const JSON: Self = Self {
        before: ",\n  \"checksum\": \"",
        after: "\"\n}\n",
    };

    /// `text` with its seal.
    pub(super) fn put(self, text: &str) -> String {
        let text = text.to_owned() + self.before;
        let checksum = Checksum::of(text.as_bytes());
        format!("{text}{checksum}{}", self.after)
    }

    /// The text within `bytes`, if its seal is complete and its checksum is right.
    pub(super) fn check(self, bytes: &[u8]) -> Option<&str> {
        let rest = bytes.strip_suffix(self.after.as_bytes())?;
        let (text, checksum) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
        if Checksum::of(text).to_string().as_bytes() != checksum {
            return None;
        }
        std::str::from_utf8(text).ok()?.strip_suffix(self.before)
    }
}

/// An object as text that ends with its checksum.
///
/// # Panics
/// If `value` is no object with members.
pub fn sealed(value: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(value).expect("results are plain data");
    let text = json.strip_suffix("\n}").expect("an object with members");
    Seal::JSON.put(text)
}

/// The JSON of an object that [`sealed`] wrote; `None` if any byte of it has changed.
pub(super) fn unsealed(bytes: &[u8]) -> Option<String> {
    Seal::JSON.check(bytes).map(|text| text.to_owned() + "\n}")
}

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 16;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_flipped_bit_of_a_sealed_text_is_found() {
        let json = sealed(&json!({"flows": 3, "names": ["größer"]}));
        let toml = Seal::TOML.put("seeds = 3\n");
        for (text, seal) in [(json, Seal::JSON), (toml, Seal::TOML)] {
            assert!(seal.check(text.as_bytes()).is_some(), "{text}");
            for bit in 0..text.len() * 8 {
                let mut bytes = text.clone().into_bytes();
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(seal.check(&bytes), None, "bit {bit}");
            }
            for length in 0..text.len() {
                assert_eq!(seal.check(&text.as_bytes()[..length]), None, "{length}");
            }
        }
    }

    #[test]
    fn what_is_sealed_is_json_and_read_back() {
        let value = json!({"flows": 3, "deep": {"names": []}});
        let text = sealed(&value);
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(whole["deep"], value["deep"]);
        let text = unsealed(text.as_bytes()).unwrap();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }

    #[test]
    fn a_file_has_the_checksum_that_xxhsum_prints() {
        let path = std::env::temp_dir().join(format!("tailwater-sum-{}", std::process::id()));
        std::fs::write(&path, "tailwater").unwrap();
        let checksum = Checksum::of_file(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(checksum, Checksum::of(b"tailwater"));
        // `printf tailwater | xxhsum -H1`
        assert_eq!(checksum.to_string(), "f6ce74a05ab028d1");
    }
}
