//! Loading a module: its data lie in shared memory afterwards, and its faults end a call only.
//!
//! Method: a small C module is compiled by gcc; what it does is seen through the memory file alone.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
//
// UNSAFETY: loads the C module of this test and calls it.
#![expect(unsafe_code, reason = "loads and calls C")]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use quietcore_process::guard::Guard;
use quietcore_process::module::{self, DataImage, DataSlot, Module, ModuleError};
use rustix::fs::{MemfdFlags, memfd_create};

const SLOT_OFFSET: u64 = 8192;
const SLOT_BYTES: usize = 16384;

fn build(folder: &Path, defines: &[&str]) -> PathBuf {
    let module = folder.join("counter.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/module/counter.c");
    let status = Command::new("gcc")
        .args(["-shared", "-fPIC", "-O2", "-fvisibility=hidden"])
        .args(["-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,separate-code"])
        .args(defines)
        .args([Path::new("-o"), &module, &source])
        .status();
    assert!(status.expect("gcc is installed by ./test").success());
    module
}

/// Returns the position of the writable data and of the variable `counts` in them, as `readelf`
/// says.
fn layout(module: &Path) -> (DataImage, u64) {
    let output = Command::new("readelf").args(["-lsW"]).arg(module).output().expect("binutils");
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let find = |kind: &str, rights: &str| {
        let line = text.lines().find(|line| line.contains(kind) && line.contains(rights));
        words(line.unwrap_or_else(|| panic!("{kind} in {text}")))
    };
    let (load, relro) = (find("LOAD", " RW "), find("GNU_RELRO", ""));
    let begin = (number(&relro[2]) + number(&relro[5])).next_multiple_of(4096);
    let end = (number(&load[2]) + number(&load[5])).next_multiple_of(4096);
    let symbol = words(text.lines().find(|line| line.ends_with(" counts")).expect("symbols"));
    (DataImage { address: begin, bytes: end - begin }, number(&symbol[1]) - begin)
}

fn memory() -> File {
    let file: File = memfd_create("slot", MemfdFlags::CLOEXEC).unwrap().into();
    file.set_len(SLOT_OFFSET + SLOT_BYTES as u64).unwrap();
    file
}

fn read(file: &File, offset: u64) -> [i32; 2] {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, SLOT_OFFSET + offset).expect("the file is that long");
    let [a, b, c, d, e, f, g, h] = bytes;
    [i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes([e, f, g, h])]
}

#[test]
fn the_data_of_a_module_are_seen_and_changed_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let path = build(folder.path(), &[]);
    let (image, counts) = layout(&path);
    let file = memory();
    let slot = DataSlot { file: &file, offset: SLOT_OFFSET, bytes: SLOT_BYTES };
    module::prepare().unwrap();
    // SAFETY: the module is ours, and nothing else uses the slot.
    let module = unsafe { Module::load(&path, image, slot) }.unwrap();
    assert_eq!(module.rate_count(), 2);
    assert_eq!(module.tasks(), ["fast", "slow"]);
    assert_eq!(module.task_under_way(), None);
    assert_eq!((module.overflowed_task(64), module.overflowed_task(65)), (Some(1), None));
    assert_eq!(read(&file, counts), [40, 50], "initial values");
    let guard = Guard::default();
    // SAFETY: no other thread calls the module, here and below.
    unsafe { module.initialize(&guard) }.unwrap();
    // SAFETY: as above.
    unsafe { module.step(&guard, 0) }.unwrap();
    assert_eq!(read(&file, counts), [41, 7]);
    file.write_all_at(&90_i32.to_le_bytes(), SLOT_OFFSET + counts).unwrap();
    // SAFETY: as above.
    let fault = unsafe { module.step(&guard, 1) }.unwrap_err();
    assert_eq!(fault.signal, libc::SIGFPE.unsigned_abs());
    let linked = module.linked_address(fault.instruction).unwrap();
    assert!(linked < image.address, "{linked:#x} is in the code, before {image:?}");
    assert_eq!(read(&file, counts), [90, 7], "nothing after the fault was run");
    // SAFETY: as above.
    unsafe { module.step(&guard, 0) }.unwrap();
    assert!(!module.has_error());
    file.write_all_at(&101_i32.to_le_bytes(), SLOT_OFFSET + counts).unwrap();
    assert_eq!(module.error_status().as_deref(), Some("too many"));
    assert_eq!(module.error_bytes().collect::<Vec<_>>(), b"too many");
    // SAFETY: as above.
    unsafe { module.terminate(&guard) }.unwrap();
    assert_eq!(read(&file, counts)[0], -1);
}

#[test]
fn one_file_is_loaded_twice_with_data_of_its_own_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = build(folder.path(), &[]);
    let (image, counts) = layout(&path);
    module::prepare().unwrap();
    let files = [memory(), memory()];
    let modules = files.each_ref().map(|file| {
        let slot = DataSlot { file, offset: SLOT_OFFSET, bytes: SLOT_BYTES };
        // SAFETY: the module is ours, and nothing else uses the slot.
        unsafe { Module::load(&path, image, slot) }.unwrap()
    });
    // SAFETY: no other thread calls the module.
    unsafe { modules[0].step(&Guard::default(), 0) }.unwrap();
    assert_eq!((read(&files[0], counts)[0], read(&files[1], counts)[0]), (41, 40));
}

#[test]
fn what_does_not_fit_is_refused_with_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let path = build(folder.path(), &[]);
    let (image, _) = layout(&path);
    let file = memory();
    let load = |path: &Path, image, bytes| {
        let slot = DataSlot { file: &file, offset: SLOT_OFFSET, bytes };
        // SAFETY: the module is ours, and nothing else uses the slot.
        unsafe { Module::load(path, image, slot) }.map(|_| ()).unwrap_err()
    };
    let text = |error: ModuleError| error.to_string();
    assert!(text(load(&path, image, 0)).contains("the slot is smaller"));
    let crooked = DataImage { address: image.address + 8, ..image };
    assert!(text(load(&path, crooked, SLOT_BYTES)).contains("whole pages"));
    let code = DataImage { address: 0, bytes: 4096 };
    assert!(text(load(&path, code, SLOT_BYTES)).contains("not the module's"));
    let old = build(folder.path(), &["-DVERSION=9"]);
    assert!(text(load(&old, image, SLOT_BYTES)).contains("version 9"));
    std::fs::write(&old, "no module").unwrap();
    assert!(text(load(&old, image, SLOT_BYTES)).contains("can't be loaded"));
    let missing = folder.path().join("missing.so");
    assert!(text(load(&missing, image, SLOT_BYTES)).contains("can't be read"));
}
