//! The doctor: findings from the facts for real-time work, each with its remedy.
//!
//! Pure: from [`Facts`] to [`Finding`]s, without a look at the machine. Requirements
//! ([`Severity::Conformance`]) are kept apart from advice: without the first, control work here is
//! impossible or its evidence worthless; the second makes late cycles rarer or shorter. What could
//! not be read is neither: it is [`Severity::Unknown`] and says which permission is missing.
//!
//! Each finding is one function in the file of its area. Inside a virtual machine a finding says
//! honestly what only the owner of the host can change.

mod background;
mod cpu;
mod finding;
mod interrupts;
mod memory;
mod network;
mod power;
mod scheduler;
mod time;
mod tracing;
mod virtualization;

use quietcore_units::CpuSet;
use serde::{Deserialize, Serialize};

use crate::cpu_list::CpuList;
use crate::facts::Facts;

pub use finding::{Area, Finding, Severity};

/// The version of the form in which [`Report`] is written.
pub const SCHEMA: &str = "quietcore.doctor/1";

/// Facts with their findings, as `quietcore doctor --json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The facts that were read.
    pub facts: Facts,
    /// The findings, in the order of the areas.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Examines facts and keeps them beside the findings.
    pub fn new(facts: Facts, partition: Option<&CpuSet>) -> Self {
        Self { schema: SCHEMA.to_owned(), findings: examine(&facts, partition), facts }
    }
}

/// Judges the facts. With the CPUs of a partition the findings are about those; without, about the
/// isolated CPUs where there are any, else about all.
///
/// The findings come by area, in the order of [`Area`], and each `id` occurs once for a subject.
pub fn examine(facts: &Facts, partition: Option<&CpuSet>) -> Vec<Finding> {
    let view = View::new(facts, partition);
    let mut findings = Vec::new();
    cpu::examine(&view, &mut findings);
    power::examine(&view, &mut findings);
    memory::examine(&view, &mut findings);
    scheduler::examine(&view, &mut findings);
    background::examine(&view, &mut findings);
    time::examine(&view, &mut findings);
    interrupts::examine(&view, &mut findings);
    virtualization::examine(&view, &mut findings);
    network::examine(&view, &mut findings);
    tracing::examine(&view, &mut findings);
    findings
}

/// The facts as the findings look at them.
struct View<'facts> {
    facts: &'facts Facts,
    partition: Option<CpuList>,
    /// The CPUs that control programs will run on, as far as that can be told.
    control: CpuList,
}

impl<'facts> View<'facts> {
    fn new(facts: &'facts Facts, partition: Option<&CpuSet>) -> Self {
        let online = facts.cpu.online.get().copied().unwrap_or_default();
        let isolated = facts.cpu.isolated.get().copied().unwrap_or_default();
        let partition = partition.map(|cpus| CpuList(*cpus));
        let control = partition.unwrap_or(if isolated.0.is_empty() { online } else { isolated });
        Self { facts, partition, control }
    }

    /// Returns `true` if a remedy may be out of reach because this kernel is a guest.
    fn is_guest(&self) -> bool {
        self.facts.virtualization.is_guest() == Some(true)
    }

    /// The remedy, with the truth about who can apply it in a virtual machine.
    fn on_host(&self, fix: &str) -> String {
        if self.is_guest() {
            format!("only the owner of the host can change this; there: {fix}")
        } else {
            fix.to_owned()
        }
    }

    /// The CPUs for a kernel parameter: those of the partition, or a placeholder to fill in.
    fn cpus_for_parameter(&self) -> String {
        match self.partition {
            Some(cpus) => cpus.to_string(),
            None if self.control_is_a_part() => self.control.to_string(),
            None => "CPUS".to_owned(),
        }
    }

    /// The CPUs that are left for everything else.
    fn housekeeping(&self) -> String {
        let online = self.facts.cpu.online.get().copied().unwrap_or_default();
        let rest = CpuList(online.0.without(&self.control.0));
        if rest.0.is_empty() { "0".to_owned() } else { rest.to_string() }
    }

    /// Returns `true` if control CPUs and others can be told apart.
    fn control_is_a_part(&self) -> bool {
        self.facts.cpu.online.get().is_some_and(|online| {
            !self.control.0.is_empty() && !online.0.without(&self.control.0).is_empty()
        })
    }
}

/// Describes how a kernel parameter is made permanent on Debian and most others.
fn kernel_parameter(parameter: &str) -> String {
    format!(
        "add `{parameter}` to GRUB_CMDLINE_LINUX in /etc/default/grub, run `update-grub`, reboot"
    )
}

/// Describes how a sysctl is set now and for good.
fn sysctl(name: &str, value: &str) -> String {
    format!(
        "`sysctl -w {name}={value}`; permanent: `{name} = {value}` in \
         /etc/sysctl.d/90-quietcore.conf"
    )
}

/// Describes how a value below /sys is set now and for good.
fn sys_file(command: &str) -> String {
    format!("`{command}`; permanent: the same in a systemd unit that runs at boot")
}

#[cfg(test)]
mod tests;
