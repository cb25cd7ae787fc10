//! The numbers of a partition's threads, which in a container differ from the host's.

use std::fs;
use std::io;

/// Translates the numbers of one partition's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadNumbers {
    /// Host's number of the container's first process; `None` where the numbers are the same.
    pub(super) container: Option<u32>,
}

impl ThreadNumbers {
    /// Returns the host's number of the thread that has the number `own` in the partition.
    ///
    /// # Errors
    /// When the partition is a container that has no such thread, or none any more.
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

/// Returns a thread's number in the innermost namespace that it is in, from its `status`.
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
