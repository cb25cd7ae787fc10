//! Events of a site.

use quietcore_control::{EventLine, Severity};

use super::{UnknownValue, harmless};
use crate::v1;

/// Reads an event, with the control characters of its sentence replaced.
///
/// # Errors
/// [`UnknownValue`] for a severity that this version does not know.
pub fn event(told: v1::Event) -> Result<EventLine, UnknownValue> {
    let severity = match told.severity() {
        v1::Severity::Information => Severity::Information,
        v1::Severity::Warning => Severity::Warning,
        v1::Severity::Fault => Severity::Fault,
        v1::Severity::Unspecified => return Err(UnknownValue::of("a severity of an event")),
    };
    Ok(EventLine {
        sequence: told.sequence,
        at: harmless(told.at),
        partition: harmless(told.partition),
        cycle: told.cycle,
        kind: harmless(told.kind),
        severity,
        text: harmless(told.text),
        by: Some(harmless(told.by)).filter(|by| !by.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_the_same_after_a_way_there_and_back() {
        let own = quietcore_control::samples::event(3);
        assert_eq!(event(own.clone().into()), Ok(own.clone()));
        let asked = EventLine { by: Some("anna".to_owned()), cycle: None, ..own };
        assert_eq!(event(asked.clone().into()), Ok(asked));
        assert!(event(v1::Event::default()).is_err());
    }
}
