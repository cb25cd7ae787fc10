//! Network interfaces: whether frames can be stamped, and by whom; and whether a guest can have a
//! card.

use super::finding::{AS_ROOT, finding};
use super::{Area, Finding, View};
use crate::facts::{Card, Interface};
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
    let passes = view.facts.network.passes_devices;
    let cards = view.facts.network.cards.iter().filter(|card| card.is_known()).take(EXAMINED);
    findings.extend(cards.map(|card| for_guest(card, passes)));
}

/// Of a card that the guest's kernel can drive: whether a guest can have it.
fn for_guest(card: &Card, passes: bool) -> Finding {
    let draft = finding("network-card-for-guest", Area::Network, &card.address)
        .right("behind an IOMMU, alone in its group, not used by the host")
        .effect("no guest can have the card, and guests reach the network through the host");
    let driver = card.driver.describe(Clone::clone);
    match card.can_be_given(passes) {
        Ok(()) => draft.read(format!("driver {driver}; a guest can have it")).ok_if(true),
        Err(obstacle) => {
            draft.read(format!("driver {driver}; {}", obstacle.what)).fix(obstacle.remedy).advice()
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    #[test]
    fn a_card_that_a_guest_can_have_is_fine_and_another_says_what_to_do() {
        let mut card = Card {
            address: "0000:03:00.0".to_owned(),
            kind: 0x1533_8086,
            driver: Reading::Read("igb".to_owned()),
            group: Reading::Read("7".to_owned()),
            companions: Vec::new(),
            up: Vec::new(),
        };
        let fine = for_guest(&card, true);
        assert_eq!(fine.severity, Severity::Ok);
        assert_eq!(fine.read, "driver igb; a guest can have it");
        card.group = Reading::Absent;
        let lacks = for_guest(&card, true);
        assert_eq!(lacks.severity, Severity::Advice);
        assert!(lacks.read.ends_with("there is no IOMMU to keep it from the host's memory"));
        assert!(lacks.fix.contains("intel_iommu=on"), "{}", lacks.fix);
    }
}
