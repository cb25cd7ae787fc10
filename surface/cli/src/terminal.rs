//! What the terminal can show.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};

/// Width of text where there is no terminal to ask.
const WIDTH: usize = 100;

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

/// How wide text may be. Tables fit 100 columns; a narrower terminal wraps by itself.
pub(crate) const fn width() -> usize {
    WIDTH
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
