//! The work of loads beside a measurement.

use quietcore_load::Achieved;

/// The work of loads over a whole measurement, summed up from several looks. A fault in one of them
/// stays: a load that paused did not disturb as it should.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadsAchieved {
    /// Sums, one entry for each request; empty before the first look.
    pub(crate) achieved: Vec<Achieved>,
}

impl LoadsAchieved {
    /// Adds the work since the last look.
    pub(crate) fn add(&mut self, part: Vec<Achieved>) {
        if self.achieved.is_empty() {
            self.achieved = part;
            return;
        }
        for (whole, part) in self.achieved.iter_mut().zip(part) {
            prolong(whole, part);
        }
    }
}

/// Adds the work of a later part to that of the whole.
pub(crate) fn prolong(whole: &mut Achieved, part: Achieved) {
    let (before, now) = (whole.interval.as_secs_f64(), part.interval.as_secs_f64());
    let mean = |a: f64, b: f64| {
        if before + now > 0.0 { (a * before + b * now) / (before + now) } else { b }
    };
    whole.operations_per_second = mean(whole.operations_per_second, part.operations_per_second);
    whole.bytes_per_second =
        whole.bytes_per_second.zip(part.bytes_per_second).map(|(a, b)| mean(a, b));
    whole.cpu_share = mean(whole.cpu_share, part.cpu_share);
    whole.interval += part.interval;
    whole.workers_alive = whole.workers_alive.min(part.workers_alive);
    whole.workers_stalled = whole.workers_stalled.max(part.workers_stalled);
    whole.cpus = whole.cpus.union(&part.cpus);
    for fault in part.faults {
        if !whole.faults.contains(&fault) {
            whole.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use quietcore_load::{WorkerFault, WorkerProblem};
    use quietcore_site::LoadKind;
    use quietcore_units::{CpuSet, Nanos};

    use super::*;

    fn achieved(millis: u64, rate: f64, faults: Vec<WorkerFault>) -> Achieved {
        Achieved {
            kind: LoadKind::MemoryBandwidth,
            workers: 2,
            workers_alive: 2,
            workers_stalled: u32::from(!faults.is_empty()),
            size: None,
            cpus: CpuSet::EMPTY,
            interval: Nanos::from_millis(millis),
            operations_per_second: rate,
            unit: "blocks/s".into(),
            bytes_per_second: Some(rate * 64.0),
            cpu_share: 1.0,
            faults,
        }
    }

    #[test]
    fn a_load_that_paused_is_remembered_and_rates_are_means_over_time() {
        let pause = || WorkerFault { worker: 1, process_id: 7, problem: WorkerProblem::Stopped };
        let mut loads = LoadsAchieved::default();
        loads.add(vec![achieved(1_000, 100.0, Vec::new())]);
        loads.add(vec![achieved(1_000, 0.0, vec![pause()])]);
        loads.add(vec![achieved(2_000, 150.0, vec![pause()])]);
        let whole = &loads.achieved[0];
        assert_eq!((whole.operations_per_second, whole.bytes_per_second), (100.0, Some(6_400.0)));
        assert_eq!(whole.interval, Nanos::from_secs(4));
        assert_eq!(whole.faults.len(), 1, "the same is told once");
        assert!(!whole.is_complete());
    }
}
