//! Control programs: a folder of generated C made a loadable module, with its variables by name.
//!
//! ```text
//! folder of C ─► sources ─► gcc ─► interface ─► glue ─► gcc, link ─► checks ─► Build
//!                                 (from the debug information)         │         ├─ module.so, or
//!                                                                   symbols      │  two images
//!                                                                                ├─ symbols.json
//!                                                                                └─ build.json
//! ```
//!
//! | module | what |
//! |--------|------|
//! | [`mod@build`] | the way from the folder to the module, or to the images for a guest |
//! | [`interface`] | the functions that a program is run by, and the C that makes them all look alike |
//! | [`osek`] | what makes an OSEK program: the kernel as a library, its headers, the tables |
//! | [`symbols`] | every variable with a static address: its path, type and place |
//! | [`place`], [`value`] | a variable's bytes, and what they mean |
//! | [`carry`], [`retain`] | values that survive a change of the program, or a restart |
//! | [`mod@symbolise`] | the line of source that an address of the code belongs to |
//!
//! Nothing of the folder is run here: it is read, compiled and linked. What the compiler wrote is
//! input like any other: debug information that lies gives an error or fewer symbols, never a
//! panic. Loading and running is the work of the process that becomes the partition.

#![forbid(unsafe_code)]

pub mod build;
pub mod carry;
mod debug;
pub mod interface;
pub mod osek;
pub mod place;
pub mod retain;
pub mod symbolise;
pub mod symbols;
pub mod value;

pub use build::{Build, BuildError, Carried, Diagnostic, Kind, Options, Target, build};
pub use carry::{CarryPlan, Copy, carry_over};
pub use interface::Interface;
pub use place::{Access, BitField, Enumeration, Memory, Scalar, VariableLocation};
pub use retain::RetainLayout;
pub use symbolise::{CodeLocation, symbolise};
pub use symbols::{DataImage, Pattern, SymbolError, Symbols};
pub use value::{Value, ValueError};
