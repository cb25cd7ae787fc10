//! A text of bounded length, made without allocation.

#[cfg(any(test, feature = "c"))]
use core::ffi::CStr;
use core::fmt;

/// A text of at most `BYTES - 1` bytes, with a zero behind it. What does not fit is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<const BYTES: usize> {
    bytes: [u8; BYTES],
    length: usize,
}

impl<const BYTES: usize> Text<BYTES> {
    /// Makes a text without bytes.
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; BYTES], length: 0 }
    }

    /// Returns the text without its final zero.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the text with its final zero, for C.
    #[cfg(any(test, feature = "c"))]
    pub(crate) fn as_c(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

impl<const BYTES: usize> fmt::Write for Text<BYTES> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = BYTES - 1 - self.length;
        let mut fitting = text.len().min(room);
        while !text.is_char_boundary(fitting) {
            fitting -= 1;
        }
        self.bytes[self.length..self.length + fitting].copy_from_slice(&text.as_bytes()[..fitting]);
        self.length += fitting;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::fmt::Write as _;

    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let mut text = Text::<8>::new();
        write!(text, "abc{}", 4).unwrap();
        assert_eq!(text.as_bytes(), b"abc4");
        write!(text, "56µ").unwrap();
        assert_eq!(text.as_c(), c"abc456");
        write!(text, "7").unwrap();
        assert_eq!(text.as_c(), c"abc4567");
        write!(text, "8").unwrap();
        assert_eq!(text.as_c(), c"abc4567");
    }
}
