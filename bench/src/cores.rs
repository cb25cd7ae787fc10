//! The CPUs of a comparison: two threads on two of them that begin at the same time, and the idle
//! latency of all, held at 0 for both sides.
//!
//! `cyclictest` holds the idle latency while it runs, and `qualify` does, but a partition started
//! alone does not. Without it one side wakes from a deeper idle state than the other, and two
//! conditions are compared.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use quietcore_process::setting;
use quietcore_settings::{DmaLatency, LatencyControl, LiveLatency};
use quietcore_units::CpuId;

use crate::findings::Findings;

/// The CPUs that a comparison uses.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Cores {
    /// The CPU of the side that is timed
    #[arg(long, default_value_t = 1)]
    pub(crate) cpu: u32,
    /// The CPU of the other side
    #[arg(long, default_value_t = 0)]
    pub(crate) other_cpu: u32,
}

/// Binds the calling thread to a CPU.
pub(crate) fn pin(cpu: u32) -> Result<(), String> {
    let id = CpuId::new(cpu).ok_or_else(|| format!("there is no CPU {cpu}"))?;
    setting::pin(id).map_err(|error| format!("CPU {cpu}: {error}"))
}

/// Prepares both sides, each in a thread on its CPU, and then runs them at the same time. What the
/// near one returns is the result.
///
/// Neither side runs if one could not be prepared: the other would wait for it for ever.
pub(crate) fn together<A, B, R: Send>(
    cores: Cores,
    near: impl FnOnce() -> Result<A, String> + Send,
    far: impl FnOnce() -> Result<B, String> + Send,
    run_near: impl FnOnce(A) -> R + Send,
    run_far: impl FnOnce(B) + Send,
) -> Result<R, String> {
    let (barrier, failed) = (Barrier::new(2), AtomicBool::new(false));
    let meet = |is_ready: bool| {
        if !is_ready {
            failed.store(true, Ordering::Relaxed);
        }
        barrier.wait();
        !failed.load(Ordering::Relaxed)
    };
    let meet = &meet;
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            let side = pin(cores.other_cpu).and_then(|()| far());
            match (meet(side.is_ok()), side) {
                (true, Ok(side)) => {
                    run_far(side);
                    Ok(())
                }
                (_, side) => side.map(drop),
            }
        });
        let own = scope.spawn(move || {
            let side = pin(cores.cpu).and_then(|()| near());
            match (meet(side.is_ok()), side) {
                (true, Ok(side)) => Ok(Some(run_near(side))),
                (_, side) => side.map(|_| None),
            }
        });
        let died = |_| "a side of the comparison panicked".to_owned();
        let own = own.join().map_err(died)?;
        other.join().map_err(died)??;
        own?.ok_or_else(|| "the other side could not be prepared".to_owned())
    })
}

/// All CPUs stay out of idle states until this is dropped.
pub(crate) struct Awake {
    _held: Option<DmaLatency>,
}

impl Awake {
    /// Holds the idle latency at 0, and remarks whether that succeeded.
    pub(crate) fn hold(findings: &mut Findings) -> Self {
        match LiveLatency.hold() {
            Ok(held) => {
                findings.remark("all sides: idle latency held at 0 (/dev/cpu_dma_latency)");
                Self { _held: Some(held) }
            }
            Err(error) => {
                findings.remark(format!(
                    "idle latency NOT held; a side that holds it itself is at an advantage: {error}"
                ));
                Self { _held: None }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORES: Cores = Cores { cpu: 0, other_cpu: 0 };

    #[test]
    fn the_result_is_that_of_the_near_side() {
        let result = together(CORES, || Ok(20), || Ok(()), |side| side + 1, |()| ());
        assert_eq!(result, Ok(21));
    }

    #[test]
    fn neither_side_runs_if_one_can_not() {
        let broken = || Err::<(), _>("no memory".to_owned());
        let result = together(CORES, || Ok(()), broken, |()| panic!("runs"), |()| ());
        assert_eq!(result, Err("no memory".to_owned()));
        let result = together(CORES, broken, || Ok(()), |()| (), |()| panic!("runs"));
        assert_eq!(result, Err("no memory".to_owned()));
    }
}
