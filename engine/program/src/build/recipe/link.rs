//! Links the objects: to a module for a process, or to two images for a guest.

use std::fs;
use std::thread;

use quietcore_oil::Configuration;
use quietcore_program_image::Slot;

use super::{Recipe, paths, refused};
use crate::build::compiler::Compiler;
use crate::build::guest::{self, GuestError, Musl};
use crate::build::image::{LinkedFile, MODULE_SYMBOL};
use crate::build::objects::{Object, Selection};
use crate::build::{BuildError, Options, Target};
use crate::osek;
use crate::symbols::DataImage;

/// Tells the linker what a module exports.
const EXPORTS_FILE: &str = "exports.map";

/// Keeps constructors of C++ from the dynamic loader, where nothing guards against a crash: the
/// glue calls them when the program is initialised.
const CONSTRUCTORS_FILE: &str = "constructors.ld";
const CONSTRUCTORS: &str = "\
SECTIONS
{
  .quietcore_constructors : {
    PROVIDE_HIDDEN(quietcore_constructors = .);
    KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*) .init_array))
    PROVIDE_HIDDEN(quietcore_constructors_end = .);
  }
}
INSERT AFTER .data.rel.ro;
";

/// Compiler flags of source files for a module, beside those that hold for guests too.
const COMPILE_MODULE: [&str; 1] = ["-fPIC"];

/// Linker flags of a module. None is about its stack: an object that wants it executable is
/// noticed.
const LINK_MODULE: [&str; 10] = [
    "-shared",
    "-nostartfiles",
    "-fPIC",
    "-fdiagnostics-color=never",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,separate-code",
    "-Wl,-z,max-page-size=4096",
    "-Wl,-z,common-page-size=4096",
    "-Wl,--build-id=sha1",
];

/// The tools that make the one or the other of objects.
#[derive(Debug)]
pub(super) enum Kit {
    Module,
    Guest(Musl),
}

/// The linked and checked program.
#[derive(Debug)]
pub(super) struct Linked {
    /// The module, or the image for slot A.
    pub(super) first: Vec<u8>,
    /// For a guest the image for slot B.
    pub(super) second: Option<Vec<u8>>,
    pub(super) data: DataImage,
}

impl Kit {
    /// Finds what the target needs.
    pub(super) fn find(options: &Options, compiler: &Compiler) -> Result<Self, BuildError> {
        match options.target {
            Target::Module => Ok(Self::Module),
            Target::Guest => guest::find(compiler).map(Self::Guest),
        }
    }

    /// Inputs of a build beside the sources.
    pub(super) fn parts(&self) -> Vec<&[u8]> {
        match self {
            Self::Module => {
                let parts = COMPILE_MODULE.iter().chain(&LINK_MODULE).chain([&CONSTRUCTORS]);
                parts.map(|it| it.as_bytes()).collect()
            }
            Self::Guest(musl) => guest::parts(musl),
        }
    }

    /// Asks the compiler for what is needed once something is to be compiled.
    pub(super) fn prepare(&mut self, compiler: &Compiler) -> Result<(), BuildError> {
        match self {
            Self::Module => Ok(()),
            Self::Guest(musl) => musl.prepare(compiler),
        }
    }

    /// The compiler's arguments for a source file.
    pub(super) fn compile_arguments(&self) -> Vec<String> {
        match self {
            Self::Module => COMPILE_MODULE.map(str::to_owned).to_vec(),
            Self::Guest(musl) => guest::compile_arguments(musl),
        }
    }

    /// The function that is called before all others, where there is one.
    pub(super) fn first(&self) -> Option<&'static str> {
        matches!(self, Self::Guest(_)).then_some(guest::BEGIN)
    }

    /// The OSEK kernel as a library.
    pub(super) fn kernel(&self) -> Result<&'static [u8], BuildError> {
        match self {
            Self::Module => Ok(osek::LIBRARY),
            Self::Guest(_) if osek::LIBRARY_FOR_GUEST.is_empty() => {
                Err(GuestError::NoKernel.into())
            }
            Self::Guest(_) => Ok(osek::LIBRARY_FOR_GUEST),
        }
    }

    /// Returns C that an OSEK program has to bring along beside tables and glue.
    pub(super) fn memory_of_kernel(&self, configuration: &Configuration) -> String {
        match self {
            Self::Module => String::new(),
            Self::Guest(_) => guest::stacks(configuration),
        }
    }
}

