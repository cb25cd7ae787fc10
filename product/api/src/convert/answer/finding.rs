//! Findings about the machine.

use quietcore_host::doctor::Severity;
use quietcore_host::{Area, Finding};

use super::{UnknownValue, harmless};
use crate::v1;

/// The areas that a finding may be of.
const AREAS: [Area; 9] = [
    Area::Cpu,
    Area::Power,
    Area::Memory,
    Area::Scheduler,
    Area::Time,
    Area::Interrupts,
    Area::Virtualization,
    Area::Network,
    Area::Tracing,
];

/// Reads a finding, with the control characters of its sentences replaced.
///
/// # Errors
/// [`UnknownValue`] for an area or a severity that this version does not know.
pub fn finding(told: v1::Finding) -> Result<Finding, UnknownValue> {
    let severity = match told.severity() {
        v1::FindingSeverity::Ok => Severity::Ok,
        v1::FindingSeverity::Advice => Severity::Advice,
        v1::FindingSeverity::Unknown => Severity::Unknown,
        v1::FindingSeverity::Conformance => Severity::Conformance,
        v1::FindingSeverity::Unspecified => return Err(UnknownValue::of("a weight of a finding")),
    };
    let area = AREAS.into_iter().find(|area| area.name() == told.area);
    Ok(Finding {
        id: harmless(told.id),
        area: area.ok_or(UnknownValue::of("an area of the machine"))?,
        subject: harmless(told.subject),
        read: harmless(told.read),
        right: harmless(told.right),
        effect: harmless(told.effect),
        fix: harmless(told.fix),
        severity,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_of_each_area_and_weight_is_the_same_after_a_way_there_and_back() {
        let weights = [Severity::Ok, Severity::Advice, Severity::Unknown, Severity::Conformance];
        for area in AREAS {
            for severity in weights {
                let text = |text: &str| text.to_owned();
                let own = Finding {
                    id: text("preemption-model"),
                    area,
                    subject: text("kernel"),
                    read: text("voluntary"),
                    right: text("PREEMPT_RT"),
                    effect: text("late"),
                    fix: text("install another one"),
                    severity,
                };
                assert_eq!(finding(own.clone().into()), Ok(own));
            }
        }
        assert!(finding(v1::Finding::default()).is_err());
    }
}
