//! The value of each dependency then and now.
//!
//! | dependency | then | where that is absent |
//! |---|---|---|
//! | kernel, command line, microcode, hypervisor | the platform of the conditions | its words |
//! | preemption, processor, settings | words of the conditions | not recorded |
//! | program | the platform | the build that stands in the conditions |
//! | Quietcore | the platform | the version that stands in the conditions |
//! | all others | the platform | not recorded |

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use quietcore_units::{ByteSize, CpuSet};

use super::{Dependency, Pair, Present, Uncompared};
use crate::record::{
    Cache, Conditions, Core, FirmwareVersions, GuestImage, InterruptPlacement, Platform,
    ReservationInForce,
};

/// The begins of the words for a fact that could not be found out.
const UNTOLD: [&str; 2] = ["not readable", "unknown"];
/// The words for a fact that the machine does not have, where the platform has no value.
const NOT_THERE: &str = "not there";
/// The name under which records have the build of a program in words.
const PROGRAM_BUILD: &str = "program_build";
/// The words for a machine without a hypervisor.
const NO_HYPERVISOR: &str = "none";

/// Returns the value of a dependency in a record and on the machine. Of lists only what differs.
pub(super) fn pair(dependency: Dependency, then: &Conditions, now: &Present) -> Pair {
    let platform = then.platform.as_deref();
    if let Some(name) = name_in_words(dependency) {
        return text(told(&then.machine, name), told(&now.machine, name));
    }
    let either = |name: &str, of: fn(&Platform) -> &Option<String>| {
        let in_words = || told(&then.machine, name).filter(|words| words != NOT_THERE);
        let before = platform.and_then(|it| of(it).clone()).or_else(in_words);
        (before, of(&now.platform).clone())
    };
    let lists = |of: fn(&Platform) -> Vec<String>| {
        // Every machine has a core: an empty list could not be read.
        let known = |all: &Vec<String>| !all.is_empty();
        let (before, now) = (platform.map(of), Some(of(&now.platform)));
        both(before.filter(known), now.filter(known), |a, b| listed(&a, &b))
    };
    match dependency {
        Dependency::Kernel => {
            let (before, now) = either("kernel", |it| &it.kernel.release);
            text(before, now)
        }
        Dependency::KernelBuild => {
            let version = |it: &Platform| it.kernel.version.clone();
            text(platform.and_then(version), version(&now.platform))
        }
        Dependency::CommandLine => {
            let (before, now) = either("command_line", |it| &it.kernel.command_line);
            match (before, now) {
                (Some(before), Some(now)) => parameters(&before, &now),
                (before, now) => text(before, now),
            }
        }
        Dependency::Microcode => {
            let (before, now) = either("microcode", |it| &it.firmware.microcode);
            text(before, now)
        }
        Dependency::Firmware => {
            let known = |it: &Platform| of_firmware(&it.firmware);
            text(platform.and_then(known), known(&now.platform))
        }
        Dependency::Cores => lists(|it| it.topology.cores.iter().map(core).collect()),
        Dependency::Caches => lists(|it| it.topology.caches.iter().map(cache).collect()),
        Dependency::Hypervisor => hypervisor(then, now),
        _ => of_partition(dependency, then, now),
    }
}

/// Returns the same for what a partition has of the machine, and for versions.
fn of_partition(dependency: Dependency, then: &Conditions, now: &Present) -> Pair {
    let platform = then.platform.as_deref();
    match dependency {
        Dependency::Interrupts => {
            let placed = |it: &Platform| it.interrupts.as_ref().map(|all| map(all, interrupt));
            both(platform.and_then(placed), placed(&now.platform), |a, b| listed(&a, &b))
        }
        Dependency::Reservation => {
            let of = |it: &Platform| it.reservation.clone();
            both(platform.and_then(of), of(&now.platform), |a, b| reservation(&a, &b))
        }
        Dependency::Program => {
            let build = |it: &Platform| it.program.as_ref().map(|it| it.sources_sha256.clone());
            let in_words = || told(&then.machine, PROGRAM_BUILD);
            match (platform, platform.and_then(build).or_else(in_words)) {
                (Some(_), None) => Pair::NoPart,
                (_, before) => text(before, build(&now.platform)),
            }
        }
        Dependency::Quietcore => {
            let version = platform.map(|it| it.versions.quietcore.clone());
            let known = |version: &String| !version.is_empty();
            let before = version.filter(known).or(Some(then.quietcore_version.clone()));
            text(before.filter(known), Some(now.platform.versions.quietcore.clone()))
        }
        Dependency::ContainerRuntime => {
            let runtime = |it: &Platform| it.versions.container_runtime.clone();
            match platform.and_then(runtime) {
                None => Pair::NoPart,
                before => text(before, runtime(&now.platform)),
            }
        }
        Dependency::GuestKernel => of_guest(platform, now, GuestImage::kernel_in_short),
        Dependency::GuestImage => of_guest(platform, now, |image| image.sha256.clone()),
        // The others are of the machine.
        _ => Pair::NoPart,
    }
}

/// Returns a fact of the image of a guest; a measurement without one has no part of it.
fn of_guest(
    platform: Option<&Platform>,
    now: &Present,
    fact: impl Fn(&GuestImage) -> String,
) -> Pair {
    match platform.and_then(|it| it.guest.as_ref()) {
        None => Pair::NoPart,
        Some(before) => text(Some(fact(before)), now.platform.guest.as_ref().map(fact)),
    }
}

