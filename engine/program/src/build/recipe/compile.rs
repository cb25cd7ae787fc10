//! The compiler's part of a build: its arguments, several of it at once, and what it reads.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;

use super::{Recipe, refused};
use crate::build::compiler::reads::{self, ReadFile};
use crate::build::compiler::{Outcome, WORKING_FOLDER};
use crate::build::objects::Object;
use crate::build::sources::{self, SourceFile};
use crate::build::telling::lacks;
use crate::build::{BuildError, headers};

/// Most compilers at once …
const WORKERS_MAX: usize = 8;
/// … and in sandboxes, each of which may use as much memory as its limits allow.
const CONFINED_WORKERS_MAX: usize = 2;

/// Compiler flags of each source file.
///
/// - Names stay inside of the module, all but one; so nothing of another library is taken for the
///   program's.
/// - Static variables that are never written are variables all the same: they are what one tunes.
/// - Products are not fused with sums, which would give other digits than the simulation did.
const COMPILE: [&str; 12] = [
    "-c",
    "-O2",
    "-g",
    "-gdwarf-5",
    "-gz=none",
    "-fvisibility=hidden",
    "-fno-ipa-reference-addressable",
    "-ffp-contract=off",
    "-fno-common",
    "-fdiagnostics-color=never",
    "-Wall",
    "-Wextra",
];

/// The language of C sources.
const COMPILE_C: [&str; 1] = ["-std=gnu11"];

/// Compiler flags of C++. Generated classes need no exceptions and no types at run time, which
/// would bring in a library with thread-local variables and constructors of its own.
const COMPILE_CPP: [&str; 4] =
    ["-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"];

/// Compiler flags of a class's glue beside those: it looks into members that are private.
pub(super) const GLUE_CPP: [&str; 1] = ["-fno-access-control"];

/// Names that the generator's own makefile defines, beside S-functions that are called: their
/// header asks whether it is in a simulation or in generated code.
const FOR_S_FUNCTIONS: [&str; 2] = ["-DRT", "-DUSE_RTMODEL"];

/// Makes `Com.h` refuse its functions that wait.
const NEVER_WAITS: &str = "-DQUIETCORE_NEVER_WAITS";

/// All arguments that do not depend on the program; they are part of the key.
pub(super) fn arguments() -> impl Iterator<Item = &'static str> {
    let of_languages = COMPILE.into_iter().chain(COMPILE_C).chain(COMPILE_CPP);
    of_languages.chain(GLUE_CPP).chain(FOR_S_FUNCTIONS)
}

