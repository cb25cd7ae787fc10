//! Makes Rust of the contract in `proto/`, without a compiler of protocol buffers on the machine.

use std::error::Error;
use std::path::{Path, PathBuf};

use prost::Message as _;

/// Folder of the contract, as seen from this package.
const FOLDER: &str = "../../proto";
/// Folder of the package `quietcore.v1` in it.
const PACKAGE: &str = "quietcore/v1";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={FOLDER}");
    let mut files: Vec<PathBuf> = std::fs::read_dir(Path::new(FOLDER).join(PACKAGE))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let descriptors = protox::compile(files, [FOLDER])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
