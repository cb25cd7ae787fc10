//! Builds the image of a guest.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target that images are built for.
const TARGET: &str = "x86_64-unknown-none";

/// Builds the image of this name and returns its file; `None` where that can't be done here, which
/// was said then.
///
/// # Panics
/// Where it does not build.
#[track_caller]
pub fn image(name: &str) -> Option<PathBuf> {
    let name = format!("quietcore-image-{name}");
    if let Some(folder) = env::var_os("QUIETCORE_IMAGES") {
        return Some(Path::new(&folder).join(name));
    }
    if !is_installed() {
        quietcore_skip::skip!("no Rust library for {TARGET}; `rustup target add {TARGET}`");
        return None;
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = target_folder(&workspace).join("images");
    let script = workspace.join("guest/image.ld");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What the outer cargo was told of its compiler is not for this one.
    for (variable, _) in env::vars_os() {
        let text = variable.to_string_lossy();
        if ["CARGO_ENCODED", "RUSTFLAGS", "RUSTC_", "CARGO_PROFILE"]
            .iter()
            .any(|it| text.starts_with(it))
        {
            cargo.env_remove(&variable);
        }
    }
    cargo.args(["rustc", "--locked", "--quiet", "--release", "--package", "quietcore-guest"]);
    cargo.args(["--features", "images", "--bin", &name, "--target", TARGET, "--target-dir"]);
    cargo.arg(&folder).current_dir(&workspace).args(["--", "-Crelocation-model=static"]);
    cargo.arg(format!("-Clink-arg=-T{}", script.display()));
    let status = cargo.status().expect("cargo runs this test");
    assert!(status.success(), "the image `{name}` does not build: {status}");
    Some(folder.join(TARGET).join("release").join(name))
}

fn is_installed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output =
        Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    folder.is_some_and(|folder| Path::new(folder.trim()).is_dir())
}

fn target_folder(workspace: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from)
}
