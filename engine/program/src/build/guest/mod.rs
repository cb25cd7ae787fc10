//! Programs for guests: static images for two fixed places, with a C library inside.
//!
//! ```text
//! objects ─┐                        ┌─► slot-a.elf   code at 0x7800_0000, data at 0x2000_0000
//! support ─┼─► gcc -static, twice ──┤
//! libc.a ──┘                        └─► slot-b.elf   code at 0x7A00_0000, data at 0x3000_0000
//! ```
//!
//! | module | what |
//! |---|---|
//! | `musl` | where the static C library is, and its headers |
//! | `reach` | which of its functions would ask an operating system |
//! | `slots` | the linker's script, and whether both images are laid out alike |
//!
//! The library is musl's: small, under a permissive licence, and without functions that are chosen
//! at load time. The program is compiled with musl's headers, since those of another library refer
//! to functions and numbers that musl does not have.

mod musl;
mod reach;
mod slots;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use object::{Object as _, ObjectSection as _, SectionFlags, elf};
use quietcore_oil::Configuration;
use quietcore_osek::stacks;
use quietcore_program_image::{ProgramImage, Slot};

use crate::build::BuildError;
use crate::build::compiler::Compiler;
use crate::build::image::{ImageError, LinkedFile};
use crate::build::objects::Object;
use crate::symbols::DataImage;

pub(crate) use musl::Musl;
pub use reach::Needed;

/// Source that is linked before the library: see there.
pub(crate) const SUPPORT: &str = include_str!("../../../include/guest/support.c");
/// The function of it that comes first.
pub(crate) const BEGIN: &str = "quietcore_guest_begin";

/// Compiler flags of source files for a guest, beside those that hold for modules too.
///
/// - Addresses are fixed, and below 2 GiB.
/// - Nothing is compiled in that needs a thread of an operating system, or the library that the
///   compiler was made with.
/// - The program can tell by the macro.
const COMPILE: [&str; 9] = [
    "-fno-pie",
    "-fno-plt",
    "-mcmodel=small",
    "-fno-stack-protector",
    "-fcf-protection=none",
    "-fno-asynchronous-unwind-tables",
    "-U_FORTIFY_SOURCE",
    "-DQUIETCORE_GUEST=1",
    "-nostdinc",
];

/// Linker flags of an image.
const LINK: [&str; 9] = [
    "-static",
    "-no-pie",
    "-nostdlib",
    "-nostartfiles",
    "-fdiagnostics-color=never",
    "-Wl,-z,separate-code",
    "-Wl,-z,max-page-size=4096",
    "-Wl,-z,common-page-size=4096",
    "-Wl,--build-id=none",
];

/// A program that can't be made an image for a guest.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The C library is not there.
    #[error(
        "the static C library musl is missing, which programs for guests are linked with; install \
         `musl-dev` (Debian, Ubuntu), `musl-devel` and `musl-libc-static` (Fedora) or `musl` (Arch)"
    )]
    NoLibrary,
    /// The library can't be read.
    #[error("the C library `{file}` cannot be used: {why}")]
    Library {
        /// Path of the library.
        file: String,
        /// The reason, in words.
        why: String,
    },
    /// The compiler makes code for another processor.
    #[error("guests run on x86-64 alone, and `{compiler}` compiles for another processor")]
    Processor {
        /// The compiler's description of itself.
        compiler: String,
    },
    /// The program asks an operating system.
    #[error(
        "a guest has no operating system, which the program would ask: {}; leave that out where \
         `QUIETCORE_GUEST` is defined, or run the partition as a process",
        .needed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    )]
    OperatingSystem {
        /// The functions through which it is needed.
        needed: Vec<Needed>,
    },
    /// The kernel is not there.
    #[error(
        "this Quietcore was compiled without the OSEK kernel for guests; run \
         `rustup target add x86_64-unknown-none` and compile it again"
    )]
    NoKernel,
    /// No guest could take the image.
    #[error(transparent)]
    Image(#[from] quietcore_program_image::ImageError),
    /// The two images are not laid out alike.
    #[error("the images for the two slots are laid out differently: {0}")]
    Slots(String),
}

/// The two images, and where their data are.
#[derive(Debug)]
pub(crate) struct Images {
    pub(crate) first: Vec<u8>,
    pub(crate) second: Vec<u8>,
    pub(crate) data: DataImage,
}