/// Returns the name of a fact that records have in words alone; `None` for all others.
const fn name_in_words(dependency: Dependency) -> Option<&'static str> {
    Some(match dependency {
        Dependency::Preemption => "preemption",
        Dependency::Processor => "cpu_model",
        Dependency::ClockSource => "clock_source",
        Dependency::Governor => "governor",
        Dependency::IdleStates => "c_states",
        Dependency::RealTimeThrottling => "rt_throttling",
        Dependency::Memory => "memory",
        _ => return None,
    })
}

/// Returns a fact in words; `None` where it could not be found out.
fn told(machine: &BTreeMap<String, String>, name: &str) -> Option<String> {
    let is_untold = |words: &String| UNTOLD.iter().any(|begin| words.starts_with(begin));
    machine.get(name).filter(|words| !is_untold(words)).cloned()
}

/// Compares what is known at both times.
fn both<T>(before: Option<T>, now: Option<T>, compare: impl FnOnce(T, T) -> Pair) -> Pair {
    match (before, now) {
        (None, _) => Pair::Unknown(Uncompared::NotRecorded),
        (Some(_), None) => Pair::Unknown(Uncompared::NotReadable),
        (Some(before), Some(now)) => compare(before, now),
    }
}

fn text(before: Option<String>, now: Option<String>) -> Pair {
    both(before, now, |before, now| Pair::Known { before, now })
}

fn map<T>(all: &[T], words: impl Fn(&T) -> String) -> Vec<String> {
    all.iter().map(words).collect()
}

/// Returns the entries of each list that the other one has not.
fn listed(before: &[String], now: &[String]) -> Pair {
    let (then, present): (BTreeSet<_>, BTreeSet<_>) =
        (before.iter().collect(), now.iter().collect());
    let only = |these: &BTreeSet<&String>, others: &BTreeSet<&String>| {
        let only: Vec<&str> = these.difference(others).map(|entry| entry.as_str()).collect();
        only.join(", ")
    };
    Pair::Known { before: only(&then, &present), now: only(&present, &then) }
}

/// Returns the parameters of each command line that the other one has not; both whole where only
/// their order differs.
fn parameters(before: &str, now: &str) -> Pair {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (then, present) = (words(before), words(now));
    match listed(&then, &present) {
        Pair::Known { before, now } if before == now && then != present => {
            Pair::Known { before: then.join(" "), now: present.join(" ") }
        }
        differences => differences,
    }
}

fn of_firmware(firmware: &FirmwareVersions) -> Option<String> {
    let FirmwareVersions { system_vendor, product, bios_version, bios_date, .. } = firmware;
    let is_known = [system_vendor, product, bios_version, bios_date].iter().any(|it| it.is_some());
    is_known.then(|| firmware.to_string())
}

/// Compares the hypervisors; a platform without one says that there was none.
fn hypervisor(then: &Conditions, now: &Present) -> Pair {
    let named = |it: &Platform| it.versions.hypervisor.clone().unwrap_or(NO_HYPERVISOR.to_owned());
    let before = then.platform.as_deref().map(named).or_else(|| told(&then.machine, "hypervisor"));
    text(before, Some(named(&now.platform)))
}

fn core(core: &Core) -> String {
    let package = core.package.map(|package| format!(" in package {package}"));
    format!("{}{}", cpus(core.cpus), package.unwrap_or_default())
}

fn cache(cache: &Cache) -> String {
    let level = cache.level.map_or_else(String::new, |level| format!("L{level} "));
    let kind = cache.kind.as_deref().map_or_else(String::new, |kind| format!("{kind} "));
    let size = cache.size_bytes.map(|bytes| format!("{} ", ByteSize::new(bytes)));
    format!("{level}{kind}{}of {}", size.unwrap_or_default(), cpus(cache.cpus))
}

/// Names an interrupt by its handlers: its number may be another one after each boot.
fn interrupt(placed: &InterruptPlacement) -> String {
    let name = match placed.name.as_str() {
        "" => placed.number.to_string(),
        name => name.to_owned(),
    };
    format!("{name} on {}", cpus(placed.cpus))
}

fn cpus(cpus: CpuSet) -> String {
    format!("CPU {cpus}")
}

/// Compares what is known of both reservations: a share of the cache is not seen from outside.
fn reservation(before: &ReservationInForce, now: &ReservationInForce) -> Pair {
    let common = |one: &ReservationInForce, other: &ReservationInForce| ReservationInForce {
        cpu_quota_us: one.cpu_quota_us.filter(|_| other.cpu_quota_us.is_some()),
        cpu_period_us: one.cpu_period_us.filter(|_| other.cpu_quota_us.is_some()),
        cpus: one.cpus.filter(|_| other.cpus.is_some()),
        memory_bytes: one.memory_bytes.filter(|_| other.memory_bytes.is_some()),
        cache_mask: one.cache_mask.filter(|_| other.cache_mask.is_some()),
        bandwidth_percent: one.bandwidth_percent.filter(|_| other.bandwidth_percent.is_some()),
    };
    let (then, present) = (common(before, now), common(now, before));
    if then == ReservationInForce::default() {
        return Pair::Unknown(Uncompared::NotReadable);
    }
    let words = |it: &dyn Display| it.to_string();
    Pair::Known { before: words(&then), now: words(&present) }
}
