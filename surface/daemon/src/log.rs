//! The log of the daemon: lines on standard error.

use std::fmt::Arguments;
use std::io::{self, Write as _};

/// Writes a line of the log. A call is answered all the same when nobody takes the line any more,
/// as when what has read standard error has ended: `eprintln!` would end the call by a panic.
pub fn say(line: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "quietcored: {line}");
}
