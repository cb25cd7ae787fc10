//! The start of the daemon, and its memory when nobody calls; beside a server of OPC UA.

use quietcore_supervisor::places::Places;

use crate::findings::{Findings, Goal};

use super::opc_ua::{self, Server};
use super::process::{Served, resident_mb};

/// The longest start until the first answer, in ms.
const START_GOAL: Goal = Goal::AtMost(200.0);
/// The most memory, in MB.
const MEMORY_GOAL: Goal = Goal::AtMost(40.0);

/// Starts the daemon and the peer in turn.
pub(super) fn measure(rounds: usize, findings: &mut Findings) -> Result<(), String> {
    let (mut starts, mut memory) = (Vec::new(), Vec::new());
    let (mut peer_starts, mut peer_memory) = (Vec::new(), Vec::new());
    let mut missing = None;
    for _ in 0..rounds {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        let served = Served::start(&places)?;
        starts.push(served.until_ready.as_secs_f64() * 1e3);
        memory.push(served.resident_mb()?);
        drop(served);
        if missing.is_some() {
            continue;
        }
        match Server::start(0) {
            Ok(server) => {
                peer_starts.push(server.until_ready.as_secs_f64() * 1e3);
                peer_memory.push(resident_mb(server.process_number())?);
            }
            Err(problem) => missing = Some(problem),
        }
    }
    findings.goal("start to the first answer, quietcored", "ms", &starts, START_GOAL);
    findings.goal("resident memory, quietcored", "MB", &memory, MEMORY_GOAL);
    match missing {
        Some(problem) => findings.not_measured(problem),
        None => {
            findings.peer("asyncua", opc_ua::version());
            findings.figure("start to the first answer, asyncua", "ms", &peer_starts);
            findings.figure("resident memory, asyncua", "MB", &peer_memory);
            findings.ratio("start, asyncua / quietcored", &peer_starts, &starts, None);
            findings.ratio("memory, asyncua / quietcored", &peer_memory, &memory, None);
        }
    }
    Ok(())
}
