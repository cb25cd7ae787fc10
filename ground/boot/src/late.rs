//! A late release, as a guest tells it to a host that explains them.
//!
//! It lies at [`LATE_RELEASES`](crate::LATE_RELEASES) as words of 64 bits, little-endian, in the
//! order of the fields, when the guest writes to [`port::LATE`](crate::port::LATE).

/// The bytes of one.
pub const LATE_BYTES: usize = 5 * size_of::<u64>();

/// That releases of a task were late, and which one was the last of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateReleases {
    /// The task, by its place in the exchange.
    pub task: u64,
    /// Releases of the task that were late so far.
    pub count: u64,
    /// The number of the last one, from 0.
    pub release: u64,
    /// When that was due, on the host's monotonic clock, in ns.
    pub due_ns: u64,
    /// When it was started, in ns; 0 where it was not, because the task came to it too late.
    pub started_ns: u64,
}

impl LateReleases {
    /// As it is written.
    pub fn to_bytes(&self) -> [u8; LATE_BYTES] {
        let words = [self.task, self.count, self.release, self.due_ns, self.started_ns];
        let mut bytes = [0; LATE_BYTES];
        let (places, _) = bytes.as_chunks_mut();
        places.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
        bytes
    }

    /// Decodes the record from little-endian words.
    pub fn from_bytes(bytes: &[u8; LATE_BYTES]) -> Self {
        let (words, _) = bytes.as_chunks();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let [task, count, release, due_ns, started_ns] = [0, 1, 2, 3, 4].map(word);
        Self { task, count, release, due_ns, started_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let told = LateReleases { task: 1, count: 2, release: 3, due_ns: 4, started_ns: u64::MAX };
        assert_eq!(LateReleases::from_bytes(&told.to_bytes()), told);
    }
}
