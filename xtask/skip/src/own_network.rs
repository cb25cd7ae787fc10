//! A network of its own for a test that sends frames.
//!
//! The test runs once more, as a process in a new network namespace with a pair of virtual
//! interfaces, `left` and `right`. It disturbs nobody there, needs no root, and many run at the
//! same time. Root keeps its rights beyond the network where it has them.

use std::env;
use std::process::Command;

/// Set in the process that has a network of its own.
const INSIDE: &str = "QUIETCORE_TEST_IN_OWN_NETWORK";
/// Seconds after which a test in a network of its own is ended: one that takes as long hangs.
const LIMIT_SECONDS: &str = "300";
/// The status of `timeout` if it has ended the command.
const ENDED_AT_LIMIT: i32 = 124;
/// Commands that are run in the new network first.
const INTERFACES: &str = "ip link add left type veth peer name right && ip link set left up && \
                          ip link set right up";

/// The side of the border of a network namespace that a test is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkSide {
    /// In a network of its own: go on.
    Inside,
    /// Outside, and what was to be done inside is done.
    Done,
}

/// Runs the test of which `here` is the path of a nested function in a network of its own, unless
/// it runs there already.
///
/// # Errors
/// Why there can be none here.
///
/// # Panics
/// When the test failed inside, or did not end there.
pub fn enter(here: &str) -> Result<NetworkSide, String> {
    if env::var_os(INSIDE).is_some() {
        return Ok(NetworkSide::Inside);
    }
    let ways: [&[&str]; 2] = [&["--net"], &["--map-root-user", "--net"]];
    let mut refused = String::new();
    let way = ways.into_iter().find(|way| match unshare(way, INTERFACES).output() {
        Ok(tried) => {
            String::from_utf8_lossy(&tried.stderr).trim().clone_into(&mut refused);
            tried.status.success()
        }
        Err(error) => {
            refused = format!("`timeout unshare`: {error}");
            false
        }
    });
    let Some(way) = way else { return Err(refused) };
    let test = name_of(here);
    let run = unshare(way, &format!("{INTERFACES} && exec \"$0\" --exact {test} --nocapture"))
        .arg(env::current_exe().expect("a running program has a path"))
        .env(INSIDE, "1")
        .output()
        .expect("`unshare` ran a moment ago");
    let ended = match run.status.code() {
        Some(ENDED_AT_LIMIT) => format!("{test} had not ended after {LIMIT_SECONDS} s"),
        _ => format!("{test}: {}", run.status),
    };
    let said = String::from_utf8_lossy(&run.stdout);
    let complained = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && said.contains("1 passed"), "{ended}\n{said}\n{complained}");
    Ok(NetworkSide::Done)
}

fn unshare(namespaces: &[&str], script: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", LIMIT_SECONDS, "unshare"]);
    command.args(namespaces).args(["sh", "-c", script]);
    command
}

/// A test's name as its runner knows it: without the program before it, and the function behind.
fn name_of(here: &str) -> &str {
    let (_, inner) = here.split_once("::").unwrap_or(("", here));
    inner.rsplit_once("::").map_or(inner, |(test, _)| test)
}

/// Lets the surrounding test run in a network of its own, with the interfaces `left` and `right`;
/// where that can't be had, the test is skipped. Stands first in the test.
#[macro_export]
macro_rules! own_network {
    () => {
        fn here_in_network() {}
        match $crate::own_network::enter(::std::any::type_name_of_val(&here_in_network)) {
            Ok($crate::own_network::NetworkSide::Inside) => {}
            Ok($crate::own_network::NetworkSide::Done) => return,
            Err(reason) => {
                $crate::skip!("needs a network of its own; run as root: {reason}");
                return;
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_known_by_its_path_in_the_program() {
        assert_eq!(name_of("packet::tests::a_frame_passes::here"), "tests::a_frame_passes");
        assert_eq!(name_of("packet::a_frame_passes::here"), "a_frame_passes");
    }

    #[test]
    fn inside_there_are_two_interfaces_and_the_loopback() {
        crate::own_network!();
        let shown = Command::new("ip").args(["-brief", "link"]).output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout);
        assert_eq!(shown.lines().count(), 3, "{shown}");
        assert!(shown.contains("left@right") && shown.contains("right@left"), "{shown}");
    }
}
