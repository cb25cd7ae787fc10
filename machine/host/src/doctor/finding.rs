//! A finding: one property of the machine, judged.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::reading::Reading;

/// The area that a finding belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Processors, their isolation and their caches.
    Cpu,
    /// Idle states, frequencies, throttling.
    Power,
    /// Memory and what the kernel does with it.
    Memory,
    /// Preemption, real-time policies, cgroups.
    Scheduler,
    /// Clocks and timers of the machine.
    Time,
    /// Interrupts, those of the firmware included.
    Interrupts,
    /// The hypervisor below this kernel, and guests above it.
    Virtualization,
    /// Network interfaces and their drivers.
    Network,
    /// Means to explain a late cycle.
    Tracing,
}

impl Area {
    /// The area as a heading.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Power => "power",
            Self::Memory => "memory",
            Self::Scheduler => "scheduler",
            Self::Time => "time",
            Self::Interrupts => "interrupts",
            Self::Virtualization => "virtualization",
            Self::Network => "network",
            Self::Tracing => "tracing",
        }
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A requirement is not met: control work here is impossible, or its evidence is invalid.
    Conformance,
    /// Works, and would be better otherwise.
    Advice,
    /// As it should be.
    Ok,
    /// Could not be read.
    Unknown,
}

impl Severity {
    /// The severity as a word for a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conformance => "MUST",
            Self::Advice => "advice",
            Self::Ok => "ok",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One property of the machine, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A name that stays the same between versions, such as `preemption-model`.
    pub id: String,
    /// The area that it belongs to.
    pub area: Area,
    /// The subject, for people; the device if there are several.
    pub subject: String,
    /// The value that was read.
    pub read: String,
    /// The value that would be right.
    pub right: String,
    /// The cost for real-time work as it is.
    pub effect: String,
    /// The remedy: a command, a kernel parameter or a BIOS option, and how to make it permanent.
    /// Empty where nothing is to be done.
    pub fix: String,
    /// The weight of the finding.
    pub severity: Severity,
}

/// A finding before its judgement.
pub(super) struct Draft(Finding);

/// Begins a finding without a text.
pub(super) fn finding(id: &str, area: Area, subject: &str) -> Draft {
    Draft(Finding {
        id: id.to_owned(),
        area,
        subject: subject.to_owned(),
        read: String::new(),
        right: String::new(),
        effect: String::new(),
        fix: String::new(),
        severity: Severity::Unknown,
    })
}

impl Draft {
    /// Adds the value that was read.
    pub(super) fn read(mut self, text: impl Into<String>) -> Self {
        self.0.read = text.into();
        self
    }

    /// Adds the value that would be right.
    pub(super) fn right(mut self, text: impl Into<String>) -> Self {
        self.0.right = text.into();
        self
    }

    /// Adds the cost for real-time work as it is.
    pub(super) fn effect(mut self, text: impl Into<String>) -> Self {
        self.0.effect = text.into();
        self
    }

    /// Adds the remedy, as a command or an advice.
    pub(super) fn fix(mut self, text: impl Into<String>) -> Self {
        self.0.fix = text.into();
        self
    }

    /// It is as it should be; what a remedy would be is of no interest.
    pub(super) fn ok(mut self) -> Finding {
        self.0.severity = Severity::Ok;
        self.0.fix = String::new();
        self.0
    }

    /// It would be better otherwise.
    pub(super) fn advice(mut self) -> Finding {
        self.0.severity = Severity::Advice;
        self.0
    }

    /// A requirement is not met.
    pub(super) fn conformance(mut self) -> Finding {
        self.0.severity = Severity::Conformance;
        self.0
    }

    /// It could not be read; `permission` says what would make it readable.
    pub(super) fn unknown(mut self, permission: &str) -> Finding {
        self.0.severity = Severity::Unknown;
        self.0.fix = permission.to_owned();
        self.0
    }

    /// Fine when the condition holds, advice when not.
    pub(super) fn ok_if(self, fine: bool) -> Finding {
        if fine { self.ok() } else { self.advice() }
    }

    /// The finding for a reading without a value: absent is fine, unreadable is unknown.
    pub(super) fn without<T>(self, reading: &Reading<T>) -> Finding {
        let text = reading.describe(|_| String::new());
        match reading {
            Reading::Unreadable(_) => self.read(text).unknown(AS_ROOT),
            Reading::Absent | Reading::Read(_) => self.read(text).ok(),
        }
    }
}

/// Remedy for most unreadable facts.
pub(super) const AS_ROOT: &str = "run `quietcore doctor` as root to read it";
