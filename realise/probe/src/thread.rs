//! A real-time thread that measures, and the settings in force for it.

use std::thread;

use quietcore_process::thread::{Standing, prepare};
use quietcore_units::ThreadRequest;

/// Stack of the thread in bytes: small, because all of it is locked.
const STACK_BYTES: usize = 256 << 10;

/// Runs `measure` in a thread of its own called `name`, with the settings of `request`; returns its
/// result and the settings in force.
pub(crate) fn run<T: Send>(
    name: &str,
    request: ThreadRequest,
    measure: impl FnOnce() -> T + Send,
) -> Result<(T, Standing), String> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        let spawned = builder.spawn_scoped(scope, || {
            let mut standing = prepare(&request).standing();
            let outcome = measure();
            standing.look_again_here();
            (outcome, standing)
        });
        let thread = spawned.map_err(|error| error.to_string())?;
        thread.join().map_err(|_| "it panicked".to_owned())
    })
}
