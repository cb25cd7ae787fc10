//! Changes of variables and restarts: asked for, and their outcome.

use quietcore_control::{
    Applied, AppliedChange, Change, ChangeKind, ControlError, Effect, ErrorKind, History, Restart,
    WhyNoEffect,
};

use crate::v1;

/// Reads a change that a client asks for.
///
/// # Errors
/// [`ControlError`] if it does not say what is to be done.
pub fn change(asked: v1::Change) -> Result<Change, ControlError> {
    let kind = match asked.kind() {
        v1::ChangeKind::Set => ChangeKind::Set,
        v1::ChangeKind::Force => ChangeKind::Force,
        v1::ChangeKind::Unforce => ChangeKind::Unforce,
        v1::ChangeKind::Unspecified => {
            let remedy = "give `CHANGE_KIND_SET`, `CHANGE_KIND_FORCE` or `CHANGE_KIND_UNFORCE`";
            let what = "the change has no kind, or one that this version does not know";
            return Err(ControlError::new(ErrorKind::BadRequest, asked.variable, what, remedy));
        }
    };
    let v1::Change { variable, value, allow_nan, .. } = asked;
    Ok(Change { kind, variable, value, allow_nan })
}

/// Reads the part of its past that a program is to keep; warm where nothing is said.
///
/// # Errors
/// [`ControlError`] for a kind that this version does not know.
pub fn restart(kind: i32) -> Result<Restart, ControlError> {
    match v1::RestartKind::try_from(kind) {
        Ok(v1::RestartKind::Warm | v1::RestartKind::Unspecified) => Ok(Restart::Warm),
        Ok(v1::RestartKind::Cold) => Ok(Restart::Cold),
        Ok(v1::RestartKind::Origin) => Ok(Restart::Origin),
        Err(_) => Err(ControlError::new(
            ErrorKind::BadRequest,
            "kind",
            format!("there is no kind {kind} of a restart"),
            "give a `RESTART_KIND_…` of the contract",
        )),
    }
}

impl From<Change> for v1::Change {
    fn from(change: Change) -> Self {
        let kind = match change.kind {
            ChangeKind::Set => v1::ChangeKind::Set,
            ChangeKind::Force => v1::ChangeKind::Force,
            ChangeKind::Unforce => v1::ChangeKind::Unforce,
        };
        let Change { variable, value, allow_nan, .. } = change;
        Self { kind: kind.into(), variable, value, allow_nan }
    }
}

impl From<Effect> for v1::Effect {
    fn from(effect: Effect) -> Self {
        let without_effect = match effect.without_effect {
            None => v1::WhyNoEffect::Unspecified,
            Some(WhyNoEffect::HeldByForce) => v1::WhyNoEffect::HeldByForce,
            Some(WhyNoEffect::WrittenByFieldbus) => v1::WhyNoEffect::WrittenByFieldbus,
            Some(WhyNoEffect::WrittenByProgram) => v1::WhyNoEffect::WrittenByProgram,
            Some(WhyNoEffect::NotForced) => v1::WhyNoEffect::NotForced,
        };
        Self {
            change: Some(effect.change.into()),
            old: effect.old,
            new: effect.new,
            without_effect: without_effect.into(),
        }
    }
}

impl From<Applied> for v1::WriteVariablesResponse {
    fn from(Applied { cycle, effects }: Applied) -> Self {
        Self { cycle, effects: effects.into_iter().map(Into::into).collect() }
    }
}

impl From<Applied> for v1::UnforceAllResponse {
    fn from(Applied { cycle, effects }: Applied) -> Self {
        Self { cycle, effects: effects.into_iter().map(Into::into).collect() }
    }
}

impl From<AppliedChange> for v1::AppliedChange {
    fn from(change: AppliedChange) -> Self {
        Self {
            sequence: change.sequence,
            partition: change.partition,
            cycle: change.cycle,
            by: change.by.to_string(),
            effect: Some(change.effect.into()),
        }
    }
}

impl From<History> for v1::ListChangesResponse {
    fn from(History { changes, next }: History) -> Self {
        Self { changes: changes.into_iter().map(Into::into).collect(), next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_the_same_after_a_way_there_and_back() {
        for kind in [ChangeKind::Set, ChangeKind::Force, ChangeKind::Unforce] {
            for value in [None, Some("2.5".to_owned())] {
                let own =
                    Change { kind, variable: "servo_P.Kp".to_owned(), value, allow_nan: true };
                assert_eq!(change(own.clone().into()), Ok(own));
            }
        }
    }

    #[test]
    fn a_change_without_a_kind_is_refused_and_names_its_variable() {
        for kind in [0, 77] {
            let asked = v1::Change { kind, variable: "x".to_owned(), ..v1::Change::default() };
            let refused = change(asked).unwrap_err();
            assert_eq!((refused.kind, refused.place.as_str()), (ErrorKind::BadRequest, "x"));
        }
    }

    #[test]
    fn a_restart_is_warm_unless_it_says_otherwise() {
        assert_eq!(restart(0), Ok(Restart::Warm));
        assert_eq!(restart(v1::RestartKind::Warm.into()), Ok(Restart::Warm));
        assert_eq!(restart(v1::RestartKind::Cold.into()), Ok(Restart::Cold));
        assert_eq!(restart(v1::RestartKind::Origin.into()), Ok(Restart::Origin));
        assert_eq!(restart(4).unwrap_err().kind, ErrorKind::BadRequest);
    }
}
