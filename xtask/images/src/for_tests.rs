//! The image that a test asks for.

use std::env;
use std::path::{Path, PathBuf};

use crate::build::{TARGET, build, file_of, library};

/// Builds the image of this name and returns its file; `None` where that can't be done here, which
/// was said then.
///
/// # Panics
/// Where it does not build.
#[track_caller]
pub fn image(name: &str) -> Option<PathBuf> {
    if let Some(folder) = env::var_os("QUIETCORE_IMAGES") {
        return Some(file_of(Path::new(&folder), name));
    }
    if !library().is_some_and(|folder| folder.is_dir()) {
        quietcore_skip::skip!("no Rust library for {TARGET}; `rustup target add {TARGET}`");
        return None;
    }
    Some(file_of(&build(&target_folder(), &[name]), name))
}

fn target_folder() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    env::var_os("CARGO_TARGET_DIR").map_or_else(usual, PathBuf::from)
}
