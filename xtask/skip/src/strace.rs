//! Programs whose system calls a test traces.

use std::process::Command;

/// Runs `strace` with the arguments that it was given.
///
/// # Errors
/// The reason for a skip, where it is not installed or may not trace.
///
/// # Panics
/// If it fails otherwise.
pub fn strace(strace: &mut Command) -> Result<(), String> {
    let output = strace.output();
    let output = output.map_err(|error| format!("strace can't be run: {error}; install strace"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("Operation not permitted") && !output.status.success() {
        return Err(format!("tracing is forbidden here: {}", said.trim()));
    }
    assert!(output.status.success(), "{said}");
    Ok(())
}
