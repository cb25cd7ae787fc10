//! Tests of what instances are called and set to; on a kernel they are tested in `tests/`.

use super::*;

#[test]
fn only_ours_whose_process_is_dead_are_left_over() {
    let own = std::process::id();
    let begin = begin_of(own).unwrap();
    assert!(!is_left_over(&format!("quietcore-{own}-{begin}-0")), "it lives");
    assert!(is_left_over(&format!("quietcore-{own}-{}-0", begin + 1)), "the number is another's");
    assert!(is_left_over("quietcore-4194305-7-0"), "no process can have that number");
    for foreign in
        ["", "trace", "quietcore-", "quietcore-x-1-0", "quietcore-1-2", "rtla-4194305-7-0"]
    {
        assert!(!is_left_over(foreign), "{foreign}");
    }
}

#[test]
fn cpus_are_written_as_the_kernel_takes_them() {
    let text = |cpus: &str| mask(cpus.parse().unwrap());
    assert_eq!(text("0"), "00000001");
    assert_eq!(text("1,3-4"), "0000001a");
    assert_eq!(text("0,33"), "00000002,00000001");
}

/// Goal: what can't be set up leaves nothing behind.
/// Method: a folder that is no tracing file system has no files to be written.
#[test]
fn an_instance_that_fails_is_gone() {
    let create = |root: &Path| Instance::create(&Arc::new(Tracefs::below(root)), CpuSet::EMPTY);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("instances")).unwrap();
    // Files can be made in it, and so the first that fails is that of an event.
    let error = create(folder.path()).unwrap_err();
    assert!(error.to_string().contains("sched_switch"), "{error}");
    let none = create(&folder.path().join("no"));
    assert!(none.unwrap_err().to_string().contains("can't be made"));
}
