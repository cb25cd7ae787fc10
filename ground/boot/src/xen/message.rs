//! Messages of Xen's store: a header of four little-endian words, then so many bytes (Xen,
//! `docs/misc/xenstore.txt` and `xen/include/public/io/xs_wire.h`). A request has a number, which
//! its answer repeats.

/// The bytes of a header.
pub const HEADER_BYTES: usize = 16;

/// The most bytes that follow a header.
pub const PAYLOAD_BYTES_MAX: usize = 4096;

/// The kinds of messages that are used here.
pub mod kind {
    /// Asks for the names right below a key; answered by those, each with a zero behind it.
    pub const DIRECTORY: u32 = 1;
    /// Asks for the value of a key; answered by the value.
    pub const READ: u32 = 2;
    /// Asks to be told when something happens; the key and a token, each with a zero behind it.
    pub const WATCH: u32 = 4;
    /// Gives a key a value: the key, a zero, the value.
    pub const WRITE: u32 = 11;
    /// Removes a key with all that is below it.
    pub const REMOVE: u32 = 13;
    /// Something happened that was asked for.
    pub const WATCH_EVENT: u32 = 15;
    /// The answer to a request that is refused: the name of an error of Unix.
    pub const ERROR: u32 = 16;
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its kind: one of [`kind`], or another that nobody asked for.
    pub kind: u32,
    /// The number of the request.
    pub request: u32,
    /// Bytes behind the header; [`PAYLOAD_BYTES_MAX`] at most.
    pub bytes: u32,
}

impl Header {
    /// Returns it as it is sent, outside of any transaction.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let words = [self.kind, self.request, 0, self.bytes].map(u32::to_le_bytes);
        let mut bytes = [0; HEADER_BYTES];
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }

    /// Reads one; `None` if more bytes than possible follow it.
    pub fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<4>();
        let word = |index: usize| u32::from_le_bytes(words[index]);
        let header = Self { kind: word(0), request: word(1), bytes: word(3) };
        (header.bytes as usize <= PAYLOAD_BYTES_MAX).then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_four_words_the_third_of_which_is_no_transaction() {
        let header = Header { kind: kind::READ, request: 7, bytes: 3 };
        let bytes = header.to_bytes();
        assert_eq!(bytes, [2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(Header::from_bytes(&bytes), Some(header));
    }

    #[test]
    fn more_than_a_message_may_have_is_refused() {
        let header = |bytes| Header { kind: kind::READ, request: 0, bytes };
        assert!(Header::from_bytes(&header(4096).to_bytes()).is_some());
        assert_eq!(Header::from_bytes(&header(4097).to_bytes()), None);
    }
}
