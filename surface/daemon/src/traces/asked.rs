//! A trace as a client asks for it, checked before a site is asked.

use quietcore_api::v1;
use quietcore_exchange::TRACE_VARIABLES_MAX;
use quietcore_supervisor::recording::{Length, Prepared, RecordingRequest};
use quietcore_supervisor::trigger::Trigger;

use crate::failure::CallError;
use crate::service::check_patterns;

/// The most windows of a trace.
pub const TRACE_WINDOWS_MAX: u32 = 1000;
/// The most bytes of the rows of a trace.
pub const TRACE_BYTES_MAX: u64 = 16 << 20;
/// The longest condition of a trigger, in bytes.
const TRIGGER_BYTES_MAX: usize = 1024;

/// Bytes of a row: its cycle and its time, and each value.
fn row_bytes(variables: usize) -> u64 {
    16 + 8 * variables as u64
}

/// A trace whose settings are within the limits.
#[derive(Clone, Debug)]
pub(crate) struct CheckedTrace {
    pub(crate) site: String,
    pub(crate) partition: String,
    pub(crate) recording: RecordingRequest,
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) windows: u32,
}

impl CheckedTrace {
    /// Checks what a client asks for.
    ///
    /// # Errors
    /// [`CallError::Argument`], which names the field.
    pub(crate) fn of(asked: v1::StartTraceRequest) -> Result<Self, CallError> {
        let refuse = |told: String| Err(CallError::Argument(told));
        let v1::StartTraceRequest { before, after, .. } = asked;
        check_patterns(&asked.variables)?;
        if asked.variables.is_empty() {
            return refuse(format!(
                "variables: name 1 to {TRACE_VARIABLES_MAX}, by path or by pattern"
            ));
        }
        if after == 0 {
            return refuse("after: 0; give 1 or more, the sample of the trigger".to_owned());
        }
        let windows = asked.windows.max(1);
        if windows > TRACE_WINDOWS_MAX {
            return refuse(format!("windows: {windows}; give {TRACE_WINDOWS_MAX} at most"));
        }
        let trigger = trigger(&asked.trigger)?;
        if trigger.is_none() && before > 0 {
            return refuse(format!("before: {before}; without a trigger nothing is before it"));
        }
        let recording = RecordingRequest {
            variables: asked.variables,
            every: asked.every.max(1),
            task: asked.task,
            trigger,
            pre_percent: 0,
            length: Length::Around { before, after },
        };
        let (site, partition) = (asked.site, asked.partition);
        let checked = Self { site, partition, recording, before, after, windows };
        // The variables are not counted yet; one is the least.
        checked.check_size(1)?;
        Ok(checked)
    }

    /// Refuses rows that would take too many bytes.
    ///
    /// # Errors
    /// [`CallError::Argument`].
    pub(super) fn check_size(&self, variables: usize) -> Result<(), CallError> {
        let samples = self.before.saturating_add(self.after);
        let rows = samples.saturating_mul(u64::from(self.windows));
        let bytes = rows.saturating_mul(row_bytes(variables));
        if bytes <= TRACE_BYTES_MAX {
            return Ok(());
        }
        Err(CallError::Argument(format!(
            "before, after, windows: {rows} rows of {variables} variables take {bytes} bytes; \
             {TRACE_BYTES_MAX} are kept at most, so ask for fewer, or for each {}th cycle",
            self.recording.every.saturating_mul(10)
        )))
    }

    /// Describes the trace as it begins.
    pub(super) fn described(&self, prepared: &Prepared) -> v1::Trace {
        let trigger = self.recording.trigger.as_ref().map(ToString::to_string);
        v1::Trace {
            partition: self.partition.clone(),
            task: prepared.task().to_owned(),
            variables: prepared.columns().iter().map(super::rows::variable).collect(),
            every: self.recording.every,
            trigger: trigger.unwrap_or_default(),
            before: self.before,
            after: self.after,
            windows: self.windows,
            state: v1::TraceState::Armed.into(),
            sample_period_ns: prepared.sample_period().get(),
            ..v1::Trace::default()
        }
    }
}

/// Reads the condition of a trigger; `None` if it is empty.
fn trigger(text: &str) -> Result<Option<Trigger>, CallError> {
    let refuse = |told: String| CallError::Argument(told);
    match text.len() {
        0 => Ok(None),
        1..=TRIGGER_BYTES_MAX => {
            let read = text.parse::<Trigger>();
            Ok(Some(read.map_err(|error| refuse(format!("trigger: {error}")))?))
        }
        bytes => Err(refuse(format!("trigger: {bytes} bytes; it may have {TRIGGER_BYTES_MAX}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> v1::StartTraceRequest {
        v1::StartTraceRequest {
            partition: "axis".to_owned(),
            variables: vec!["servo_P.*".to_owned()],
            after: 10,
            ..v1::StartTraceRequest::default()
        }
    }

    fn refused(asked: v1::StartTraceRequest) -> String {
        CheckedTrace::of(asked).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_is_left_out_is_one_window_of_each_cycle() {
        let checked = CheckedTrace::of(asked()).expect("a trace");
        assert_eq!((checked.windows, checked.recording.every), (1, 1));
        assert_eq!(checked.recording.trigger, None);
    }

    #[test]
    fn settings_beyond_a_limit_are_refused_by_name() {
        let none = v1::StartTraceRequest { variables: Vec::new(), ..asked() };
        assert!(refused(none).starts_with("variables: name 1 to 64"));
        let nothing = v1::StartTraceRequest { after: 0, ..asked() };
        assert!(refused(nothing).starts_with("after: 0"));
        let many = v1::StartTraceRequest { windows: TRACE_WINDOWS_MAX + 1, ..asked() };
        assert!(refused(many).starts_with("windows: 1001"));
        let before = v1::StartTraceRequest { before: 3, ..asked() };
        assert!(refused(before).starts_with("before: 3"));
        let trigger = v1::StartTraceRequest { trigger: "rising".to_owned(), ..asked() };
        assert!(CheckedTrace::of(trigger).is_ok(), "a variable may have this name");
        let trigger = v1::StartTraceRequest { trigger: "x >".to_owned(), ..asked() };
        assert!(refused(trigger).starts_with("trigger: "));
        let trigger = v1::StartTraceRequest { trigger: "x".repeat(1025), ..asked() };
        assert!(refused(trigger).starts_with("trigger: 1025 bytes"));
        let long = v1::StartTraceRequest { after: u64::MAX, windows: 1000, ..asked() };
        assert!(refused(long).contains("16777216 are kept at most"));
    }

    #[test]
    fn rows_are_limited_with_the_variables_that_the_patterns_choose() {
        let after = TRACE_BYTES_MAX / row_bytes(2);
        let checked = CheckedTrace::of(v1::StartTraceRequest { after, ..asked() });
        let checked = checked.expect("a trace");
        assert!(checked.check_size(2).is_ok());
        assert!(checked.check_size(3).is_err());
    }
}