impl Recipe<'_> {
    /// Links objects for their debug information; what they need may be missing.
    pub(super) fn link_open(&self, files: &[String]) -> Result<Vec<u8>, BuildError> {
        match self.kit {
            Kit::Module => self.link("first.so", self.module_arguments()?, files),
            Kit::Guest(_) => {
                let mut arguments = guest::link_arguments(Slot::A, self.scratch)?;
                arguments.push("-Wl,--unresolved-symbols=ignore-all".to_owned());
                // Without the glue there is no face yet.
                arguments.push("-Wl,--entry=0".to_owned());
                self.link("first.elf", arguments, files)
            }
        }
    }

    /// Links all of the program, `more` and a library with it, and checks what comes of it.
    pub(super) fn link_whole(
        &self,
        objects: &[Object],
        selection: &Selection,
        more: &[&Object],
        library: Option<&[u8]>,
    ) -> Result<Linked, BuildError> {
        let mut files = paths(objects, selection);
        files.extend(more.iter().map(|object| object.path.to_string_lossy().into_owned()));
        if let Some(library) = library {
            let file = self.scratch.join(osek::LIBRARY_FILE);
            fs::write(&file, library).map_err(|error| BuildError::io(&file, error))?;
            files.push(file.to_string_lossy().into_owned());
        }
        match self.kit {
            Kit::Module => {
                let mut arguments = self.module_arguments()?;
                arguments.push("-Wl,-z,defs".to_owned());
                if more.iter().any(|object| object.is_cpp()) {
                    let script = self.scratch.join(CONSTRUCTORS_FILE);
                    fs::write(&script, CONSTRUCTORS)
                        .map_err(|error| BuildError::io(&script, error))?;
                    arguments.push(format!("-Wl,-T,{}", script.display()));
                }
                files.push("-lm".to_owned());
                let first = self.link("module.so", arguments, &files)?;
                let data = LinkedFile::parse(&first)?.check()?;
                Ok(Linked { first, second: None, data })
            }
            Kit::Guest(musl) => {
                let support = self.compile_text("quietcore_support.c", guest::SUPPORT, &["-g0"])?;
                let chosen = selection.chosen.iter().map(|index| &objects[*index]);
                let all = chosen.chain(more.iter().copied()).chain([&support]);
                guest::check_objects(musl, all)?;
                files.push(support.path.to_string_lossy().into_owned());
                files.push(musl.library().to_string_lossy().into_owned());
                files.push("-lgcc".to_owned());
                let images = guest::check(self.link_slots(&files)?)?;
                let guest::Images { first, second, data } = images;
                Ok(Linked { first, second: Some(second), data })
            }
        }
    }

    /// Links the same objects for both slots, at the same time.
    fn link_slots(&self, files: &[String]) -> Result<[Vec<u8>; 2], BuildError> {
        let link = |slot: Slot| {
            let arguments = guest::link_arguments(slot, self.scratch)?;
            self.link(&format!("slot-{slot}.elf"), arguments, files)
        };
        let (first, second) = thread::scope(|scope| {
            let second = scope.spawn(|| link(Slot::B));
            let first = link(Slot::A);
            (first, second.join())
        });
        let second = second.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok([first?, second?])
    }

    /// The linker's arguments for a module, before the objects.
    fn module_arguments(&self) -> Result<Vec<String>, BuildError> {
        let exports = self.scratch.join(EXPORTS_FILE);
        let text = format!("{{ global: {MODULE_SYMBOL}; local: *; }};\n");
        fs::write(&exports, text).map_err(|error| BuildError::io(&exports, error))?;
        let mut arguments: Vec<String> = LINK_MODULE.map(str::to_owned).to_vec();
        arguments.push(format!("-Wl,--version-script={}", exports.display()));
        Ok(arguments)
    }

    /// Links files; what comes of it is read back as it is.
    fn link(
        &self,
        name: &str,
        mut arguments: Vec<String>,
        files: &[String],
    ) -> Result<Vec<u8>, BuildError> {
        let output = self.scratch.join(name);
        arguments.extend(files.iter().cloned());
        self.compiler.tell(&format!("linking {name}"));
        let outcome = self.compiler.run(self.scratch, &arguments, Some(&output))?;
        if !outcome.success {
            return Err(refused([&outcome]));
        }
        fs::read(&output).map_err(|error| BuildError::io(&output, error))
    }
}
