//! The small modules of `tests/module`, compiled for a test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a source of `tests/module` into `folder` with one option of the compiler, and returns
/// the path of the module.
pub(crate) fn compiled(folder: &Path, source: &str, option: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let module = folder.join(std::format!("{source}{option}.so"));
    let headers = ["../program/include", "../../ground/exchange/include"];
    let gcc = Command::new("gcc")
        .args(["-shared", "-fPIC", option])
        .args(headers.map(|header| std::format!("-I{}", root.join(header).display())))
        .arg("-o")
        .args([&module, &root.join("tests/module").join(source)])
        .status();
    assert!(gcc.expect("gcc is installed by ./test").success());
    module
}
