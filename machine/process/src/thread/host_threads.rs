//! The numbers by which the host knows the threads of a partition.
//!
//! In a Linux guest they are the threads of its processors, one each, which the host's side of the
//! guest says before the partition begins. Everywhere else they are the kernel's own.

use std::sync::OnceLock;

use super::own_number;

/// The host's thread of each of this guest's processors; empty in no guest.
static OF_PROCESSORS: OnceLock<Vec<u32>> = OnceLock::new();

/// Says which threads of the host run the processors of this guest. To be called once.
pub fn are(of_processors: Vec<u32>) {
    // A second call would be a mistake of this program, and changes nothing.
    let _ = OF_PROCESSORS.set(of_processors);
}

/// Returns the number by which the host knows the calling thread, which runs on `cpu`; of one that
/// may move in a guest the first processor's.
pub fn number_of(cpu: Option<u32>) -> u32 {
    let threads = OF_PROCESSORS.get().filter(|threads| !threads.is_empty());
    threads.map_or_else(own_number, |threads| {
        let index = usize::try_from(cpu.unwrap_or(0)).unwrap_or(0);
        threads.get(index).copied().unwrap_or(threads[0])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_a_guest_is_its_processors() {
        assert_eq!(number_of(None), own_number(), "this is no guest");
        are(vec![41, 42]);
        assert_eq!([None, Some(0), Some(1), Some(7)].map(number_of), [41, 41, 42, 41]);
        are(vec![1]);
        assert_eq!(number_of(None), 41, "it is said once");
    }
}
