//! Machines and stored copies for the tests of this crate.

use std::path::PathBuf;

use quietcore_record::class::catalogue;
use quietcore_site::{ContainerRuntime, Machine, Obstacle, Problem, Problems, Site, read};
use quietcore_units::{ByteSize, CpuId, CpuSet};

/// A machine that can do everything, with this many CPUs.
pub(crate) fn machine(cpu_count: u32) -> Machine {
    Machine {
        online: (0..cpu_count).filter_map(CpuId::new).collect(),
        usable: (0..cpu_count).filter_map(CpuId::new).collect(),
        own_group: (0..cpu_count).filter_map(CpuId::new).collect(),
        load_balance_moves: true,
        isolated: CpuSet::EMPTY,
        memory_available: ByteSize::new(8 << 30),
        memory_lock_limit: None,
        cache_ways: Err(lacking("this machine can't assign cache ways (no CAT)", "cache")),
        memory_bandwidth: Err(lacking(
            "this machine can't limit the memory's bandwidth (no MBA)",
            "memory_bandwidth",
        )),
        page_colours: Ok(16),
        processes_left: None,
        root: true,
        fifo: true,
        deadline: true,
        throttles: false,
        real_time_ppm: 950_000,
        dma_latency: true,
        kvm: Err(no_guests()),
        qemu: Err(no_qemu()),
        xen: Err(no_xen()),
        cards: vec![("0000:03:00.0".into(), Ok(())), ("0000:04:00.0".into(), Err(no_iommu()))],
        containers: vec![(ContainerRuntime::Runc, Ok(()))],
        container_real_time_us: None,
    }
}

/// Why there are no domains of Xen.
fn no_xen() -> Obstacle {
    let what = "this kernel is not dom0 of Xen, which starts other domains".to_owned();
    Obstacle { what, remedy: "choose `process`".into() }
}

/// Why a network card can't be given to a guest.
fn no_iommu() -> Obstacle {
    let what = "there is no IOMMU to keep it from the host's memory".to_owned();
    Obstacle { what, remedy: "switch it on".into() }
}

/// Why there are no guests of QEMU.
fn no_qemu() -> Obstacle {
    let what = "`qemu-system-x86_64` is not installed".to_owned();
    Obstacle { what, remedy: "choose `process`".into() }
}

/// Why there are no guests.
pub(crate) fn no_guests() -> Obstacle {
    Obstacle { what: "/dev/kvm can't be opened here".to_owned(), remedy: "choose `process`".into() }
}

fn lacking(what: &str, key: &str) -> Obstacle {
    Obstacle { what: what.to_owned(), remedy: format!("take `{key}` out") }
}

/// Reads a text as `site.toml` with the published classes.
pub(crate) fn read_text(text: &str) -> Result<Site, Problems> {
    read("site.toml", text.as_bytes(), &catalogue())
}

/// The good file with `from` replaced by `to`.
pub(crate) fn changed(good: &str, from: &str, to: &str) -> String {
    assert!(good.contains(from), "{from}");
    good.replacen(from, to, 1)
}

/// The one problem of a text.
#[track_caller]
pub(crate) fn only_problem(text: &str) -> Problem {
    let problems = match read_text(text) {
        Ok(_) => panic!("no problem is found in\n{text}"),
        Err(problems) => problems,
    };
    let list: Vec<_> = problems.iter().collect();
    assert_eq!(list.len(), 1, "{problems}");
    list[0].clone()
}

/// Expects that a text has one problem, at `key`, whose text has `part`.
#[track_caller]
pub(crate) fn expect_problem(text: &str, key: &str, part: &str) {
    let problem = only_problem(text);
    assert_eq!(problem.place.key, key, "{problem}");
    assert!(problem.to_string().contains(part), "{problem}");
}

/// Reads a text that has no problem.
#[track_caller]
pub(crate) fn accept(text: &str) -> Site {
    read_text(text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The remarks of a text, one a line.
#[track_caller]
pub(crate) fn remarks(text: &str) -> String {
    let remarks = accept(text).remarks();
    let shown: Vec<_> = remarks.iter().map(ToString::to_string).collect();
    shown.join("\n")
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
