//! The way from the sources of a guest to its image.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target that images are built for.
pub const TARGET: &str = "x86_64-unknown-none";

/// Variables that cargo may be told of the machine that it runs on; of the rest nothing is meant
/// for it.
const KEPT: [&str; 6] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_MAKEFLAGS",
    "CARGO_NET_",
    "CARGO_REGISTR",
    "CARGO_SOURCE_",
];
/// Prefixes of variables that change how a compiler is called.
const FOREIGN: [&str; 6] = ["CARGO", "RUSTC_", "RUSTDOC", "RUSTFLAGS", "MIRI", "CLIPPY"];

/// Returns Rust's library for the bare machine, whether it is installed or not; `None` if the
/// compiler can't be asked.
pub fn library() -> Option<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output =
        Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = String::from_utf8(output.ok()?.stdout).ok()?;
    Some(PathBuf::from(folder.trim()))
}

/// Returns the path of an image among others in a folder.
pub fn file_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("quietcore-image-{name}"))
}

/// Builds images, and returns the folder in which they lie: below that of all that cargo builds, so
/// that what they have in common is built once.
///
/// # Panics
/// Where they do not build.
#[track_caller]
pub fn build(target_folder: &Path, names: &[&str]) -> PathBuf {
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest");
    let folder = target_folder.join("images");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let foreign = FOREIGN.iter().any(|start| text.starts_with(start));
        if foreign && !KEPT.iter().any(|start| text.starts_with(start)) {
            cargo.env_remove(&name);
        }
    }
    // Images lie where their linker script says; flags in a configuration file are not for them.
    let script = guest.join("image.ld");
    let flags = ["-Crelocation-model=static", &format!("-Clink-arg=-T{}", script.display())];
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    cargo.env("CARGO_PROFILE_RELEASE_PANIC", "abort").env("CARGO_PROFILE_RELEASE_LTO", "fat");
    cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    cargo.args(["build", "--release", "--locked", "--quiet", "--features", "images"]);
    for name in names {
        cargo.arg("--bin").arg(format!("quietcore-image-{name}"));
    }
    cargo.arg("--manifest-path").arg(guest.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(&folder).args(["--target", TARGET]).current_dir(&guest);
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo can't be started: {error}"));
    assert!(status.success(), "the images {} do not build: {status}", names.join(", "));
    folder.join(TARGET).join("release")
}
