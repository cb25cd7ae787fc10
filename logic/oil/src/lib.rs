//! OIL, the language in which an OSEK application is described (OSEK OIL 2.5, ISO 17356-6).
//!
//! ```text
//! text ──► tokens ──► tree ──► application ──► Configuration ──► os_cfg.h, os_cfg.c
//!   #include     grammar   schema        meaning           ├──► Rust source
//!                                                          └──► Tables (in memory)
//! ```
//!
//! - [`read`] takes a text and returns a [`Configuration`] with which the kernel can work, or every
//!   [`Problem`] in it with file, line, column and token.
//! - [`header`] and [`source`] are the C files of a configuration, [`rust()`] a Rust file,
//!   [`Tables`] the kernel's tables in memory, and [`oil`] the text again, with nothing left out.
//! - [`reference()`] describes the language; `docs/oil.md` is its output.
//!
//! ```
//! let text = r#"OIL_VERSION = "2.5";
//!               CPU small { OS kernel; TASK blink { PRIORTY = 1; }; };"#;
//! use quietcore_oil::NotIncluded;
//!
//! let mut none = |_: &str| Err(NotIncluded::Missing("no file".to_owned()));
//! let problems = quietcore_oil::read("small.oil", text, Default::default(), &mut none);
//! let shown = problems.expect_err("`PRIORITY` is misspelled").to_string();
//! assert_eq!(
//!     shown,
//!     "small.oil:2:51: `PRIORTY`: no attribute of TASK `blink`; did you mean `PRIORITY`?"
//! );
//! ```
//!
//! The crate is pure: no I/O, no clock, no thread; included files come from a callback. Bounds: 1
//! MiB of text with all included files, [`PROBLEMS_MAX`] problems listed, blocks 8 deep, names of
//! 100 characters, and as many objects as the kernel has places for.

#![forbid(unsafe_code)]

mod application;
mod check;
mod configuration;
mod foreign;
mod generate;
mod problem;
mod read;
mod reference;
mod schema;
mod tables;
mod text;
mod unused;

pub use configuration::{
    Action, Alarm, AlarmStart, Configuration, Counter, Definition, Event, ExpiryPoint, Hooks,
    InternalResource, Isr, Message, Mode, Notification, Resource, ScheduleTable, Task,
};
pub use generate::{header, oil, rust, source};
pub use problem::{PROBLEMS_MAX, Problem, Problems, Remark};
pub use read::{Reading, decode, read};
pub use reference::reference;
pub use tables::{Function, Tables};
pub use text::including::NotIncluded;
