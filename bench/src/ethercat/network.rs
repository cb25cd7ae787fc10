//! A network of its own, in which the comparison disturbs nobody.

use std::env;
use std::process::Command;

use crate::ethercat::Request;
use crate::findings::Findings;

/// A pair of interfaces for each side.
pub(super) const PAIRS: [&str; 4] = ["echo", "own", "crab", "soem"];

/// The interface at the far end of a pair.
pub(super) fn far_end(pair: &str) -> String {
    format!("{pair}-far")
}

/// Makes the interfaces, as a line of a shell.
fn interfaces() -> String {
    let pairs = PAIRS.map(|pair| {
        let far = far_end(pair);
        format!(
            "ip link add {pair} type veth peer name {far} && ip link set {pair} up && ip link set \
             {far} up"
        )
    });
    pairs.join(" && ")
}

/// Runs the comparison once more as a process in a new network. Where there can be none, it says
/// so, which is no failure of the comparison.
pub(super) fn enter(request: &Request) -> Result<(), String> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "sh", "-c", script]);
        command
    };
    let refused = match unshare(&interfaces()).output() {
        Ok(tried) if tried.status.success() => None,
        Ok(tried) => Some(String::from_utf8_lossy(&tried.stderr).trim().to_owned()),
        Err(error) => Some(format!("`unshare`: {error}")),
    };
    let common = &request.common;
    if let Some(reason) = refused {
        let mut findings = Findings::begin("ethercat", String::new(), common, 0);
        findings.not_measured(format!("needs a network of its own; run as root: {reason}"));
        return findings.print(common);
    }
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let status = unshare(&format!("{} && exec \"$0\" \"$@\"", interfaces()))
        .arg(own)
        .args(["ethercat", "--inside"])
        .args(common.arguments())
        .arg(format!("--cycles={}", request.cycles))
        .arg(format!("--cpu={}", request.cores.cpu))
        .arg(format!("--other-cpu={}", request.cores.other_cpu))
        .status()
        .map_err(|error| format!("`unshare`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("ended with {status}")) }
}
