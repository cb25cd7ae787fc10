//! Changes of access in the daemon's audit trail.
//!
//! The command line makes them without the daemon, and so enters them itself: the intention before,
//! the outcome after. It never removes entries, since the daemon knows how long they are kept.

use std::path::Path;

use quietcore_access::AccessError;
use quietcore_audit::{
    Intended, Intention, OnDisk, Outcome, Refusal, Retention, Trail, TrailError, Who,
};
use quietcore_host::Source;
use quietcore_host::running_partitions::user_name;
use quietcore_units::Causes;
use rustix::process::geteuid;
use serde_json::Value;

use crate::status::Failure;
use crate::terminal::say;

/// The treatment of a change whose intention the trail does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WithoutTrail {
    /// It is refused, as each change by the daemon is.
    Refused,
    /// It is made with a warning: a full disk must not keep anybody from taking access back.
    Made,
}

/// Makes a change with its intention and outcome in the trail of the daemon with this state. `act`
/// returns what was made, with the details of the outcome.
///
/// # Errors
/// Those of `act`; that of the trail, which says whether the change was made.
pub(super) fn entered<T>(
    (state, without): (&Path, WithoutTrail),
    (call, what): (&str, Value),
    act: impl FnOnce() -> Result<(T, Value), AccessError>,
) -> Result<T, Failure> {
    let longest = Retention::of_years(Retention::YEARS_MAX).unwrap_or_default();
    let mut trail = Trail::new(state, longest);
    let intended = match trail.intend(intention(call, what), OnDisk::BeforeTheChange) {
        Ok(intended) => Some(intended),
        Err(error) if without == WithoutTrail::Made => {
            say(format!("not in the audit trail: {}", Causes(&error)));
            None
        }
        Err(error) => return Err(error.into()),
    };
    match act() {
        Ok((made, what)) => {
            let told = conclude(&mut trail, intended, Outcome::Done(what));
            told.map_err(|error| {
                let why = Causes(&error);
                Failure::new(format!(
                    "`auth {call}` is done, and the audit trail lacks that: {why}"
                ))
            })?;
            Ok(made)
        }
        Err(error) => {
            let (kind, sentence) = ("REFUSED".to_owned(), Causes(&error).to_string());
            // The refusal is the answer, whether or not the trail takes it.
            let _ = conclude(&mut trail, intended, Outcome::Refused(Refusal { kind, sentence }));
            Err(error.into())
        }
    }
}

fn conclude(
    trail: &mut Trail,
    intended: Option<Intended>,
    outcome: Outcome,
) -> Result<(), TrailError> {
    intended.map_or(Ok(()), |intended| trail.conclude(intended, outcome).map(drop))
}

fn intention(call: &str, what: Value) -> Intention {
    let who = Who {
        user: user_name(&Source::live(), geteuid().as_raw()),
        program: "quietcore".to_owned(),
        via: "command line".to_owned(),
        ..Who::default()
    };
    Intention { who, call: format!("auth {call}"), what, ..Intention::default() }
}
