//! Findings about the machine.

use quietcore_host::Finding;
use quietcore_host::doctor::Severity;

use crate::v1;

impl From<Finding> for v1::Finding {
    fn from(finding: Finding) -> Self {
        let severity = match finding.severity {
            Severity::Ok => v1::FindingSeverity::Ok,
            Severity::Advice => v1::FindingSeverity::Advice,
            Severity::Unknown => v1::FindingSeverity::Unknown,
            Severity::Conformance => v1::FindingSeverity::Conformance,
        };
        let Finding { id, area, subject, read, right, effect, fix, .. } = finding;
        let area = area.name().to_owned();
        Self { id, area, severity: severity.into(), subject, read, right, effect, fix }
    }
}
