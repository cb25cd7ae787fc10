//! The serial console of a guest as lines that a person can read: without the sequences by which
//! firmware and boot loaders colour, clear and move on a terminal.

/// Longest sequence that is left out; what follows is text again.
const SEQUENCE_BYTES_MAX: usize = 32;
const ESCAPE: u8 = 0x1b;

/// Takes the bytes of a console, and keeps those of its text. What the guest writes decides
/// nothing else.
#[derive(Debug, Default)]
pub(super) struct ConsoleText {
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// Behind the byte that begins a sequence.
    Escape,
    /// In a sequence that a letter ends, with this many bytes of it.
    Sequence(usize),
}

impl ConsoleText {
    /// Returns the text among the next bytes.
    pub(super) fn text(&mut self, bytes: &[u8]) -> Vec<u8> {
        bytes.iter().copied().filter(|byte| self.is_text(*byte)).collect()
    }

    fn is_text(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (_, ESCAPE) => self.state = State::Escape,
            (State::Escape, b'[') => self.state = State::Sequence(0),
            (State::Escape, _) => self.state = State::Text,
            (State::Sequence(count), _) => {
                let ends = (0x40..=0x7e).contains(&byte) || count >= SEQUENCE_BYTES_MAX;
                self.state = if ends { State::Text } else { State::Sequence(count + 1) };
            }
            (State::Text, b'\n' | b'\t' | b' '..=b'~' | 0x80..) => return true,
            (State::Text, _) => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_text_is_kept() {
        let mut console = ConsoleText::default();
        assert_eq!(console.text(b"\x1b[2J\x1b[01;01Hboot\r\n\x1b[0"), b"boot\n");
        assert_eq!(
            console.text(b";37mlogin: \x07"),
            b"login: ",
            "a sequence may come in two parts"
        );
        assert_eq!(console.text(b"\x1bcgr\xc3\xbc\xc3\x9fe\n"), b"gr\xc3\xbc\xc3\x9fe\n");
    }

    proptest! {
        #[test]
        fn a_sequence_without_an_end_hides_no_more_than_its_limit(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut console = ConsoleText::default();
            console.text(&bytes);
            console.text(&[b'0'; SEQUENCE_BYTES_MAX + 2]);
            prop_assert_eq!(console.text(b"text"), b"text");
        }
    }
}
