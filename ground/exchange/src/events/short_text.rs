//! A text that fits into an event.

use core::fmt;

use crate::events::kind::WORDS;

/// Bytes of the longest text.
const BYTES: usize = 8 * WORDS;

/// The begin of a text, as much of it as fits into an event.
///
/// Bytes that are not UTF-8, and characters that move a cursor, are left out when it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortText {
    /// The bytes, the first lowest; zero behind the end.
    pub(super) words: [u64; WORDS],
}

impl ShortText {
    /// Takes what fits of a text, up to its first zero.
    pub fn new(text: impl IntoIterator<Item = u8>) -> Self {
        let mut words = [0; WORDS];
        for (index, byte) in text.into_iter().take(BYTES).take_while(|byte| *byte != 0).enumerate()
        {
            words[index / 8] |= u64::from(byte) << (index % 8 * 8);
        }
        Self { words }
    }

    /// Returns `true` if the text has no bytes.
    pub fn is_empty(&self) -> bool {
        self.words[0] as u8 == 0
    }
}

impl fmt::Display for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let end = bytes.iter().position(|byte| *byte == 0);
        for part in bytes[..end.unwrap_or(BYTES)].utf8_chunks() {
            for shown in part.valid().chars().filter(|shown| !shown.is_control()) {
                fmt::Write::write_char(f, shown)?;
            }
        }
        // Nobody knows whether it ended just there.
        if end.is_none() { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn as_much_of_a_text_is_told_as_fits() {
        let told = |text: &[u8]| ShortText::new(text.iter().copied()).to_string();
        assert_eq!(told(b"division by zero"), "division by zero");
        assert_eq!(told(b""), "");
        assert_eq!(told(b"over\0 and out"), "over");
        assert_eq!(told(b"\x1b[2Jred \xff\xc3\xa4"), "[2Jred \u{e4}");
        let long = told(b"the integrator has left its range");
        assert_eq!(long, "the integrator has left its rang…");
        assert_eq!(
            told("23456789012345678901234567890ää".as_bytes()),
            "23456789012345678901234567890ä…"
        );
        assert!(ShortText::new([]).is_empty() && !ShortText::new([65]).is_empty());
    }
}
