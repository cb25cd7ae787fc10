//! Builds the images of guests.
//!
//! They are built anew when something changes that they are made of: a source that the compiler has
//! read, or the manifest of its crate. What else changes in the workspace does not touch them.
//!
//! If that is not possible (another processor, no library for the bare machine) an image is a
//! file of no bytes, and a warning says so. It is one, too, where [`WITHOUT`] is set, for a build
//! that runs nothing, such as clippy's in a folder of its own.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use quietcore_images::{TARGET, build, file_of, library};

/// The crate, seen from here.
const GUEST: &str = "../../guest";
/// The images, by the names that they have without `quietcore-image-`.
const IMAGES: [&str; 5] = ["irq", "osek", "ethercat", "latency", "partition"];
/// Variable by which no image is built.
const WITHOUT: &str = "QUIETCORE_WITHOUT_IMAGES";

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let guest = here.join(GUEST);
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={WITHOUT}");
    for watched in ["Cargo.toml", "image.ld", "src", "images", "../Cargo.lock", "../Cargo.toml"] {
        println!("cargo:rerun-if-changed={}", guest.join(watched).display());
    }
    let is_wanted = env::var_os(WITHOUT).is_none() && is_possible();
    let built = is_wanted.then(|| build(target_folder(&out), &IMAGES));
    let sources = built.as_deref().map(sources).unwrap_or_default();
    for source in &sources {
        println!("cargo:rerun-if-changed={source}");
    }
    // For the test that they are what images are made of and nothing else.
    write(&out.join("sources"), Vec::from_iter(sources).join("\n").as_bytes());
    for name in IMAGES {
        let bytes = match &built {
            Some(folder) => read(&file_of(folder, name)),
            None => Vec::new(),
        };
        write(&out.join(name), &bytes);
    }
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets `{name}`"))
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("`{}` can't be read: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes)
        .unwrap_or_else(|error| panic!("`{}` can't be written: {error}", path.display()));
}

/// Returns `true` if images can be built here, and are of any use.
fn is_possible() -> bool {
    if variable("CARGO_CFG_TARGET_ARCH") != "x86_64" {
        return false;
    }
    let folder = library();
    // Where there is none, cargo runs this again at the next build, which may find one.
    if let Some(folder) = &folder {
        println!("cargo:rerun-if-changed={}", folder.display());
    }
    let is_installed = folder.is_some_and(|folder| folder.is_dir());
    if !is_installed {
        println!(
            "cargo:warning=no images of guests: install them with `rustup target add {TARGET}`"
        );
    }
    is_installed
}

/// Returns the folder of all that the outer cargo builds, which it has marked; it does not tell its
/// path.
fn target_folder(out: &Path) -> &Path {
    out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).unwrap_or(out)
}

/// Returns the files that the images in a folder were made of: the sources, as the compiler lists
/// them, and the manifests of their crates.
fn sources(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in IMAGES {
        let list = read(&file_of(folder, name).with_extension("d"));
        let text = String::from_utf8(list).expect("cargo writes paths of the project");
        let listed = text.split_once(": ").map_or("", |(_, listed)| listed);
        // A space that belongs to a path is escaped.
        let listed = listed.trim_end().replace("\\ ", "\u{0}");
        found.extend(listed.split_whitespace().map(|source| source.replace('\u{0}', " ")));
    }
    let manifest = |source: &String| {
        let mut folders = Path::new(source).ancestors().skip(1);
        let manifest = folders.find_map(|it| Some(it.join("Cargo.toml")).filter(|it| it.exists()));
        manifest.map(|it| it.display().to_string())
    };
    let manifests: Vec<String> = found.iter().filter_map(manifest).collect();
    found.extend(manifests);
    found
}
