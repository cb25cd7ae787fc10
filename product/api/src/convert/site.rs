//! Events, and problems of site files.

use quietcore_control::{EventLine, Severity};
use quietcore_site::Problem;

use crate::v1;

impl From<EventLine> for v1::Event {
    fn from(event: EventLine) -> Self {
        let severity = match event.severity {
            Severity::Information => v1::Severity::Information,
            Severity::Warning => v1::Severity::Warning,
            Severity::Fault => v1::Severity::Fault,
        };
        Self {
            sequence: event.sequence,
            at: event.at,
            partition: event.partition,
            cycle: event.cycle,
            kind: event.kind,
            severity: severity.into(),
            text: event.text,
            by: event.by.unwrap_or_default(),
        }
    }
}

impl From<&Problem> for v1::Problem {
    fn from(problem: &Problem) -> Self {
        let position = &problem.place.position;
        Self {
            line: position.line,
            column: position.column,
            key: problem.place.key.clone(),
            problem: problem.problem.clone(),
            remedy: problem.remedy.clone(),
        }
    }
}
