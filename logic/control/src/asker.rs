//! The asker: what the kernel says of a client's process, and what the client says of itself.
//!
//! The two are two types. A client sends its [`Introduction`], which has no room for a user. The
//! supervisor puts what the kernel knows of the other end of the socket beside it, and only that
//! makes an [`Asker`]. So nobody acts under another user's name, and what a client says about its
//! terminal and program is good for reading only.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest text of an introduction that is kept, in characters.
pub const INTRODUCED_CHARS_MAX: usize = 64;

/// A client in its own words. What it does not know is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Introduction {
    /// The program that asks, such as `quietcore set`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// The user who has logged in, where that is another one than the process's, as behind `sudo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// The terminal, such as `pts/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// The host that the terminal's session came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Introduction {
    /// Returns the same, with each text cut to [`INTRODUCED_CHARS_MAX`] and free of what a terminal
    /// would obey.
    #[must_use]
    pub fn harmless(self) -> Self {
        let Self { program, login, terminal, host } = self;
        let harmless = |text: String| -> String {
            let visible = |it: char| if is_obeyed(it) { '\u{fffd}' } else { it };
            text.chars().take(INTRODUCED_CHARS_MAX).map(visible).collect()
        };
        Self {
            program: harmless(program),
            login: login.map(harmless),
            terminal: terminal.map(harmless),
            host: host.map(harmless),
        }
    }
}

/// Returns `true` for what a terminal does not show but obeys: control characters, and marks that
/// turn the direction of writing.
fn is_obeyed(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A client as the supervisor knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// User ID of the client's process, from the kernel.
    pub uid: u32,
    /// The name of that user.
    pub user: String,
    /// The client's process, from the kernel.
    pub pid: u32,
    /// The client in its own words, made harmless.
    pub says: Introduction,
}

/// As in `anna as root in terminal pts/3 from 10.0.0.7 (quietcore set)`.
impl fmt::Display for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Introduction { program, login, terminal, host } = &self.says;
        match login {
            Some(login) if *login != self.user => write!(f, "{login} as {}", self.user)?,
            _ => f.write_str(&self.user)?,
        }
        if let Some(terminal) = terminal {
            write!(f, " in terminal {terminal}")?;
        }
        if let Some(host) = host {
            write!(f, " from {host}")?;
        }
        match program.is_empty() {
            true => write!(f, " (process {})", self.pid),
            false => write!(f, " ({program})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asker_is_told_by_user_terminal_host_and_program() {
        let says = Introduction {
            program: "quietcore set".to_owned(),
            login: Some("anna".to_owned()),
            terminal: Some("pts/3".to_owned()),
            host: Some("10.0.0.7".to_owned()),
        };
        let asker = Asker { uid: 0, user: "root".to_owned(), pid: 7, says };
        let told = "anna as root in terminal pts/3 from 10.0.0.7 (quietcore set)";
        assert_eq!(asker.to_string(), told);
        let silent = Asker { says: Introduction::default(), ..asker };
        assert_eq!(silent.to_string(), "root (process 7)");
    }

    #[test]
    fn an_introduction_is_short_and_harmless_whatever_a_client_sends() {
        let says = Introduction {
            program: "x".repeat(1000),
            terminal: Some("\u{1b}[2Jpts".to_owned()),
            host: Some("a\u{202e}b".to_owned()),
            ..Introduction::default()
        };
        let says = says.harmless();
        assert_eq!(says.program.len(), INTRODUCED_CHARS_MAX);
        assert_eq!(says.terminal.as_deref(), Some("\u{fffd}[2Jpts"));
        assert_eq!(says.host.as_deref(), Some("a\u{fffd}b"));
    }

    #[test]
    fn a_client_can_name_no_user_of_its_own() {
        let refused = serde_json::from_str::<Introduction>("{\"uid\":0}").unwrap_err();
        assert!(refused.to_string().contains("unknown field `uid`"), "{refused}");
    }
}
