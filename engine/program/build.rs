//! Builds the OSEK kernel as a static library, which programs with an OIL file are linked with.
//!
//! It is built by a cargo of its own, in a folder of its own: as a library for C it panics by
//! aborting and is optimised as a whole, whatever this crate is built for. What the outer cargo was
//! told about its own compiler calls (flags, wrappers such as clippy's, folders) is kept from it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate, seen from here.
const KERNEL: &str = "../../ground/osek";
/// The name of the library's file.
const LIBRARY: &str = "libquietcore_osek.a";
/// What cargo may be told of the machine that it runs on; of the rest nothing is meant for it.
const KEPT: [&str; 6] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_MAKEFLAGS",
    "CARGO_NET_",
    "CARGO_REGISTR",
    "CARGO_SOURCE_",
];
/// What changes how a compiler is called.
const FOREIGN: [&str; 6] = ["CARGO", "RUSTC_", "RUSTDOC", "RUSTFLAGS", "MIRI", "CLIPPY"];

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let kernel = here.join(KERNEL);
    for watched in ["src", "Cargo.toml", "../../Cargo.lock", "../../Cargo.toml"] {
        println!("cargo:rerun-if-changed={}", kernel.join(watched).display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    let built = build(&kernel, &out.join("osek"));
    let bytes = std::fs::read(&built)
        .unwrap_or_else(|error| panic!("`{}` can't be read: {error}", built.display()));
    let library = out.join(LIBRARY);
    std::fs::write(&library, bytes)
        .unwrap_or_else(|error| panic!("`{}` can't be written: {error}", library.display()));
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets `{name}`"))
}

/// Builds the library and returns where it lies.
fn build(kernel: &Path, target_folder: &Path) -> PathBuf {
    let target = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let foreign = FOREIGN.iter().any(|start| text.starts_with(start));
        if foreign && !KEPT.iter().any(|start| text.starts_with(start)) {
            cargo.env_remove(&name);
        }
    }
    // Flags in a configuration file are for the programs around it, too.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "");
    cargo.env("CARGO_PROFILE_RELEASE_PANIC", "abort").env("CARGO_PROFILE_RELEASE_LTO", "fat");
    cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    cargo.args(["rustc", "--release", "--lib", "--crate-type", "staticlib", "--features", "c"]);
    cargo.args(["--locked", "--quiet", "--manifest-path"]).arg(kernel.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target_folder).arg("--target").arg(&target);
    cargo.current_dir(kernel);
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo can't be started: {error}"));
    assert!(status.success(), "the OSEK kernel can't be built as a library for C: {status}");
    target_folder.join(target).join("release").join(LIBRARY)
}
