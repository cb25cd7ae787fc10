//! Builds the OSEK kernel as a static library, which programs with an OIL file are linked with.
//!
//! It is built by a cargo of its own, in a folder of its own: as a library for C it panics by
//! aborting and is optimised as a whole, whatever this crate is built for. What the outer cargo was
//! told about its own compiler calls (flags, wrappers such as clippy's, folders) is kept from it.
//!
//! The build yields one object of the kernel, and some hundred of the compiler's own functions,
//! which the linker of a C program has itself. The library that is kept holds the first alone.
//!
//! A second one is for programs for guests: for x86-64 without an operating system, with addresses
//! below 2 GiB. Where Rust's core library for that is missing it is left empty, and who builds such
//! a program is told.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};

/// The crate, seen from here.
const KERNEL: &str = "../../ground/osek";
/// The name of the library's file.
const LIBRARY: &str = "libquietcore_osek.a";
/// The name of the one for guests.
const LIBRARY_FOR_GUEST: &str = "libquietcore_osek_guest.a";
/// The machine without an operating system.
const BARE: &str = "x86_64-unknown-none";
/// Compiler flags of the kernel: as for C at a fixed address. The target's code model is that of
/// kernels, whose addresses are signed numbers of 32 bits; those below 2 GiB are such numbers.
const BARE_FLAGS: &str = "-Crelocation-model=static";
/// The first bytes of an archive.
const START: &[u8] = b"!<arch>\n";
/// Bytes before each of its members.
const HEADER_BYTES: usize = 60;
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

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let kernel = here.join(KERNEL);
    for watched in ["src", "Cargo.toml", "../../Cargo.lock", "../../Cargo.toml"] {
        println!("cargo:rerun-if-changed={}", kernel.join(watched).display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    let target = variable("TARGET");
    keep(&build(&kernel, &out.join("osek"), &target, ""), &out.join(LIBRARY));
    let for_guest = out.join(LIBRARY_FOR_GUEST);
    if has_bare() {
        let built = build(&kernel, &out.join("osek-guest"), BARE.as_ref(), BARE_FLAGS);
        keep(&built, &for_guest);
    } else {
        println!("cargo:warning=the Rust target {BARE} is missing: no OSEK programs in guests");
        write(&for_guest, &[]);
    }
}

/// Returns `true` if Rust's core library is there for the machine without an operating system.
fn has_bare() -> bool {
    let mut rustc = Command::new(variable("RUSTC"));
    let output = rustc.args(["--print", "target-libdir", "--target", BARE]).output();
    output.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout);
        // Where there is none, cargo runs this again at the next build, which may find one.
        println!("cargo:rerun-if-changed={}", folder.trim());
        output.status.success() && Path::new(folder.trim()).is_dir()
    })
}

/// Keeps the kernel of a library that was built.
fn keep(built: &Path, library: &Path) {
    let bytes = std::fs::read(built)
        .unwrap_or_else(|error| panic!("`{}` can't be read: {error}", built.display()));
    write(library, &kernel_alone(&bytes));
}

fn write(file: &Path, bytes: &[u8]) {
    std::fs::write(file, bytes)
        .unwrap_or_else(|error| panic!("`{}` can't be written: {error}", file.display()));
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets `{name}`"))
}

/// Builds the library for a target, with flags of the compiler, and returns where it lies.
fn build(kernel: &Path, target_folder: &Path, target: &OsStr, flags: &str) -> PathBuf {
    let mut cargo = Command::new(variable("CARGO"));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let foreign = FOREIGN.iter().any(|start| text.starts_with(start));
        if foreign && !KEPT.iter().any(|start| text.starts_with(start)) {
            cargo.env_remove(&name);
        }
    }
    // Flags in a configuration file are for the programs around it, too.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags);
    cargo.env("CARGO_PROFILE_RELEASE_PANIC", "abort").env("CARGO_PROFILE_RELEASE_LTO", "fat");
    cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    cargo.args(["rustc", "--release", "--lib", "--crate-type", "staticlib", "--features", "c"]);
    cargo.args(["--locked", "--quiet", "--manifest-path"]).arg(kernel.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target_folder).arg("--target").arg(target);
    cargo.current_dir(kernel);
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo can't be started: {error}"));
    assert!(status.success(), "the OSEK kernel can't be built as a library for C: {status}");
    target_folder.join(target).join("release").join(LIBRARY)
}

/// A library with nothing but the kernel's object in it, in the form that GNU's linker reads.
///
/// ```text
/// "!<arch>\n" │ header "/" │ count, offset of the object for each name, names │ header │ object
/// ```
fn kernel_alone(library: &[u8]) -> Vec<u8> {
    let archive = ArchiveFile::parse(library).expect("rustc writes archives");
    let members = archive.members().map(|member| member.expect("rustc writes whole archives"));
    let own: Vec<&[u8]> = members
        .filter(|member| member.name().starts_with(b"quietcore_osek"))
        .map(|member| member.data(library).expect("its members have contents"))
        .collect();
    let [kernel] = own[..] else {
        panic!("the kernel is {} objects; optimised as a whole it is one", own.len())
    };
    let parsed = object::File::parse(kernel).expect("rustc writes objects");
    let names: Vec<&[u8]> = parsed
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.is_definition())
        .map(|symbol| symbol.name_bytes().expect("a symbol has a name"))
        .collect();
    let text = names.iter().map(|name| name.len() + 1).sum::<usize>();
    let index_bytes = 4 + 4 * names.len() + text;
    let start = START.len() + HEADER_BYTES + index_bytes.next_multiple_of(2);
    let number = |value: usize| u32::try_from(value).expect("it is small").to_be_bytes();
    let mut index = Vec::with_capacity(index_bytes);
    index.extend(number(names.len()));
    for _ in &names {
        index.extend(number(start));
    }
    for name in &names {
        index.extend(*name);
        index.push(0);
    }
    let mut made = START.to_vec();
    for (name, content) in [("/", &index[..]), ("kernel.o/", kernel)] {
        let bytes = content.len();
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{bytes:<10}`\n", 0, 0, 0, 644);
        assert!(header.len() == HEADER_BYTES, "headers have one length");
        made.extend(header.as_bytes());
        made.extend(content);
        made.resize(made.len().next_multiple_of(2), b'\n');
    }
    made
}
