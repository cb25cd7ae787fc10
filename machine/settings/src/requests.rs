//! Which settings of this machine a control changes, and to what.
//!
//! | module | controls |
//! |--------|----------|
//! | `kernel` | interrupts, threads, work, timers and statistics of the kernel |
//! | `cpusets` | load balancing, programs |
//! | `power` | frequency, idle states and siblings of CPUs |
//! | `traffic` | no control: what partitions may send, where their reservation says it |
//! | `cards` | no control: network cards that guests drive themselves |
//! | `pools` | no control: pools of Xen, where partitions are its domains |

mod cards;
mod cpusets;
mod kernel;
mod pools;
mod power;
mod traffic;

use quietcore_site::Control;

use super::changed::RequestedSettings;
use super::holding::Request;
use super::setting::Setting;
use super::want::Want;
use quietcore_host::CpuList;
use quietcore_host::Source;

pub(super) use cards::give;
pub(super) use pools::part;
pub(super) use traffic::{limit, limit_behind};

/// The settings that the controls which are wanted change on this machine for a holder of this
/// name. A machine that lacks a control has no settings for it.
pub fn requests(
    source: &Source,
    holder: &str,
    wanted: &RequestedSettings,
) -> Vec<Request<Control>> {
    let online = source.value::<CpuList>("/sys/devices/system/cpu/online");
    let online = online.get().copied().unwrap_or_default();
    let claim = Claim { source, holder, wanted, online };
    let is_asked = |control: &&Control| wanted.controls.contains(control);
    let mut requests = Vec::new();
    for control in Control::ALL.iter().filter(is_asked) {
        let settings = claim.settings(*control);
        let request = |(setting, want)| Request { control: *control, setting, want };
        requests.extend(settings.into_iter().map(request));
    }
    requests
}

/// The requests to a machine, while they are gathered.
struct Claim<'s> {
    source: &'s Source,
    holder: &'s str,
    wanted: &'s RequestedSettings,
    online: CpuList,
}

/// Settings, each with what is wanted of it.
type Asked = Vec<(Setting, Want)>;

impl Claim<'_> {
    fn settings(&self, control: Control) -> Asked {
        match control {
            Control::Interrupts => self.interrupts(),
            Control::KernelThreads => self.kernel_threads(),
            Control::Workqueues => self.workqueues(),
            Control::Watchdog => self.watchdog(),
            Control::Timers => self.one("/proc/sys/kernel/timer_migration", "0"),
            Control::Statistics => self.one("/proc/sys/vm/stat_interval", "10"),
            Control::NumaBalancing => self.one("/proc/sys/kernel/numa_balancing", "0"),
            Control::Governor => self.governor(),
            Control::IdleStates => self.idle_states(),
            Control::LoadBalance => self.load_balance(),
            Control::Programs => {
                self.programs(self.wanted.controls.contains(&Control::LoadBalance))
            }
            Control::HugePages => self.huge_pages(),
            Control::Siblings => self.siblings(),
            Control::Throttling => self.one("/proc/sys/kernel/sched_rt_runtime_us", "-1"),
        }
    }

    fn without(&self) -> Want {
        Want::Without { cpus: CpuList(self.wanted.cpus), of: self.online }
    }

    /// A setting that is a number or a word, where this machine has it.
    fn one(&self, path: &str, value: &str) -> Asked {
        let is_there = self.source.text(path).get().is_some();
        let setting = (Setting::file(path, super::Form::Text), Want::Exactly(value.to_owned()));
        if is_there { vec![setting] } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests;