/// Checks what was linked for both slots.
pub(crate) fn check(images: [Vec<u8>; 2]) -> Result<Images, BuildError> {
    let mut data = None;
    for (slot, image) in Slot::BOTH.into_iter().zip(&images) {
        let linked = LinkedFile::parse(image)?;
        linked.check_sections()?;
        let read = ProgramImage::parse(image).map_err(GuestError::from)?;
        if read.slot() != slot {
            return Err(GuestError::Slots(format!("one is for slot {}", read.slot())).into());
        }
        let bytes = read.data().len() as u64;
        data.get_or_insert(DataImage { address: slot.data().start, bytes });
    }
    slots::compare(&images)?;
    let data = data.expect("there are two slots");
    let [first, second] = images;
    Ok(Images { first, second, data })
}

/// Checks objects before they are linked: none may ask for an executable stack, which the linked
/// file would not tell, nor ask an operating system through the library.
pub(crate) fn check_objects<'o>(
    musl: &Musl,
    objects: impl Iterator<Item = &'o Object>,
) -> Result<(), BuildError> {
    let mut defined = BTreeSet::new();
    let mut needed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for object in objects {
        check_stack(&object.path)?;
        defined.extend(object.defined.iter().map(String::as_str));
        for name in &object.needed {
            needed.entry(name).or_default().insert(&object.name);
        }
    }
    let asking = reach::asking(musl, &needed, &defined)?;
    if asking.is_empty() {
        return Ok(());
    }
    Err(GuestError::OperatingSystem { needed: asking }.into())
}

fn check_stack(path: &Path) -> Result<(), BuildError> {
    let bytes = fs::read(path).map_err(|error| BuildError::io(path, error))?;
    let unreadable = |error: object::Error| ImageError::Unreadable(error.to_string());
    let file = object::File::parse(&*bytes).map_err(unreadable)?;
    let executable = file.section_by_name(".note.GNU-stack").is_some_and(|section| {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return false };
        sh_flags.0 & elf::SHF_EXECINSTR.0 != 0
    });
    if executable {
        return Err(ImageError::stack().into());
    }
    Ok(())
}

/// The linker's script of each slot.
static SCRIPTS: LazyLock<[String; 2]> = LazyLock::new(|| Slot::BOTH.map(slots::script));

/// Inputs of an image beside the sources: they are part of the hash.
pub(crate) fn parts(musl: &Musl) -> Vec<&[u8]> {
    let scripts = SCRIPTS.iter().map(String::as_str);
    let words = COMPILE.into_iter().chain(LINK).chain([SUPPORT]).chain(scripts);
    let mut parts: Vec<&[u8]> = vec![b"guest"];
    parts.extend(words.map(str::as_bytes));
    parts.push(musl.bytes());
    parts
}

/// The compiler's arguments for a source file.
pub(crate) fn compile_arguments(musl: &Musl) -> Vec<String> {
    let mut arguments: Vec<String> = COMPILE.map(str::to_owned).to_vec();
    for folder in musl.headers() {
        arguments.extend(["-isystem".to_owned(), folder.display().to_string()]);
    }
    arguments
}

/// The linker's arguments for a slot, before the objects; `folder` is where its script is put.
pub(crate) fn link_arguments(slot: Slot, folder: &Path) -> Result<Vec<String>, BuildError> {
    let script = folder.join(format!("slot-{slot}.ld"));
    fs::write(&script, &SCRIPTS[slot.index()]).map_err(|error| BuildError::io(&script, error))?;
    let mut arguments: Vec<String> = LINK.map(str::to_owned).to_vec();
    arguments.push(format!("-Wl,-T,{}", script.display()));
    Ok(arguments)
}

/// The memory of the stacks of an OSEK program, in C: in a process the kernel maps it, and a guest
/// has no other than what is part of the image.
pub(crate) fn stacks(configuration: &Configuration) -> String {
    let levels = stacks::levels(configuration.isrs().iter().map(|isr| isr.level));
    let tasks = configuration.tasks().iter().map(|task| task.stack_bytes as usize);
    let bytes = stacks::bytes_in_guest(tasks, levels);
    format!(
        "\n/* Stacks; whole pages, of which some keep them apart. */\n\
         __attribute__((aligned(4096)))\n\
         unsigned char quietcore_osek_memory[{bytes}u];\n\
         const size_t quietcore_osek_memory_bytes = sizeof quietcore_osek_memory;\n"
    )
}

/// Finds the library, for a compiler that can make code for guests.
pub(crate) fn find(compiler: &Compiler) -> Result<Musl, BuildError> {
    if !compiler.machine.starts_with("x86_64") {
        return Err(GuestError::Processor { compiler: compiler.identity.clone() }.into());
    }
    Musl::find()
}
