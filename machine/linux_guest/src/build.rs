//! An image, built from a kernel and the runtime.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::{Compression, GzBuilder};

use crate::archive::{Archive, NoInitramfs, libraries};
use crate::bill::{self, Part};
use crate::image::{DESCRIPTION, Description, FileMark, INITRAMFS, KERNEL, VERSION};
use crate::kernel::Kernel;
use crate::modules::{self, NoModule};
use crate::packages::NoPackage;

/// The modules of the kernel that a guest needs: for the ports to its host, for the interface of a
/// fieldbus, and in a domain of Xen for what dom0 gives it.
pub const MODULES: &[&str] =
    &["virtio_pci", "virtio_console", "virtio_net", "xen-evtchn", "xen-gntdev"];
/// The folder of modules in a guest, in which the file names give the order of loading.
pub const MODULES_FOLDER: &str = "/modules";
/// Libraries beside those of the runtime, which programs of C and C++ need.
const FOR_PROGRAMS: &[&str] = &["libm.so.6", "libstdc++.so.6"];
/// Name of the bill of materials.
const BILL: &str = "bom.cdx.json";
/// Limit of what the kernel says about itself, in bytes.
const BANNER_BYTES_MAX: usize = 256;

/// Why an image can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no kernel for it.
    #[error(transparent)]
    Kernel(#[from] NoPackage),
    /// A module of the kernel can't be had.
    #[error(transparent)]
    Module(#[from] NoModule),
    /// The files that the kernel starts from can't be put together.
    #[error(transparent)]
    Initramfs(#[from] NoInitramfs),
    /// A file can't be read or written.
    #[error("`{}` can't be used", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The folder is there and holds something else.
    #[error("`{}` is there and is no image of a guest; name another folder", path.display())]
    Taken {
        /// Path of the folder.
        path: PathBuf,
    },
}

fn failed(path: &Path) -> impl Fn(io::Error) -> BuildError {
    move |source| BuildError::File { path: path.to_owned(), source }
}

/// Builds the image of a guest with this kernel, in which `runtime` is the first process, and puts
/// it in the place of `folder`, whole or not at all. `made_by` names the program that builds it.
///
/// # Errors
/// [`BuildError`]; the folder is as it was then.
pub fn build(
    kernel: &Kernel,
    runtime: &Path,
    made_by: &str,
    folder: &Path,
) -> Result<Description, BuildError> {
    let is_taken = folder.exists() && !folder.join(DESCRIPTION).is_file();
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if is_taken && !is_empty() {
        return Err(BuildError::Taken { path: folder.to_owned() });
    }
    let around = folder.parent().filter(|it| !it.as_os_str().is_empty());
    let around = around.unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(around).map_err(failed(around))?;
    let scratch = tempfile::tempdir_in(around).map_err(failed(around))?;
    let (initramfs, parts) = initramfs(kernel, runtime)?;
    let image = fs::read(&kernel.image).map_err(failed(&kernel.image))?;
    let words = banner(&image).unwrap_or_else(|| kernel.package.clone());
    let mut bill = vec![Part {
        name: kernel.package.clone(),
        version: version(&words),
        package: Some(kernel.package.clone()),
        mark: FileMark::of(&image),
    }];
    bill.extend(parts);
    let mut files = BTreeMap::new();
    for (name, bytes) in [(KERNEL, image), (INITRAMFS, initramfs), (BILL, bill::write(&bill))] {
        let path = scratch.path().join(name);
        fs::write(&path, &bytes).map_err(failed(&path))?;
        files.insert(name.to_owned(), FileMark::of(&bytes));
    }
    let description = Description {
        version: VERSION,
        made_by: made_by.to_owned(),
        kernel_package: kernel.package.clone(),
        kernel: words,
        files,
    };
    let path = scratch.path().join(DESCRIPTION);
    let text = serde_json::to_vec_pretty(&description).expect("plain data");
    fs::write(&path, text).map_err(failed(&path))?;
    put_in_place(scratch, folder)?;
    Ok(description)
}

/// Puts a folder that is complete in the place of another.
fn put_in_place(scratch: tempfile::TempDir, folder: &Path) -> Result<(), BuildError> {
    let complete = scratch.keep();
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    let placed = fs::set_permissions(&complete, readable)
        .and_then(|()| if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) })
        .and_then(|()| fs::rename(&complete, folder));
    placed.map_err(|source| {
        // It is of no use to anybody.
        let _ = fs::remove_dir_all(&complete);
        failed(folder)(source)
    })
}

