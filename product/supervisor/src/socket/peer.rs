//! The two ends of the control socket: this process in its own words, and the other side as the
//! kernel knows it.

use std::os::unix::net::UnixStream;

use quietcore_host::Source;
use quietcore_host::running_partitions::user_name;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{geteuid, getpid};

use crate::control::{Asker, Introduction};
use crate::places::StartedBy;

/// Environment variable that the login service sets in a session over the network: address and port
/// of the other side, then of this one.
const SESSION_FROM: &str = "SSH_CONNECTION";

/// Describes this process to the supervisor that it asks.
pub(crate) fn introduction() -> Introduction {
    let started = StartedBy::this_process();
    let mut words = std::env::args();
    let path = words.next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    // Words after the verb may be a secret of the program that is tuned.
    let verb = words.next().filter(|word| word.chars().all(|it| it.is_ascii_lowercase()));
    let program = verb.map_or_else(|| name.to_owned(), |verb| format!("{name} {verb}"));
    let host = std::env::var(SESSION_FROM).ok();
    let host = host.and_then(|from| from.split(' ').next().map(str::to_owned));
    let says = Introduction { program, login: started.login, terminal: started.terminal, host };
    says.harmless()
}

/// Returns the client at the other end of a connection, by user and process; `None` if the kernel
/// does not say, or that user is not allowed. Only an allowed user's name is looked up.
pub(crate) fn other_side(
    stream: &UnixStream,
    is_allowed: impl FnOnce(u32) -> bool,
) -> Option<Asker> {
    let peer = socket_peercred(stream).ok()?;
    let uid = peer.uid.as_raw();
    is_allowed(uid).then(|| Asker {
        uid,
        user: user_name(&Source::live(), uid),
        pid: peer.pid.as_raw_nonzero().get().cast_unsigned(),
        says: Introduction::default(),
    })
}

/// Returns this process as one that asks.
pub(crate) fn own() -> Asker {
    let uid = geteuid().as_raw();
    let pid = getpid().as_raw_nonzero().get().cast_unsigned();
    Asker { uid, user: user_name(&Source::live(), uid), pid, says: introduction() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_who_is_at_the_other_end() {
        let (near, _far) = UnixStream::pair().unwrap();
        let asker = other_side(&near, |_| true).unwrap();
        assert_eq!(other_side(&near, |_| false), None);
        assert_eq!((asker.uid, asker.pid), (geteuid().as_raw(), std::process::id()));
        assert_eq!(asker.user, own().user);
    }
}
