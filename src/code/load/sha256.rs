//! SHA-256 of files.

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

/// The SHA-256 of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sha256([u8; 32]);

/// The text is no SHA-256.
#[derive(Debug)]
pub(crate) struct NotSha256;

/// Computes a SHA-256.
pub(crate) struct Hasher(sha2::Sha256);

impl Hasher {
    pub(crate) fn new() -> Hasher {
        Hasher(sha2::Sha256::new())
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Sha256 {
    type Err = NotSha256;

    fn from_str(text: &str) -> Result<Sha256, NotSha256> {
        let digits = text.trim().as_bytes();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(NotSha256);
        }
        let mut sum = [0; 32];
        for (byte, two) in sum.iter_mut().zip(digits.chunks(2)) {
            let two = std::str::from_utf8(two).map_err(|_| NotSha256)?;
            *byte = u8::from_str_radix(two, 16).map_err(|_| NotSha256)?;
        }
        Ok(Sha256(sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_that_sha256sum_prints() {
        let mut sum = Hasher::new();
        sum.update(b"a");
        sum.update(b"bc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum.finish().to_string(), text);
        assert_eq!(text.to_uppercase().parse::<Sha256>().unwrap().to_string(), text);
    }

    #[test]
    fn malformed_sums_are_refused() {
        for text in ["", "12", &"g".repeat(64), &"a".repeat(65), &"é".repeat(32)] {
            assert!(text.parse::<Sha256>().is_err(), "{text}");
        }
    }
}
