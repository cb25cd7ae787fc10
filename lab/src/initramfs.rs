//! The file system that a machine starts from: its first process with the libraries that this
//! needs, the modules and the job. All else comes from the shares, or, where the machine has none,
//! from here, too.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use quietcore_linux_guest::archive::{Archive, NoInitramfs};

use crate::job::{JOB, Job};

/// Writes the initramfs: `init` as the first process, the modules of `job` from where they are
/// here, and `files`, of each the place in the machine and the source here.
///
/// # Errors
/// [`NoInitramfs`].
pub fn write(
    target: &Path,
    init: &Path,
    job: &Job,
    files: &BTreeMap<PathBuf, PathBuf>,
) -> Result<(), NoInitramfs> {
    let failed = |because| NoInitramfs::File { path: target.to_owned(), because };
    let mut archive = Archive::begin(File::create(target).map_err(failed)?)?;
    archive.add_program(Path::new("/init"), init)?;
    for (place, source) in files {
        archive.add(place, source)?;
    }
    for module in &job.modules {
        archive.add(&module_place(module), module)?;
    }
    let placed = Job {
        modules: job.modules.iter().map(|module| module_place(module)).collect(),
        ..job.clone()
    };
    let text = serde_json::to_vec(&placed).expect("a job is plain data");
    archive.put(Path::new(JOB), &text)?;
    archive.end()?.sync_all().map_err(failed)
}

/// Returns the path of a module of the host's in the initramfs.
pub fn module_place(module: &Path) -> PathBuf {
    Path::new("/modules").join(module.file_name().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_put_in_is_read_back() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let target = scratch.path().join("initramfs");
        let init = std::env::current_exe().expect("this test's program");
        let job = Job {
            modules: Vec::new(),
            layers: Vec::new(),
            hypervisor_programs: None,
            project: "/project".into(),
            directory: "/project".into(),
            command: vec!["true".into()],
            results_to: None,
            tell_after: std::time::Duration::MAX,
        };
        let files = BTreeMap::from([("/usr/bin/more".into(), init.clone())]);
        write(&target, &init, &job, &files).expect("an initramfs");
        let mut file = File::open(&target).expect("it was written");
        let mut entries = Vec::new();
        loop {
            let reader = cpio::newc::Reader::new(file).expect("an archive");
            if reader.entry().is_trailer() {
                break;
            }
            entries.push((reader.entry().name().to_owned(), reader.entry().file_size()));
            file = reader.finish().expect("the next entry");
        }
        let size = fs::metadata(&init).expect("this test's program").len();
        for name in ["init", "usr/bin/more"] {
            assert!(entries.contains(&(name.to_owned(), size as u32)), "{name}");
        }
        assert!(entries.iter().any(|(name, size)| name.contains("libc.so") && *size > 0));
        assert!(entries.iter().any(|(name, _)| name == "job.json"));
        let folder = entries.iter().position(|(name, _)| name == "dev");
        let device = entries.iter().position(|(name, _)| name == "dev/console");
        assert!(folder < device, "a folder comes before what is in it");
    }
}
