//! Memory that may be locked: without root, a process may often lock 8 MiB.

use memmap2::MmapMut;

/// Returns why this process may not lock so many bytes of memory; `None` if it may.
pub fn obstacle_to_locking(bytes: usize) -> Option<String> {
    let locked = MmapMut::map_anon(bytes).and_then(|memory| memory.lock());
    let remedy = "run as root, or raise the limit of locked memory (`ulimit -l`)";
    locked.err().map(|error| format!("{bytes} bytes of memory can't be locked: {error}; {remedy}"))
}

/// Skips the running test where this process may not lock so many bytes of memory: the surrounding
/// function returns its default.
#[macro_export]
macro_rules! need_locked_memory {
    ($bytes:expr) => {
        if let ::std::option::Option::Some(obstacle) = $crate::obstacle_to_locking($bytes) {
            $crate::skip!("{obstacle}");
            return ::std::default::Default::default();
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_be_locked_and_more_than_there_are_addresses_may_not() {
        assert_eq!(obstacle_to_locking(4096), None);
        let obstacle = obstacle_to_locking(1 << 60).expect("there is no such memory");
        assert!(obstacle.contains("1152921504606846976 bytes"), "{obstacle}");
    }
}
