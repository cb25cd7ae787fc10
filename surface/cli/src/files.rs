//! Reading what a person names, with limits and clear words.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use quietcore_site::Site;
use sha2::{Digest as _, Sha256};

use crate::status::Failure;

/// A file that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("`{}` can't be read", path.display())]
pub(crate) struct FileError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Reads a file of at most `limit` bytes; of a longer one, one byte more than that, so that whoever
/// checks the limit sees that it is exceeded.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, FileError> {
    let error = |source| FileError { path: path.to_owned(), source };
    let file = File::open(path).map_err(error)?;
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(error)?;
    Ok(bytes)
}

/// A site file with the bytes it was read from.
pub(crate) struct SiteFile {
    pub(crate) site: Site,
    pub(crate) bytes: Vec<u8>,
    pub(crate) sha256: String,
}

/// Reads and checks a site file; every problem in it becomes a line of the failure.
pub(crate) fn read_site(path: &Path) -> Result<SiteFile, Failure> {
    let bytes = read(path, quietcore_site::SITE_BYTES_MAX)?;
    let catalogue = quietcore_record::class::catalogue();
    let site = quietcore_site::read(&path.display().to_string(), &bytes, &catalogue)
        .map_err(Failure::new)?;
    let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(SiteFile { site, bytes, sha256 })
}

/// The program that partitions and loads run in; it is installed beside this one.
pub(crate) fn runtime() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()?;
    let runtime = own.with_file_name("quietcore-runtime");
    if runtime.is_file() {
        return Ok(runtime);
    }
    Err(Failure::new(format_args!(
        "quietcore: `{}` is missing; install it beside `quietcore`, both come from one build",
        runtime.display()
    )))
}
