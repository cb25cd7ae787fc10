//! The isolation matrix of hofer2019: which isolation, of the guest and of the host, is worth what.
//!
//! The paper measured twelve rows, each a side for the guest and one for the host it ran on:
//!
//! | side | of the paper | on one kernel, for a process or a container |
//! |------|--------------|---------------------------------------------|
//! | guest | the guest's kernel | the partition: pinned to its CPUs, and what is kept off them |
//! | host | the kernel below it | everything else of the machine: kept off those CPUs |
//! | stress | `stress` in the guest | load: anywhere, but on the other CPUs where those keep off |
//!
//! One kernel has one load balancer and one set of interrupt affinities. What the paper turned off
//! twice is off once here, so that two rows are the same: [`Row::same_as`]. They are measured each,
//! and say so.

mod figures;

use serde::Serialize;

pub use figures::{
    CYCLES_NS, Exceedance, IsolationFigures, IsolationMatrix, IsolationRow, PublishedFigures,
    matrices,
};

/// The table of the paper.
pub const TABLE: &str = "hofer2019/table-1";

/// The word for all twelve profiles.
pub const GROUP: &str = "isolation";

/// The measures of the paper on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    isolated: bool,
    no_load_balancing: bool,
    interrupts: bool,
}

const OPEN: Side = Side { isolated: false, no_load_balancing: false, interrupts: false };
const ISOLATED: Side = Side { isolated: true, ..OPEN };
const WITHOUT_INTERRUPTS: Side = Side { interrupts: true, ..ISOLATED };
const QUIET: Side = Side { no_load_balancing: true, ..WITHOUT_INTERRUPTS };

/// A row of the paper's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number from 1, in the paper's order.
    pub number: u8,
    /// The profile that stands for it.
    pub profile: &'static str,
    /// The name in the table.
    pub title: &'static str,
    guest: Side,
    host: Side,
    stress: bool,
}

/// The measures that a row asks of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOneKernel {
    /// The partition is pinned to its CPUs.
    pub pinned: bool,
    /// Everything else is kept off them.
    pub others_off: bool,
    /// The scheduler moves nothing there.
    pub no_load_balancing: bool,
    /// Interrupts of devices are kept off them.
    pub interrupts_off: bool,
    /// CPUs of the load; `None` for a row without load.
    pub load: Option<LoadAt>,
}

/// The CPUs on which the load of a row may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadAt {
    /// The load may run on every CPU.
    Anywhere,
    /// The load may run on the CPUs that no partition has.
    OtherCpus,
}

const fn row(
    number: u8,
    profile: &'static str,
    title: &'static str,
    guest: Side,
    host: Side,
    stress: bool,
) -> Row {
    Row { number, profile, title, guest, host, stress }
}

/// The rows, in the paper's order.
#[rustfmt::skip]
pub static ROWS: [Row; 12] = [
    row(1, "iso1", "default", OPEN, OPEN, false),
    row(2, "iso2", "with stress", OPEN, OPEN, true),
    row(3, "iso3", "isolated", ISOLATED, OPEN, false),
    row(4, "iso4", "isolated + with stress", ISOLATED, OPEN, true),
    row(5, "iso5", "isolated + no load balancing + IRQ affinity", QUIET, OPEN, false),
    row(6, "iso6", "isolated + no load balancing + IRQ affinity + with stress", QUIET, OPEN, true),
    row(7, "iso7", "isolated; host isolated", ISOLATED, ISOLATED, false),
    row(8, "iso8", "isolated + with stress; host isolated", ISOLATED, ISOLATED, true),
    row(9, "iso9", "isolated; host isolated + no load balancing + IRQ affinity",
        ISOLATED, QUIET, false),
    row(10, "iso10", "isolated + with stress; host isolated + no load balancing + IRQ affinity",
        ISOLATED, QUIET, true),
    row(11, "iso11", "isolated + no load balancing + IRQ affinity; host isolated + IRQ affinity",
        QUIET, WITHOUT_INTERRUPTS, false),
    row(12, "iso12",
        "isolated + no load balancing + IRQ affinity + with stress; host isolated + IRQ affinity",
        QUIET, WITHOUT_INTERRUPTS, true),
];

impl Row {
    /// Returns the row that a profile stands for.
    pub fn of_profile(profile: &str) -> Option<&'static Self> {
        ROWS.iter().find(|row| row.profile == profile)
    }

    /// Returns the row that the table calls so.
    pub fn of_title(title: &str) -> Option<&'static Self> {
        ROWS.iter().find(|row| row.title == title)
    }

    /// Returns the measures on one kernel: those that either side asks for.
    pub fn on_one_kernel(&self) -> OnOneKernel {
        let others_off = self.host.isolated;
        let load = if others_off { LoadAt::OtherCpus } else { LoadAt::Anywhere };
        OnOneKernel {
            pinned: self.guest.isolated,
            others_off,
            no_load_balancing: self.guest.no_load_balancing || self.host.no_load_balancing,
            interrupts_off: self.guest.interrupts || self.host.interrupts,
            load: self.stress.then_some(load),
        }
    }

    /// Returns the first row that asks the same of one kernel, where that is another one.
    pub fn same_as(&self) -> Option<&'static Self> {
        let first = ROWS.iter().find(|row| row.on_one_kernel() == self.on_one_kernel());
        first.filter(|first| first.number != self.number)
    }
}

impl OnOneKernel {
    /// Describes the row in words, such as `pinned, interrupts kept off, no load`.
    pub fn words(&self) -> String {
        let off: Vec<&str> = [
            (self.others_off, "others"),
            (self.interrupts_off, "interrupts"),
            (self.no_load_balancing, "load balancing"),
        ]
        .into_iter()
        .filter_map(|(is_off, what)| is_off.then_some(what))
        .collect();
        let pinned = if self.pinned { "pinned" } else { "not pinned" };
        let off = match &off[..] {
            [] => String::new(),
            [one] => format!(", {one} kept off"),
            [most @ .., last] => format!(", {} and {last} kept off", most.join(", ")),
        };
        let load = match self.load {
            None => "no load",
            Some(LoadAt::Anywhere) => "load anywhere",
            Some(LoadAt::OtherCpus) => "load on the other CPUs",
        };
        format!("{pinned}{off}, {load}")
    }
}

#[cfg(test)]
mod tests;
