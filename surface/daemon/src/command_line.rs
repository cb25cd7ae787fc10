//! The product's own command line, as the daemon starts it.

use std::path::Path;
use std::process::Command;

use quietcore_supervisor::places::{PlaceError, Places, RUN_VARIABLE, STATE_VARIABLE};

/// Variables of the environment that are the daemon's alone.
const OF_THE_DAEMON: [&str; 4] = ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID"];
/// The machine that is meant, and its value for this one.
const HERE: (&str, &str) = ("QUIETCORE_AT", "here");

/// Begins a command of a program of the product: about the folders of the daemon, and about this
/// machine, whatever context the user of the daemon has chosen.
///
/// # Errors
/// [`PlaceError`] when the folder of state can't be used.
pub(crate) fn command(program: &Path, places: &Places) -> Result<Command, PlaceError> {
    let own = places.daemon_state()?;
    let mut command = Command::new(program);
    command.env(RUN_VARIABLE, places.run_folder());
    command.env(STATE_VARIABLE, own.parent().unwrap_or(&own)).env(HERE.0, HERE.1);
    for name in OF_THE_DAEMON {
        command.env_remove(name);
    }
    Ok(command)
}
