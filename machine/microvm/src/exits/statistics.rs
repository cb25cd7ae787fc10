//! KVM's own counts for a processor: all exits, also those that it answers itself.
//!
//! KVM hands out a file that describes itself: a header, a descriptor for each number with its name
//! and place, and the numbers. Reading it copies them; the processor is neither asked nor stopped.
// UNSAFETY: the file comes from a request to KVM that the libraries don't have.
#![expect(unsafe_code, reason = "one request is made by number")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::FileExt as _;

use kvm_ioctls::VcpuFd;

use crate::machine::request::GET_STATISTICS_FILE;

const HEADER_BYTES: usize = 24;
/// A descriptor without its name.
const DESCRIPTOR_BYTES: usize = 16;
/// More than any kernel has; what is beyond is not asked for.
const DESCRIPTOR_LIMIT: u32 = 1024;
const NAME_LIMIT: u32 = 256;
const DATA_LIMIT: usize = 1 << 20;

/// The names of the numbers in a [`Sample`], in its order.
const NAMES: [&str; SAMPLE_WORDS] = [
    "exits",
    "halt_exits",
    "irq_exits",
    "io_exits",
    "mmio_exits",
    "signal_exits",
    "irq_window_exits",
    "request_irq_exits",
    "insn_emulation",
    "irq_injections",
    "halt_wakeup",
    "halt_wait_ns",
    "halt_successful_poll",
    "halt_poll_success_ns",
    "hypercalls",
    "preemption_reported",
];

/// Number of figures in a sample.
pub(super) const SAMPLE_WORDS: usize = 16;

/// KVM's counts since the processor was made. A number that this kernel does not count is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    values: [u64; SAMPLE_WORDS],
}

impl Sample {
    /// All exits, whoever answered them.
    pub fn exits(&self) -> u64 {
        self.values[0]
    }

    /// Exits because the guest halted.
    pub fn halts(&self) -> u64 {
        self.values[1]
    }

    /// Exits because an interrupt came for the host.
    pub fn interrupts(&self) -> u64 {
        self.values[2]
    }

    /// Interrupts that KVM gave the guest.
    pub fn injections(&self) -> u64 {
        self.values[9]
    }

    /// The numbers with the names that KVM has for them.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.into_iter().zip(self.values)
    }

    /// Subtracts an earlier sample.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut values = self.values;
        for (value, before) in values.iter_mut().zip(earlier.values) {
            *value = value.saturating_sub(before);
        }
        Self { values }
    }

    pub(super) fn to_words(self) -> [u64; SAMPLE_WORDS] {
        self.values
    }

    pub(super) fn from_words(values: &[u64; SAMPLE_WORDS]) -> Self {
        Self { values: *values }
    }
}

/// The file with KVM's numbers. It may be read by any thread, and outlives the processor.
#[derive(Debug)]
pub struct Statistics {
    file: File,
    /// Offset of each number of a sample in the file; `None` if this kernel has none.
    places: [Option<u64>; SAMPLE_WORDS],
    data: u64,
    bytes: Vec<u8>,
}

impl Statistics {
    /// The numbers of this processor.
    pub(crate) fn of(processor: &VcpuFd) -> io::Result<Self> {
        // SAFETY: the request takes no argument and makes a file.
        let file = unsafe { libc::ioctl(processor.as_raw_fd(), GET_STATISTICS_FILE) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the file was just made, and is nobody else's.
        Self::read(unsafe { File::from_raw_fd(file) })
    }

    fn read(file: File) -> io::Result<Self> {
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)?;
        let header = Header::of(&header)?;
        let mut descriptors = vec![0; header.descriptor_bytes()];
        file.read_exact_at(&mut descriptors, header.descriptors.into())?;
        let places = header.places(&descriptors);
        let length = places.iter().flatten().max().map_or(0, |last| last + 8);
        let length = usize::try_from(length).unwrap_or(DATA_LIMIT).min(DATA_LIMIT);
        Ok(Self { file, places, data: header.data.into(), bytes: vec![0; length] })
    }

