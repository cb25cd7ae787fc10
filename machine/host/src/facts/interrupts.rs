//! Interrupts: which there are, on which CPUs they may fire, on which they did.

use serde::{Deserialize, Serialize};

use crate::cpu_list::CpuList;
use crate::reading::Reading;
use crate::source::Source;

/// Interrupts and where they may fire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interrupts {
    /// CPUs on which a new interrupt may fire.
    pub default_affinity: Reading<CpuList>,
    /// Device interrupts, by their numbers.
    pub list: Vec<Interrupt>,
}

/// A device interrupt with its CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interrupt {
    /// The kernel's number of it.
    pub number: u32,
    /// The handlers' names as `/proc/interrupts` shows them; empty where that can't be read.
    pub name: String,
    /// The CPUs on which it may fire.
    pub affinity: Reading<CpuList>,
    /// The CPU on which the hardware delivers it now.
    pub effective: Reading<CpuList>,
    /// Times that it fired since boot, on all CPUs.
    pub count: u64,
}

impl Interrupts {
    /// Reads `/proc/irq` and `/proc/interrupts` below the source; what is missing stays empty.
    pub fn read(source: &Source) -> Self {
        read(source)
    }
}

impl Interrupt {
    /// Returns `true` if it can fire on one of these CPUs and is in use: some interrupts, such as
    /// spare queues, never fire.
    pub fn may_disturb(&self, cpus: &CpuList) -> bool {
        let reaches = |list: &CpuList| !list.0.intersection(&cpus.0).is_empty();
        match (self.effective.get(), self.affinity.get()) {
            // The effective mask says where it really goes; empty means that it is not set up.
            (Some(effective), _) if !effective.0.is_empty() => reaches(effective),
            (_, Some(affinity)) => reaches(affinity),
            _ => false,
        }
    }
}

pub(super) fn read(source: &Source) -> Interrupts {
    let table = source.text("/proc/interrupts");
    let rows = rows(table.text().unwrap_or(""));
    let list = source
        .numbered("/proc/irq", "")
        .into_iter()
        .map(|number| {
            let at = |name: &str| format!("/proc/irq/{number}/{name}");
            let row = rows.iter().find(|row| row.0 == number);
            Interrupt {
                number,
                name: row.map_or_else(String::new, |row| row.2.clone()),
                affinity: source.value(&at("smp_affinity_list")),
                effective: source.value(&at("effective_affinity_list")),
                count: row.map_or(0, |row| row.1),
            }
        })
        .collect();
    Interrupts { default_affinity: source.mask("/proc/irq/default_smp_affinity"), list }
}

/// The number, total count and names of each device interrupt in `/proc/interrupts`.
///
/// The head line names the CPUs; each line has as many counts, then the controller, the line of the
/// controller, and the names.
fn rows(table: &str) -> Vec<(u32, u64, String)> {
    let mut lines = table.lines();
    let cpu_count = lines.next().unwrap_or("").split_whitespace().count();
    lines
        .filter_map(|line| {
            let (number, rest) = line.trim_start().split_once(':')?;
            let number = number.parse().ok()?;
            let mut words = rest.split_whitespace();
            let mut total = 0_u64;
            for _ in 0..cpu_count {
                total = total.saturating_add(words.next()?.parse().ok()?);
            }
            let name = words.skip(2).collect::<Vec<_>>().join(" ");
            Some((number, total, name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn device_interrupts_are_counted_over_all_cpus() {
        let table = "           CPU0       CPU1\n 24:        100         20  PCI-MSI   1-edge   \
                     eth0-rx, eth0-tx\nNMI:          0          3   Non-maskable interrupts\n";
        assert_eq!(rows(table), [(24, 120, "eth0-rx, eth0-tx".to_owned())]);
    }

    #[test]
    fn an_interrupt_disturbs_where_it_is_delivered_not_where_it_might_be() {
        let mut interrupt = Interrupt {
            number: 24,
            name: "eth0".to_owned(),
            affinity: Reading::Read("0-3".parse().unwrap()),
            effective: Reading::Read("0".parse().unwrap()),
            count: 1,
        };
        let partition: CpuList = "2-3".parse().unwrap();
        assert!(!interrupt.may_disturb(&partition));
        interrupt.effective = Reading::Read(CpuList::default());
        assert!(interrupt.may_disturb(&partition));
    }

    proptest! {
        #[test]
        fn any_table_can_be_read(table in "(\\PC{0,60}\n){0,5}") {
            let _ = rows(&table);
        }
    }
}
