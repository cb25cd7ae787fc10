//! Kernels of Debian's, and the hypervisor below one where its kind of machine has it.

use std::path::{Path, PathBuf};
use std::process::Command;

pub use quietcore_linux_guest::kernel::cache;
use quietcore_linux_guest::packages::{self, NoPackage, run};

use crate::job::layer_tag;
use crate::kind::{Hypervisor, Kind};

/// A kernel and its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Path of the bzImage.
    pub image: PathBuf,
    /// The folder `/lib/modules/VERSION`.
    pub modules: PathBuf,
    /// The hypervisor that starts it, if any.
    pub under: Option<HypervisorFiles>,
    /// The folder that its package was extracted to.
    folder: PathBuf,
}

/// A hypervisor with the programs that talk to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HypervisorFiles {
    /// Path of its image, not compressed.
    pub image: PathBuf,
    /// The folder that its packages were extracted to.
    folder: PathBuf,
}

impl Kernel {
    /// The folders whose contents are laid over the machine's file system as if their packages were
    /// installed, each with the tag of its share. Only a hypervisor needs any: its programs, and
    /// the kernel for its domains.
    pub fn layers(&self) -> Vec<(String, &Path)> {
        let folders = self.under.iter().flat_map(|under| [&*under.folder, &*self.folder]);
        folders.enumerate().map(|(index, folder)| (layer_tag(index), folder)).collect()
    }
}

/// The kernel of a kind: from the cache, or else from Debian. `tell` is told what takes a while.
///
/// # Errors
/// [`NoPackage`]; what was begun in the cache is removed.
pub fn fetch(kind: &Kind, cache: &Path, tell: impl Fn(&str)) -> Result<Kernel, NoPackage> {
    let kernel = quietcore_linux_guest::kernel::fetch(kind.package, cache, &tell)?;
    let under = kind.hypervisor.map(|it| fetch_hypervisor(&it, cache, &tell)).transpose()?;
    let folder = cache.join(&kernel.package);
    Ok(Kernel { image: kernel.image, modules: kernel.modules, under, folder })
}

/// Fetches a hypervisor with its programs, and unpacks its image: QEMU's loader takes none that is
/// compressed.
fn fetch_hypervisor(
    hypervisor: &Hypervisor,
    cache: &Path,
    tell: impl Fn(&str),
) -> Result<HypervisorFiles, NoPackage> {
    let folder = packages::fetch(hypervisor.package, hypervisor.packages, cache, tell)?;
    let compressed = folder.join(hypervisor.image);
    let image = compressed.with_extension("");
    if !image.exists() {
        // Another machine may be starting that uses the cache, too.
        let bytes = run(Command::new("gzip").args(["--decompress", "--stdout"]).arg(&compressed))?;
        packages::put(&image, &bytes.stdout)?;
    }
    Ok(HypervisorFiles { image, folder })
}
