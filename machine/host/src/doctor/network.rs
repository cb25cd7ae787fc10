//! Network interfaces: whether frames can be stamped, and by whom.

use super::finding::{AS_ROOT, finding};
use super::{Area, Finding, View};
use crate::facts::Interface;
use crate::reading::Reading;

/// Interfaces examined; a machine with more has virtual ones.
const EXAMINED: usize = 32;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    let interfaces = &view.facts.network.interfaces;
    let physical: Vec<&Interface> =
        interfaces.iter().filter(|interface| interface.physical).take(EXAMINED).collect();
    if physical.is_empty() {
        findings.push(none());
    }
    for interface in physical {
        findings.push(timestamping(interface));
        findings.extend(interrupts(view, interface));
    }
}

fn none() -> Finding {
    finding("network-interface", Area::Network, "network interfaces")
        .read("none with a device behind it")
        .right("one for the fieldbus alone")
        .effect("no fieldbus can be driven; the built-in simulated segment remains")
        .fix("add an interface and leave it to Quietcore")
        .advice()
}

fn timestamping(interface: &Interface) -> Finding {
    let draft = finding("network-timestamping", Area::Network, &interface.name)
        .right("hardware time stamps in both directions, with a clock (/dev/ptpN)")
        .effect(
            "the instant of a frame is known to some 10 µs instead of some 10 ns: one-way times \
             and clock offsets (PTP) are that uncertain",
        )
        .fix("an interface that stamps, such as Intel I210 or I225");
    let driver = interface.driver.describe(Clone::clone);
    match &interface.timestamping {
        Reading::Read(abilities) => {
            let hardware = abilities.hardware_transmit && abilities.hardware_receive;
            let kind = if hardware {
                "hardware"
            } else if abilities.software_transmit {
                "software in both directions"
            } else if abilities.software_receive {
                "software on arrival only"
            } else {
                "none"
            };
            let clock = abilities
                .clock_index
                .map_or_else(|| "no clock".to_owned(), |number| format!("/dev/ptp{number}"));
            draft
                .read(format!("driver {driver}; {kind}; {clock}"))
                .ok_if(hardware && abilities.clock_index.is_some())
        }
        Reading::Absent => draft.read(format!("driver {driver}; not offered")).advice(),
        Reading::Unreadable(reason) => draft.read(reason.clone()).unknown(AS_ROOT),
    }
}

/// Only with control CPUs set apart: an interface whose interrupts fire there disturbs them.
fn interrupts(view: &View<'_>, interface: &Interface) -> Option<Finding> {
    if !view.control_is_a_part() || interface.interrupts.is_empty() {
        return None;
    }
    let own: Vec<String> = view
        .facts
        .interrupts
        .list
        .iter()
        .filter(|interrupt| interface.interrupts.contains(&interrupt.number))
        .filter(|interrupt| interrupt.may_disturb(&view.control))
        .map(|interrupt| interrupt.number.to_string())
        .collect();
    let draft = finding("network-interrupts", Area::Network, &interface.name)
        .right("on housekeeping CPUs, unless the interface serves a partition")
        .effect("each received frame stops a control CPU for 5 to 50 µs")
        .fix(format!(
            "`echo {} > /proc/irq/NUMBER/smp_affinity_list` for each",
            view.housekeeping()
        ));
    let fine = own.is_empty();
    let read = if fine {
        "none on control CPUs".to_owned()
    } else {
        format!("on control CPUs: {}", own.join(", "))
    };
    Some(draft.read(read).ok_if(fine))
}
