//! Modules of a kernel, with those that they need, in the order of loading.
//!
//! A package has no `modules.dep`: that is made where it is installed. What a module needs stands
//! in the module itself, in its section `.modinfo`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSection as _};

/// Why modules can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum NoModule {
    /// There is none of this name.
    #[error("the kernel in {folder} has no module `{name}`")]
    Unknown {
        /// Name of the module.
        name: String,
        /// Folder in which it was sought.
        folder: PathBuf,
    },
    /// A file can't be read.
    #[error("can't read {path}: {because}")]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
    /// A file is no module.
    #[error("{path} is no module: {because}")]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// The error of the parser.
        because: object::Error,
    },
}

/// The files of the modules named and of all that they need, each behind those that it needs. What
/// is built into the kernel needs no file.
///
/// # Errors
/// [`NoModule`].
pub fn in_order(folder: &Path, names: &[&str]) -> Result<Vec<PathBuf>, NoModule> {
    let mut search = Search {
        folder,
        files: files(folder)?,
        built_in: built_in(folder)?,
        seen: BTreeSet::new(),
        order: Vec::new(),
    };
    for name in names {
        search.visit(name)?;
    }
    Ok(search.order)
}

struct Search<'a> {
    folder: &'a Path,
    files: BTreeMap<String, PathBuf>,
    built_in: BTreeSet<String>,
    seen: BTreeSet<String>,
    order: Vec<PathBuf>,
}

impl Search<'_> {
    fn visit(&mut self, name: &str) -> Result<(), NoModule> {
        let name = normal(name);
        if self.built_in.contains(&name) || !self.seen.insert(name.clone()) {
            return Ok(());
        }
        let unknown = || NoModule::Unknown { name: name.clone(), folder: self.folder.to_owned() };
        let path = self.files.get(&name).cloned().ok_or_else(unknown)?;
        for needed in needed_by(&path)? {
            self.visit(&needed)?;
        }
        self.order.push(path);
        Ok(())
    }
}

/// A name with `-` is the same as one with `_`.
fn normal(name: &str) -> String {
    name.replace('-', "_")
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> NoModule {
    move |because| NoModule::Unreadable { path: path.to_owned(), because }
}

/// Every module's file by its name.
fn files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, NoModule> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.join("kernel")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(unreadable(&folder))? {
            let path = entry.map_err(unreadable(&folder))?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ko") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                found.insert(normal(&name), path);
            }
        }
    }
    Ok(found)
}

fn built_in(folder: &Path) -> Result<BTreeSet<String>, NoModule> {
    let path = folder.join("modules.builtin");
    let text = fs::read_to_string(&path).map_err(unreadable(&path))?;
    let names = text.lines().filter_map(|line| line.rsplit('/').next()?.strip_suffix(".ko"));
    Ok(names.map(normal).collect())
}

/// The names in `depends=a,b` of a module.
fn needed_by(path: &Path) -> Result<Vec<String>, NoModule> {
    let malformed = |because| NoModule::Malformed { path: path.to_owned(), because };
    let bytes = fs::read(path).map_err(unreadable(path))?;
    let file = object::File::parse(&*bytes).map_err(malformed)?;
    let Some(section) = file.section_by_name(".modinfo") else { return Ok(Vec::new()) };
    let entries = section.data().map_err(malformed)?;
    let depends = entries
        .split(|byte| *byte == 0)
        .find_map(|entry| std::str::from_utf8(entry).ok()?.strip_prefix("depends="));
    let names = depends.unwrap_or_default().split(',').filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A folder of modules that say what they need, made with the assembler.
    fn folder(modules: &[(&str, &str)], built_in: &str) -> tempfile::TempDir {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let kernel = scratch.path().join("kernel/drivers");
        fs::create_dir_all(&kernel).expect("a folder");
        fs::write(scratch.path().join("modules.builtin"), built_in).expect("a file");
        for (name, needs) in modules {
            let source = kernel.join("source.s");
            let text =
                format!(".section .modinfo\n.asciz \"license=GPL\"\n.asciz \"depends={needs}\"\n");
            fs::write(&source, text).expect("a file");
            let target = kernel.join(format!("{name}.ko"));
            let status = Command::new("as").arg("-o").arg(target).arg(source).status();
            assert!(status.expect("gcc brings an assembler").success());
        }
        scratch
    }

    fn names(order: &[PathBuf]) -> Vec<String> {
        order
            .iter()
            .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into())
            .collect()
    }

    #[test]
    fn a_module_comes_behind_those_that_it_needs() {
        let modules =
            [("kvm-amd", "kvm,ccp"), ("kvm", "irqbypass"), ("ccp", ""), ("irqbypass", "")];
        let scratch = folder(&modules, "kernel/fs/proc.ko\n");
        let order = in_order(scratch.path(), &["kvm_amd", "kvm", "proc"]).expect("an order");
        assert_eq!(names(&order), ["irqbypass", "kvm", "ccp", "kvm-amd"]);
    }

    #[test]
    fn a_module_that_is_not_there_is_named() {
        let scratch = folder(&[("one", "two")], "");
        let error = in_order(scratch.path(), &["one"]).expect_err("there is no `two`").to_string();
        assert!(error.contains("has no module `two`"), "{error}");
    }

    #[test]
    fn modules_that_need_each_other_are_no_endless_search() {
        let scratch = folder(&[("one", "two"), ("two", "one")], "");
        assert_eq!(in_order(scratch.path(), &["one"]).expect("an order").len(), 2);
    }
}
