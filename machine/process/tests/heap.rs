//! The heap of a partition: present before it is used, kept when it is freed, and limited.
//!
//! It changes how a process allocates, for good, so it runs once more in a process of its own,
//! which has one arena as that of a partition has.
//!
// UNSAFETY: page faults are counted, and memory is asked of C that can't be had.

#![expect(unsafe_code, reason = "faults of this process are counted, and memory is asked of C")]

use quietcore_process::heap::{HeapError, reserve};
use quietcore_units::ByteSize;

const MIB: usize = 1 << 20;

/// Page faults of this process so far that took no disk.
fn faults() -> i64 {
    // SAFETY: all bits zero are a usage, and the call fills it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` lives and is writable.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) }, 0);
    usage.ru_minflt
}

/// Faults while a block of this size is allocated, written and freed.
fn faults_of(bytes: usize) -> i64 {
    let before = faults();
    let mut block: Vec<u8> = Vec::with_capacity(bytes);
    block.resize(bytes, 1);
    std::hint::black_box(&block);
    drop(block);
    faults() - before
}

#[test]
fn a_heap_is_present_kept_and_limited() {
    const OWN_PROCESS: &str = "QUIETCORE_TEST_HEAP";
    if std::env::var_os(OWN_PROCESS).is_none() {
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", "a_heap_is_present_kept_and_limited", "--nocapture"]);
        let output = own.env(OWN_PROCESS, "1").env("MALLOC_ARENA_MAX", "1").output().unwrap();
        let said =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        assert!(output.status.success(), "{said:?}");
        return;
    }
    let mib = |count: usize| ByteSize::new((count * MIB) as u64);
    // Else 8 MiB may be four faults.
    // SAFETY: it concerns the pages that this process has from now on, and nothing else.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
    let small = faults_of(8 * MIB);
    assert!(small >= 2000, "{small}: without a heap each page takes a fault");
    reserve(mib(64), mib(32)).unwrap();
    for _ in 0..3 {
        let within = faults_of(60 * MIB);
        assert!(within < 100, "{within} faults");
    }
    // SAFETY: nothing is asked of the argument, and what comes is freed once.
    let get = |bytes: usize| unsafe {
        let memory = libc::malloc(bytes);
        libc::free(memory);
        !memory.is_null()
    };
    assert!(get(80 * MIB), "beyond the heap");
    assert!(!get(200 * MIB), "far beyond it");
    let error = reserve(mib(1000), mib(32)).unwrap_err();
    assert!(matches!(error, HeapError::Refused(_)), "{error}");
}