/// Returns the files that the kernel starts from, compressed, and what they are.
fn initramfs(kernel: &Kernel, runtime: &Path) -> Result<(Vec<u8>, Vec<Part>), BuildError> {
    let output = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut archive = Archive::begin(output)?;
    let mut parts = Vec::new();
    let stripped = stripped(runtime)?;
    archive.put(Path::new("/init"), &stripped)?;
    parts.push(Part::of_file(Path::new("/init"), &stripped));
    let mut needed = libraries(runtime)?;
    let beside = needed.iter().find(|it| it.ends_with("libc.so.6")).and_then(|it| it.parent());
    let beside = beside.map(Path::to_owned).unwrap_or_default();
    let others = FOR_PROGRAMS.iter().map(|name| beside.join(name));
    needed.extend(others.filter(|path| path.exists()));
    needed.sort();
    needed.dedup();
    for library in needed {
        let bytes = fs::read(&library).map_err(failed(&library))?;
        archive.put(&library, &bytes)?;
        parts.push(Part::of_file(&library, &bytes));
    }
    for (index, module) in modules::in_order(&kernel.modules, MODULES)?.iter().enumerate() {
        let bytes = fs::read(module).map_err(failed(module))?;
        let name = module.file_name().unwrap_or_default().to_string_lossy();
        archive.put(&Path::new(MODULES_FOLDER).join(format!("{index:02}-{name}")), &bytes)?;
        let package = Some(kernel.package.clone());
        let name = name.into_owned();
        parts.push(Part { name, version: None, package, mark: FileMark::of(&bytes) });
    }
    for folder in ["/proc", "/sys", "/run", "/tmp"] {
        archive.folder(Path::new(folder))?;
    }
    let written = archive.end()?.finish().map_err(failed(Path::new(INITRAMFS)))?;
    Ok((written, parts))
}

/// Returns a program without its debug information, where `strip` is there to take it away.
fn stripped(program: &Path) -> Result<Vec<u8>, BuildError> {
    let scratch = tempfile::NamedTempFile::new().map_err(failed(program))?;
    let done = Command::new("strip").arg("-o").arg(scratch.path()).arg(program).output();
    let is_done = done.is_ok_and(|output| output.status.success());
    let path = if is_done { scratch.path() } else { program };
    fs::read(path).map_err(failed(path))
}

/// Returns what a kernel says about itself: its version, its flavour, its build (Linux,
/// Documentation/arch/x86/boot.rst, field `kernel_version`).
fn banner(image: &[u8]) -> Option<String> {
    const POINTER: usize = 0x20E;
    const BASE: usize = 0x200;
    let pointer: [u8; 2] = image.get(POINTER..POINTER + 2)?.try_into().ok()?;
    let begin = BASE + usize::from(u16::from_le_bytes(pointer));
    let end = image.len().min(begin + BANNER_BYTES_MAX);
    let text = CStr::from_bytes_until_nul(image.get(begin..end)?).ok()?.to_str().ok()?;
    text.starts_with(|first: char| first.is_ascii_digit()).then(|| text.to_owned())
}

/// Returns the version of Debian's package in a kernel's words about itself.
fn version(banner: &str) -> Option<String> {
    let (_, rest) = banner.split_once("Debian ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests;
