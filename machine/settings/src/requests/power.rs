//! Frequency, idle states and siblings of CPUs.

use super::{Asked, Claim};
use crate::setting::{Form, Setting};
use crate::want::Want;
use quietcore_host::CpuList;

const CPUS: &str = "/sys/devices/system/cpu";

/// The longest wake-up of an idle state that is left in use, in µs.
const WAKE_UP_US_MAX: u64 = 10;

impl Claim<'_> {
    /// The governor that asks for the highest frequency.
    pub(super) fn governor(&self) -> Asked {
        let paths =
            self.wanted.cpus.iter().map(|cpu| format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"));
        let there = paths.filter(|path| self.source.text(path).get().is_some());
        let want = || Want::Exactly("performance".to_owned());
        there.map(|path| (Setting::file(path, Form::Text), want())).collect()
    }

    /// Idle states that take long to leave.
    pub(super) fn idle_states(&self) -> Asked {
        let states = self.wanted.cpus.iter().flat_map(|cpu| {
            let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
            let numbers = self.source.numbered(&folder, "state");
            numbers.into_iter().map(move |number| format!("{folder}/state{number}"))
        });
        let deep = states.filter(|state| {
            let latency = self.source.value::<u64>(&format!("{state}/latency"));
            latency.get().is_some_and(|latency| *latency > WAKE_UP_US_MAX)
        });
        let file = |state: String| Setting::file(format!("{state}/disable"), Form::Text);
        deep.map(|state| (file(state), Want::Exactly("1".to_owned()))).collect()
    }

    /// CPUs on the same core as one of these, but for these themselves.
    pub(super) fn siblings(&self) -> Asked {
        let of = |cpu| {
            let path = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
            self.source.value::<CpuList>(&path).get().copied().unwrap_or_default().0
        };
        let siblings = self.wanted.cpus.iter().map(of);
        let siblings = siblings.fold(quietcore_units::CpuSet::EMPTY, |all, one| all.union(&one));
        let offline = |cpu| Setting::file(format!("{CPUS}/cpu{cpu}/online"), Form::Text);
        let others = siblings.without(&self.wanted.cpus);
        others.iter().map(|cpu| (offline(cpu), Want::Exactly("0".to_owned()))).collect()
    }
}