    /// The numbers now. Nothing is allocated.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn sample(&mut self) -> io::Result<Sample> {
        self.file.read_exact_at(&mut self.bytes, self.data)?;
        let mut sample = Sample::default();
        for (value, place) in sample.values.iter_mut().zip(self.places) {
            let here = place.and_then(|place| self.bytes.get(usize::try_from(place).ok()?..));
            let here = here.and_then(<[u8]>::first_chunk);
            *value = here.copied().map_or(0, u64::from_ne_bytes);
        }
        Ok(sample)
    }
}

/// The begin of the file: `struct kvm_stats_header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    name_bytes: u32,
    count: u32,
    descriptors: u32,
    data: u32,
}

impl Header {
    fn of(bytes: &[u8; HEADER_BYTES]) -> io::Result<Self> {
        let header = Self {
            name_bytes: word(bytes, 4),
            count: word(bytes, 8),
            descriptors: word(bytes, 16),
            data: word(bytes, 20),
        };
        if header.name_bytes > NAME_LIMIT || header.count > DESCRIPTOR_LIMIT {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "KVM's statistics say that {} numbers have names of {} bytes",
                    header.count, header.name_bytes
                ),
            ));
        }
        Ok(header)
    }

    fn descriptor_bytes(self) -> usize {
        (DESCRIPTOR_BYTES + self.name_bytes as usize) * self.count as usize
    }

    /// Returns the offset of each number of a sample, from the begin of the data.
    fn places(self, descriptors: &[u8]) -> [Option<u64>; SAMPLE_WORDS] {
        let mut places = [None; SAMPLE_WORDS];
        for descriptor in descriptors.chunks_exact(DESCRIPTOR_BYTES + self.name_bytes as usize) {
            let (numbers, name) = descriptor.split_at(DESCRIPTOR_BYTES);
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            if let Some(index) = NAMES.iter().position(|known| known.as_bytes() == name) {
                places[index] = Some(u64::from(word(numbers, 8)));
            }
        }
        places
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let here = bytes.get(at..).and_then(<[u8]>::first_chunk);
    here.copied().map_or(0, u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// A file as KVM makes it, with these names.
    fn file_of(names: &[(&str, u64)]) -> File {
        let name_bytes = 48;
        let data = HEADER_BYTES + names.len() * (DESCRIPTOR_BYTES + name_bytes);
        let mut bytes = Vec::new();
        for number in [0, name_bytes, names.len(), 24, HEADER_BYTES, data] {
            bytes.extend((number as u32).to_ne_bytes());
        }
        for (index, (name, _)) in names.iter().enumerate() {
            bytes.extend([0; 8]);
            bytes.extend((index as u32 * 8).to_ne_bytes());
            bytes.extend([0; 4]);
            let mut field = name.as_bytes().to_vec();
            field.resize(name_bytes, 0);
            bytes.extend(field);
        }
        bytes.extend(names.iter().flat_map(|(_, value)| value.to_ne_bytes()));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file
    }

    #[test]
    fn numbers_are_found_by_their_names() {
        let file = file_of(&[("something", 1), ("halt_exits", 2), ("exits", 3)]);
        let sample = Statistics::read(file).unwrap().sample().unwrap();
        assert_eq!((sample.exits(), sample.halts(), sample.interrupts()), (3, 2, 0));
        let later = Statistics::read(file_of(&[("exits", 10)])).unwrap().sample().unwrap();
        assert_eq!(later.since(&sample).exits(), 7);
        assert_eq!(later.since(&sample).halts(), 0);
    }

    #[test]
    fn a_file_that_says_too_much_is_refused() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[0xFF; 4096]).unwrap();
        assert!(Statistics::read(file).unwrap_err().to_string().contains("KVM's statistics"));
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_refused(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..512),
            count in 0..8_u32,
        ) {
            // Sizes that pass the first check, so that the rest is met too.
            for (at, value) in [(4, 16), (8, count), (16, 24), (20, 100)] {
                if let Some(place) = bytes.get_mut(at..at + 4) {
                    place.copy_from_slice(&value.to_ne_bytes());
                }
            }
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            if let Ok(mut statistics) = Statistics::read(file) {
                let _ = statistics.sample();
            }
        }
    }
}
