//! CPU affinity in our own words.

use std::io;

use quietcore_units::{CpuId, CpuSet};
use rustix::process::Pid;
use rustix::thread::{self, sched_getaffinity, sched_setaffinity};

/// The CPUs on which a process's first thread may run; `None` is the calling thread.
pub(crate) fn read(process: Option<Pid>) -> io::Result<CpuSet> {
    let mask = sched_getaffinity(process)?;
    let numbers = 0..thread::CpuSet::MAX_CPU;
    Ok(numbers
        .filter(|number| mask.is_set(*number))
        .filter_map(|number| CpuId::new(number as u32))
        .collect())
}

/// Binds the calling thread and those it starts later to `cpus`, and returns what the kernel made
/// of it: CPUs outside the thread's cpuset are left out without an error.
pub(crate) fn bind(cpus: &CpuSet) -> io::Result<CpuSet> {
    let mut mask = thread::CpuSet::new();
    for cpu in cpus.iter() {
        mask.set(cpu.get() as usize);
    }
    sched_setaffinity(None, &mask)?;
    read(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_bound_to_one_of_its_cpus() {
        let cpus = read(None).unwrap();
        let first: CpuSet = cpus.iter().take(1).collect();
        let bound = std::thread::spawn(move || bind(&first).unwrap()).join().unwrap();
        assert_eq!(bound, first);
        // The other threads stay as they were.
        assert_eq!(read(None).unwrap(), cpus);
    }
}
