//! What the terminal can show.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};

use rustix::termios::tcgetwinsize;

/// Width of text where there is no terminal to ask.
const WIDTH: usize = 100;
/// The widest text: longer lines are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 160;
/// The narrowest text: below, nothing can stand beside anything.
const WIDTH_MIN: usize = 60;

/// Whether standard output takes colour: a terminal, and nobody said `NO_COLOR`.
pub(crate) fn color() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Says something on standard error. A reader that has gone away is no reason to stop.
pub(crate) fn say(words: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{words}");
}

/// Text from elsewhere without what a terminal would obey.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// How wide text may be: as the terminal is, or as `COLUMNS` says where there is none.
pub(crate) fn width() -> usize {
    let asked = tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let said = || env::var("COLUMNS").ok()?.parse().ok();
    asked.filter(|columns| *columns > 0).or_else(said).unwrap_or(WIDTH).clamp(WIDTH_MIN, WIDTH_MAX)
}

/// A palette: escape sequences, or nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) bold: &'static str,
    pub(crate) dim: &'static str,
    pub(crate) red: &'static str,
    pub(crate) yellow: &'static str,
    pub(crate) green: &'static str,
    pub(crate) reset: &'static str,
}

impl Palette {
    /// The palette for standard output.
    pub(crate) fn of_terminal() -> Self {
        if color() {
            Self {
                bold: "\x1b[1m",
                dim: "\x1b[2m",
                red: "\x1b[31m",
                yellow: "\x1b[33m",
                green: "\x1b[32m",
                reset: "\x1b[0m",
            }
        } else {
            Self { bold: "", dim: "", red: "", yellow: "", green: "", reset: "" }
        }
    }
}
