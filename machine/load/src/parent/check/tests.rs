//! Tests of the check of requests: every problem is named before anything is started.

use super::*;
use proptest::prelude::*;

fn facts() -> Facts {
    Facts {
        available_memory: ByteSize::new(GIB),
        last_level_cache: ByteSize::new(32 * MIB),
        online: "0-3".parse().unwrap(),
    }
}

fn roomy(_: &Path) -> Result<FolderFacts, FolderError> {
    Ok(FolderFacts { free: ByteSize::new(100 * GIB) })
}

fn texts(requests: &[LoadRequest]) -> Vec<String> {
    let problems = check(requests, &facts(), roomy).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults_follow_the_kind_and_the_machine() {
    let requests: Vec<_> = LoadKind::ALL.iter().map(|kind| LoadRequest::new(*kind, 1)).collect();
    let loads = check(&requests, &facts(), roomy).unwrap();
    let sizes: Vec<_> = loads.iter().map(|load| load.size.map(ByteSize::get)).collect();
    assert_eq!(
        sizes,
        [
            None,
            Some(64 * MIB),
            Some(40 * MIB),
            Some(128 * MIB),
            Some(16 * MIB),
            Some(16 * KIB),
            None,
            None,
            None
        ]
    );
    assert_eq!(loads[4].folder, Some(PathBuf::from("/var/tmp")));
}

#[test]
fn no_load_at_all_is_a_load() {
    assert_eq!(check(&[], &facts(), roomy), Ok(Vec::new()));
}

#[test]
fn all_problems_are_told_at_once() {
    let requests = [
        LoadRequest::new(LoadKind::Sqrt, 0),
        LoadRequest {
            size: Some(ByteSize::new(1)),
            cpus: Some(CpuSet::EMPTY),
            folder: Some(PathBuf::from("/")),
            ..LoadRequest::new(LoadKind::Futex, 1)
        },
        LoadRequest {
            size: Some(ByteSize::new(1)),
            cpus: Some("2-5".parse().unwrap()),
            ..LoadRequest::new(LoadKind::Malloc, 256)
        },
    ];
    assert_eq!(
        texts(&requests),
        [
            "load 0 (`sqrt`): 0 workers; ask for 1 or leave the load out",
            "load 1 (`futex`): this kind has no size; leave it out",
            "load 1 (`futex`): the set of CPUs is empty; leave it out for anywhere",
            "load 1 (`futex`): this kind has no folder; leave it out",
            "load 2 (`malloc`): a size of 1 B is outside 4.00 KiB to 64.0 GiB",
            "load 2 (`malloc`): cpus `4,5` are not online; online are `0-3`",
            "257 workers are more than the 256 possible",
        ]
    );
}

#[test]
fn a_total_beyond_four_fifths_of_the_available_memory_is_refused() {
    let malloc = |workers| LoadRequest::new(LoadKind::Malloc, workers);
    assert!(check(&[malloc(12)], &facts(), roomy).is_ok());
    assert_eq!(
        texts(&[malloc(13)]),
        ["the loads need 832 MiB of memory with 1.00 GiB available; at most 80 % of that is \
          used, so take fewer workers or a smaller size"]
    );
    // The sets of the other kinds count too.
    let cache = LoadRequest::new(LoadKind::Cache, 2);
    assert!(check(&[malloc(12), cache], &facts(), roomy).is_err());
}

#[test]
fn a_folder_must_be_there_and_have_room() {
    let disk = [LoadRequest::new(LoadKind::Disk, 2)];
    let full = |_: &Path| Ok(FolderFacts { free: ByteSize::new(39 * MIB) });
    let problems = check(&disk, &facts(), full).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "load 0 (`disk`): 32.0 MiB of files in `/var/tmp` with 39.0 MiB free; at most 80 % of \
         that is used"
    );
    let missing = |_: &Path| Err(FolderError::Missing);
    let problems = check(&disk, &facts(), missing).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "load 0 (`disk`): folder `/var/tmp`: there is no such folder; name a folder on a disk"
    );
}

proptest! {
    #[test]
    fn absurd_numbers_never_panic_and_never_pass_the_limits(
        workers in proptest::collection::vec(any::<u32>(), 0..5),
        size in any::<u64>(),
        kind in 0..LoadKind::ALL.len(),
    ) {
        let requests: Vec<_> = workers
            .iter()
            .map(|workers| LoadRequest {
                size: Some(ByteSize::new(size)),
                ..LoadRequest::new(LoadKind::ALL[kind], *workers)
            })
            .collect();
        if let Ok(loads) = check(&requests, &facts(), roomy) {
            let workers: u64 = loads.iter().map(|load| u64::from(load.workers)).sum();
            prop_assert!(workers <= u64::from(WORKER_LIMIT));
        }
    }
}
