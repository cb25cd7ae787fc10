//! The way in which a test says that it could not run here.
//!
//! Rust's test runner knows passed and failed only, so a test that returns early counts as passed.
//! A skip is never a pass: the test names its reason with [`skip!`] and returns. The reason is
//! printed, and where [`SKIP_FILE_VARIABLE`] names a file one line is added to it:
//!
//! ```text
//! quietcore_load::tests::a_worker_is_pinned: needs two CPUs; this machine has one
//! ```
//!
//! `./test` sets the variable, takes the tests named there off the passed ones, and closes with the
//! list. A file is used because the runner swallows what a passing test prints, and because a test
//! may run in another process than the one that prints.
//!
//! [`own_network!`] runs a test in a network of its own, or skips it where there is none to be had;
//! [`need_locked_memory!`] skips one where a process may not lock as much memory as it takes;
//! [`strace()`] traces a program, or returns the reason for a skip.
//!
//! The crate stands outside the floors so that tests of every floor can use it; nothing but tests
//! may depend on it.

mod locked;
pub mod own_network;
mod record;
mod strace;

pub use locked::obstacle_to_locking;
pub use record::{SKIP_FILE_VARIABLE, record};
pub use strace::strace;

/// Records that the running test could not run, with the reason. The test returns after it. A
/// function that a test calls may skip it, too.
///
/// The reason says what is missing, and after a semicolon how to get it. It is a format string with
/// its arguments.
///
/// ```no_run
/// if !std::path::Path::new("/dev/kvm").exists() {
///     quietcore_skip::skip!("there is no /dev/kvm; run on a machine with KVM");
///     return;
/// }
/// ```
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        // The type name of a nested function has the surrounding function's path. The name of the
        // test's thread would be lost with `--test-threads=1`.
        fn here() {}
        $crate::record(::std::any::type_name_of_val(&here), &::std::format!($($reason)+));
    }};
}
