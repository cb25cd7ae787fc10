//! Machines and stored copies for the tests of this crate.

use std::path::PathBuf;

use quietcore_record::class::catalogue;
use quietcore_site::{Machine, Problems, Site, read};
use quietcore_units::{ByteSize, CpuId, CpuSet};

/// A machine that can do everything, with this many CPUs.
pub(crate) fn machine(cpu_count: u32) -> Machine {
    Machine {
        online: (0..cpu_count).filter_map(CpuId::new).collect(),
        isolated: CpuSet::EMPTY,
        memory_available: ByteSize::new(8 << 30),
        memory_lock_limit: None,
        cache_ways: None,
        processes_left: None,
        root: true,
        fifo: true,
        deadline: true,
        deadline_pinned: true,
        dma_latency: true,
        kvm: false,
    }
}

/// Reads a text as `site.toml` with the published classes.
pub(crate) fn read_text(text: &str) -> Result<Site, Problems> {
    read("site.toml", text.as_bytes(), &catalogue())
}

/// A file of the repository.
pub(crate) fn repository_file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Compares a text with its stored copy. With `QUIETCORE_STORE=1` it stores the text in its place.
pub(crate) fn assert_stored(path: &str, text: &str) {
    let path = repository_file(path);
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        stored,
        text,
        "{} differs; if the new text is right, run the test with QUIETCORE_STORE=1",
        path.display()
    );
}
