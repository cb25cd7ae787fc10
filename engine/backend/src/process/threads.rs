//! The numbers of a partition's threads, which in a container are others than the host's.

use std::fs;
use std::io;

/// The numbers of the threads of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadNumbers {
    /// The container's first process, by the host's number; `None` where the numbers are the same.
    pub(super) container: Option<u32>,
}

impl ThreadNumbers {
    /// The host's number of the thread that has this number in the partition.
    ///
    /// # Errors
    /// When the partition is a container, and has no such thread (any more).
    pub fn of_host(self, own: u32) -> io::Result<u32> {
        let Some(process) = self.container else { return Ok(own) };
        for entry in fs::read_dir(format!("/proc/{process}/task"))? {
            let entry = entry?;
            let status = fs::read_to_string(entry.path().join("status"))?;
            if innermost(&status) == Some(own) {
                let name = entry.file_name();
                return name
                    .to_str()
                    .and_then(|name| name.parse().ok())
                    .ok_or_else(|| io::Error::other("a thread's number is none"));
            }
        }
        Err(io::Error::from(io::ErrorKind::NotFound))
    }
}

/// A thread's number in the innermost namespace that it is in.
fn innermost(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_known_by_its_innermost_number() {
        assert_eq!(innermost("Name:\tx\nNSpid:\t4711\t12\t3\nNSpgid:\t1\n"), Some(3));
        assert_eq!(innermost("NSpid:\t4711\n"), Some(4711));
        assert_eq!(innermost("Name:\tx\n"), None);
    }

    #[test]
    fn numbers_among_the_hosts_processes_are_its_own() {
        assert_eq!(ThreadNumbers { container: None }.of_host(7).ok(), Some(7));
        let own = ThreadNumbers { container: Some(std::process::id()) };
        let thread = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        assert_eq!(own.of_host(innermost(&status).unwrap()).unwrap(), thread);
        assert_eq!(own.of_host(0).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
