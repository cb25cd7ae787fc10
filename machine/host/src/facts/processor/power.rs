//! Power saving that costs time: idle states, frequencies, throttling.

use serde::{Deserialize, Serialize};

use super::CPUS;
use crate::cpu_list::CpuList;
use crate::reading::Reading;
use crate::source::Source;

/// Idle states, frequencies and throttling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// Driver that puts CPUs to sleep, such as `intel_idle`, `acpi_idle` or `haltpoll`.
    pub idle_driver: Reading<String>,
    /// Governor that chooses how deep, such as `menu` or `teo`.
    pub idle_governor: Reading<String>,
    /// The idle states, each with the CPUs that have it with these settings.
    pub idle_states: Vec<IdleState>,
    /// Frequency policies, each for the CPUs that share one.
    pub frequencies: Vec<Frequency>,
    /// `true` if the clock may rise above the nominal one (turbo, boost).
    pub turbo: Reading<bool>,
    /// `intel_pstate`'s mode: `active`, `passive` or `off`.
    pub intel_pstate: Reading<String>,
    /// `amd_pstate`'s mode.
    pub amd_pstate: Reading<String>,
    /// Slow-downs of CPUs for heat.
    pub throttling: Vec<Throttling>,
    /// Readable if `/dev/cpu_dma_latency` can be opened, which keeps CPUs out of deep idle states.
    pub latency_request: Reading<()>,
    /// The longest wake-up time that anybody allows now, in µs. Readable by root alone.
    pub latency_limit_us: Reading<i32>,
}

/// An idle state (C-state).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleState {
    /// Its place in the kernel's list, 0 the lightest.
    pub index: u32,
    /// Its name, such as `C6`.
    pub name: String,
    /// The longest time to leave it, in µs.
    pub latency_us: Reading<u64>,
    /// The shortest stay that pays, in µs.
    pub residency_us: Reading<u64>,
    /// `true` if the user switched it off.
    pub disabled: Reading<bool>,
    /// The CPUs for which all this holds.
    pub cpus: CpuList,
}

/// A frequency policy with its CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frequency {
    /// The CPUs that it governs.
    pub cpus: Reading<CpuList>,
    /// Driver that sets the frequency, such as `intel_pstate` or `acpi-cpufreq`.
    pub driver: Reading<String>,
    /// Governor that chooses it, such as `performance` or `schedutil`.
    pub governor: Reading<String>,
    /// The governors that could be chosen.
    pub governors: Reading<Vec<String>>,
    /// The lowest frequency allowed, in kHz.
    pub minimum_khz: Reading<u64>,
    /// The highest frequency allowed, in kHz.
    pub maximum_khz: Reading<u64>,
    /// The lowest frequency possible, in kHz.
    pub hardware_minimum_khz: Reading<u64>,
    /// The highest frequency possible, in kHz.
    pub hardware_maximum_khz: Reading<u64>,
    /// The frequency now, in kHz.
    pub current_khz: Reading<u64>,
    /// The hint to the processor's own governor, such as `balance_performance`.
    pub energy_preference: Reading<String>,
}

/// Slow-downs of a CPU for heat since boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throttling {
    /// Number of the CPU.
    pub cpu: u32,
    /// Events of its core.
    pub core: Reading<u64>,
    /// Events of its socket.
    pub package: Reading<u64>,
}

pub(in crate::facts) fn read(source: &Source) -> Power {
    let numbers = source.numbered(CPUS, "cpu");
    Power {
        idle_driver: source.text(&format!("{CPUS}/cpuidle/current_driver")),
        idle_governor: source
            .text(&format!("{CPUS}/cpuidle/current_governor"))
            .or_if_absent(|| source.text(&format!("{CPUS}/cpuidle/current_governor_ro"))),
        idle_states: idle_states(source, &numbers),
        frequencies: source
            .numbered(&format!("{CPUS}/cpufreq"), "policy")
            .into_iter()
            .map(|policy| frequency(source, policy))
            .collect(),
        turbo: source
            .switch(&format!("{CPUS}/intel_pstate/no_turbo"))
            .map(|off| !off)
            .or_if_absent(|| source.switch(&format!("{CPUS}/cpufreq/boost"))),
        intel_pstate: source.text(&format!("{CPUS}/intel_pstate/status")),
        amd_pstate: source.text(&format!("{CPUS}/amd_pstate/status")),
        throttling: numbers
            .iter()
            .map(|&cpu| throttling(source, cpu))
            .filter(|counts| !counts.core.is_absent() || !counts.package.is_absent())
            .collect(),
        latency_request: source.opens("/dev/cpu_dma_latency"),
        latency_limit_us: source.bytes("/dev/cpu_dma_latency").and_then(|bytes| {
            // The device answers with four bytes, not with text.
            bytes.first_chunk::<4>().map_or_else(
                || Reading::Unreadable("/dev/cpu_dma_latency: fewer than 4 bytes".to_owned()),
                |word| Reading::Read(i32::from_ne_bytes(*word)),
            )
        }),
    }
}

/// Reads the states of all CPUs and joins those that are alike.
fn idle_states(source: &Source, numbers: &[u32]) -> Vec<IdleState> {
    let mut states: Vec<IdleState> = Vec::new();
    for &cpu in numbers {
        let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
        for index in source.numbered(&folder, "state") {
            let at = |name: &str| format!("{folder}/state{index}/{name}");
            let mut state = IdleState {
                index,
                name: source.text(&at("name")).text().unwrap_or("?").to_owned(),
                latency_us: source.value(&at("latency")),
                residency_us: source.value(&at("residency")),
                disabled: source.switch(&at("disable")),
                cpus: CpuList::default(),
            };
            let alike = states.iter_mut().find(|other| {
                state.cpus = other.cpus;
                **other == state
            });
            let cpus = match alike {
                Some(other) => &mut other.cpus,
                None => {
                    state.cpus = CpuList::default();
                    states.push(state);
                    let last = states.last_mut();
                    &mut last.expect("a state was just pushed").cpus
                }
            };
            if let Some(cpu) = quietcore_units::CpuId::new(cpu) {
                cpus.0.insert(cpu);
            }
        }
    }
    states
}

fn frequency(source: &Source, policy: u32) -> Frequency {
    let at = |name: &str| format!("{CPUS}/cpufreq/policy{policy}/{name}");
    Frequency {
        cpus: source.text(&at("affected_cpus")).and_then(|text| {
            // Written with spaces instead of commas.
            let list = text.split_whitespace().collect::<Vec<_>>().join(",");
            crate::source::parsed(&list, &at("affected_cpus"))
        }),
        driver: source.text(&at("scaling_driver")),
        governor: source.text(&at("scaling_governor")),
        governors: source.words(&at("scaling_available_governors")),
        minimum_khz: source.value(&at("scaling_min_freq")),
        maximum_khz: source.value(&at("scaling_max_freq")),
        hardware_minimum_khz: source.value(&at("cpuinfo_min_freq")),
        hardware_maximum_khz: source.value(&at("cpuinfo_max_freq")),
        current_khz: source.value(&at("scaling_cur_freq")),
        energy_preference: source.text(&at("energy_performance_preference")),
    }
}

fn throttling(source: &Source, cpu: u32) -> Throttling {
    let at = |name: &str| format!("{CPUS}/cpu{cpu}/thermal_throttle/{name}");
    Throttling {
        cpu,
        core: source.value(&at("core_throttle_count")),
        package: source.value(&at("package_throttle_count")),
    }
}
