//! Refusals as gRPC statuses, and back.
//!
//! The message of a status is the sentence that a person reads on the command line. Beside it goes
//! an `ErrorInfo` of `google.rpc`, by which a program knows the refusal: its kind as `reason`, and
//! its parts as metadata.

use std::collections::HashMap;

use quietcore_control::{ControlError, ErrorKind};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

/// Domain of the `reason` in the details of a status.
pub const DOMAIN: &str = "quietcore";

/// The longest text of a refusal that is sent, in characters: the text goes into a header, whose
/// size is limited, and a compiler may write much.
pub const TEXT_CHARS_MAX: usize = 1500;

/// Names of the parts of a refusal in the metadata of its details.
const WHAT: &str = "what";
const WHERE: &str = "where";
const REMEDY: &str = "remedy";

/// Returns the code of each kind of refusal, and its name in the details.
const fn known(kind: ErrorKind) -> (Code, &'static str) {
    match kind {
        ErrorKind::BadRequest => (Code::InvalidArgument, "BAD_REQUEST"),
        ErrorKind::NoPartition => (Code::NotFound, "NO_PARTITION"),
        ErrorKind::NoChannel => (Code::NotFound, "NO_CHANNEL"),
        ErrorKind::NoVariable => (Code::NotFound, "NO_VARIABLE"),
        ErrorKind::BadValue => (Code::InvalidArgument, "BAD_VALUE"),
        ErrorKind::NotWritable => (Code::FailedPrecondition, "NOT_WRITABLE"),
        ErrorKind::Busy => (Code::Aborted, "BUSY"),
        ErrorKind::NotNow => (Code::FailedPrecondition, "NOT_NOW"),
        ErrorKind::Build => (Code::FailedPrecondition, "BUILD"),
        ErrorKind::TakenBack => (Code::Aborted, "TAKEN_BACK"),
        ErrorKind::Failed => (Code::Internal, "FAILED"),
    }
}

const KINDS: [ErrorKind; 11] = [
    ErrorKind::BadRequest,
    ErrorKind::NoPartition,
    ErrorKind::NoChannel,
    ErrorKind::NoVariable,
    ErrorKind::BadValue,
    ErrorKind::NotWritable,
    ErrorKind::Busy,
    ErrorKind::NotNow,
    ErrorKind::Build,
    ErrorKind::TakenBack,
    ErrorKind::Failed,
];

/// Makes the status of a refusal. Texts are cut to [`TEXT_CHARS_MAX`].
pub fn status(refused: &ControlError) -> Status {
    let (code, reason) = known(refused.kind);
    let part = |name: &str, text: &str| (name.to_owned(), cut(text));
    let parts = HashMap::from([
        part(WHAT, &refused.what),
        part(WHERE, &refused.place),
        part(REMEDY, &refused.remedy),
    ]);
    let details = ErrorDetails::with_error_info(reason, DOMAIN, parts);
    Status::with_error_details(code, cut(&refused.to_string()), details)
}

/// Reads the refusal out of a status; `None` if it is none of ours.
pub fn refused(status: &Status) -> Option<ControlError> {
    let mut info = status.get_details_error_info().filter(|info| info.domain == DOMAIN)?;
    let kind = KINDS.into_iter().find(|kind| known(*kind).1 == info.reason)?;
    let mut part = |name: &str| info.metadata.remove(name).unwrap_or_default();
    Some(ControlError::new(kind, part(WHERE), part(WHAT), part(REMEDY)))
}

/// Returns the reason of a status for programs: the kind of a refusal of ours, such as
/// `NO_VARIABLE`, else the name of its code, such as `UNAVAILABLE`.
pub fn reason(status: &Status) -> String {
    let info = status.get_details_error_info().filter(|info| info.domain == DOMAIN);
    info.map_or_else(|| name_of(status.code()), |info| info.reason)
}

/// Returns the name of a code as the specification of gRPC writes it.
fn name_of(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_the_same_after_a_way_there_and_back() {
        for kind in KINDS {
            let own = ControlError::new(kind, "axis", "it does not run", "start it");
            let sent = status(&own);
            assert_eq!(sent.message(), "axis: it does not run; start it");
            assert_eq!(refused(&sent), Some(own));
        }
        assert_eq!(refused(&Status::internal("of somebody else")), None);
    }

    #[test]
    fn a_status_has_a_reason_whoever_made_it() {
        let own = status(&ControlError::new(ErrorKind::NoVariable, "x", "there is none", ""));
        assert_eq!(reason(&own), "NO_VARIABLE");
        assert_eq!(reason(&Status::failed_precondition("")), "FAILED_PRECONDITION");
        assert_eq!(reason(&Status::unavailable("")), "UNAVAILABLE");
    }

    #[test]
    fn each_kind_has_its_own_name() {
        let mut names: Vec<&str> = KINDS.iter().map(|kind| known(*kind).1).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
    }

    #[test]
    fn what_a_compiler_writes_is_cut_between_two_characters() {
        let long = "ä".repeat(TEXT_CHARS_MAX + 1);
        let sent = status(&ControlError::new(ErrorKind::Build, "", long, ""));
        assert_eq!(sent.message().chars().count(), TEXT_CHARS_MAX + 1);
        assert!(sent.message().ends_with('…'));
        let exact = "ä".repeat(TEXT_CHARS_MAX);
        assert_eq!(cut(&exact), exact);
    }
}