impl Recipe<'_> {
    /// Writes the sources as they were read into a folder of the build's own.
    pub(super) fn copy_sources(&self) -> Result<(), BuildError> {
        for file in self.sources.compiled.iter().chain(&self.sources.included) {
            let path = self.folder.join(&file.name);
            let folder = path.parent().unwrap_or(self.folder);
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, &file.content))
                .map_err(|error| BuildError::io(&path, error))?;
        }
        Ok(())
    }

    /// Compiles all files, several at once.
    pub(super) fn compile_all(&self) -> Result<Vec<Object>, BuildError> {
        let files = &self.sources.compiled;
        let next = AtomicUsize::new(0);
        let finished: Mutex<Vec<Option<Result<Object, BuildError>>>> =
            Mutex::new(files.iter().map(|_| None).collect());
        let most = if self.compiler.is_confined() { CONFINED_WORKERS_MAX } else { WORKERS_MAX };
        let workers = thread::available_parallelism().map_or(1, usize::from).min(most);
        thread::scope(|scope| {
            for _ in 0..workers.min(files.len()) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(file) = files.get(index) else {
                            break;
                        };
                        let object = self.compile(file, index);
                        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
                        finished[index] = Some(object);
                    }
                });
            }
        });
        let finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        finished.into_iter().flatten().collect()
    }

    fn compile(&self, file: &SourceFile, index: usize) -> Result<Object, BuildError> {
        let object = self.scratch.join(format!("{index}.o"));
        let mut arguments = self.compile_arguments(sources::is_cpp(&file.name));
        // A name that starts with `-` or `@` would be taken for something else.
        arguments.push(format!("./{}", file.name));
        self.compiler.tell(&format!("compiling {}", file.name));
        let outcome = self.run_compiler(arguments, &object)?;
        Object::new(file.name.clone(), object.clone(), outcome)
            .map_err(|error| BuildError::io(&object, error))
    }

    /// Compiles a file that the build has written, of this name, with these arguments besides.
    pub(super) fn compile_text(
        &self,
        name: &str,
        text: &str,
        more: &[&str],
    ) -> Result<Object, BuildError> {
        let file = self.scratch.join(name);
        fs::write(&file, text).map_err(|error| BuildError::io(&file, error))?;
        let object = self.scratch.join(format!("{name}.o"));
        let is_cpp = sources::is_cpp(name);
        let mut arguments = self.compile_arguments(is_cpp);
        if !is_cpp {
            arguments.push("-Werror=implicit-function-declaration".to_owned());
        }
        arguments.extend(more.iter().map(|it| (*it).to_owned()));
        arguments.push(file.to_string_lossy().into_owned());
        let outcome = self.run_compiler(arguments, &object)?;
        if !outcome.success {
            return Err(refused([&outcome]));
        }
        Object::new(name.to_owned(), object.clone(), outcome)
            .map_err(|error| BuildError::io(&object, error))
    }

    /// Compiles with these arguments, and notes what was read for it.
    fn run_compiler(
        &self,
        mut arguments: Vec<String>,
        object: &Path,
    ) -> Result<Outcome, BuildError> {
        arguments.extend(reads::LIST.map(str::to_owned));
        let mut outcome = self.compiler.run(self.folder, &arguments, Some(object))?;
        match reads::listed(&outcome.printed) {
            Some(files) => {
                let (whole, own): (Vec<_>, Vec<_>) =
                    files.into_iter().partition(|file| file.starts_with('/'));
                if let Some(file) = own.iter().find(|file| reads::leaves_build(file)) {
                    outcome.success = false;
                    outcome.text = format!("{}: error: `{file}` {}", own[0], lacks::OUTSIDE);
                }
                // The first is the file itself.
                let own = own.iter().skip(1).map(|file| file.trim_start_matches("./").to_owned());
                let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
                read.extend(own.chain(whole));
            }
            // Of a file that does not compile it may have read a part.
            None if !outcome.success => {}
            None => return Err(self.compiler.unlisted().into()),
        }
        Ok(outcome)
    }

    /// The files outside of the folder that were read, none of which has changed since `begin`.
    pub(super) fn read_outside(&self, begin: SystemTime) -> Result<Vec<ReadFile>, BuildError> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = format!("{}/", self.scratch.display());
        let beside = self.options.include.iter().filter_map(|it| fs::canonicalize(it).ok());
        let beside: Vec<_> = beside.collect();
        // Files of these folders are part of the key, by their names in them.
        let is_beside = |file: &str| {
            let mut names = beside.iter().filter_map(|it| Path::new(file).strip_prefix(it).ok());
            let is_same = |it: &SourceFile| fs::read(file).is_ok_and(|found| found == it.content);
            let is = |it: &SourceFile, name| Path::new(&it.name) == name && is_same(it);
            names.any(|name| self.sources.beside.iter().any(|it| is(it, name)))
        };
        let is_inside = |file: &str| !file.starts_with('/') || file.starts_with(&scratch);
        let outside = read.iter().filter(|file| !is_inside(file) && !is_beside(file));
        let outside = outside.filter(|file| *file != "/dev/null");
        outside.map(|file| ReadFile::read(file.clone(), begin)).collect()
    }

    fn compile_arguments(&self, is_cpp: bool) -> Vec<String> {
        let scratch = self.scratch.to_string_lossy();
        let language: &[&str] = if is_cpp { &COMPILE_CPP } else { &COMPILE_C };
        let mut arguments: Vec<String> =
            COMPILE.iter().chain(language).map(|it| (*it).to_owned()).collect();
        arguments.extend(self.kit.compile_arguments());
        arguments.push(format!("-ffile-prefix-map={scratch}=quietcore"));
        arguments.push(format!("-fdebug-prefix-map={WORKING_FOLDER}=."));
        if self.short_long {
            arguments.extend(["-include".to_owned(), headers::short_long(self.scratch)]);
        }
        if self.sources.holds_header("simstruc.h") {
            arguments.extend(FOR_S_FUNCTIONS.map(str::to_owned));
        }
        arguments.push("-I.".to_owned());
        let folders = self.sources.header_folders.iter();
        arguments.extend(folders.map(|folder| format!("-I./{folder}")));
        let include = self.options.include.iter();
        arguments.extend(include.map(|folder| {
            let whole = fs::canonicalize(folder);
            format!("-I{}", whole.as_deref().unwrap_or(folder).display())
        }));
        arguments.extend(headers::search(self.scratch));
        if self.never_waits {
            arguments.push(NEVER_WAITS.to_owned());
        }
        arguments.extend(self.options.defines.iter().map(|define| format!("-D{define}")));
        arguments
    }
}
