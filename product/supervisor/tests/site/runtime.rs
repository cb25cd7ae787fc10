//! The program that partitions of these tests run in.

use std::path::{Path, PathBuf};

/// Returns the example `supervised`, which stands for `quietcore-runtime`.
pub(crate) fn runtime() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let folder = own.parent().and_then(Path::parent).expect("target/debug/deps/NAME");
    let partition = folder.join("examples/supervised");
    assert!(partition.exists(), "build it first: `cargo build --workspace --examples`");
    partition
}
