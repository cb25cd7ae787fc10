//! The remarks of a compiler, and the outcome of a deploy.

use quietcore_control::{Deployed, NotCarried, NotForced, Probation};
use quietcore_program::build::{LeftOut, left_out_told};
use quietcore_units::Nanos;

use super::{UnknownValue, all_harmless, harmless};
use crate::v1;

/// Reads what came of a deploy.
///
/// # Errors
/// [`UnknownValue`] for an outcome of the probation that this version does not know.
pub fn deployed(told: v1::DeployedBuild) -> Result<Deployed, UnknownValue> {
    let why = harmless(told.why.clone());
    let probation = match told.probation() {
        v1::Probation::Passed => Probation::Passed,
        v1::Probation::Running => Probation::Running {
            cycles: told.probation_cycles,
            left: Nanos::new(told.probation_ns),
        },
        v1::Probation::TakenBack => Probation::TakenBack { generation: told.taken_back_to, why },
        v1::Probation::Failed => Probation::Failed { why },
        v1::Probation::Unspecified => return Err(UnknownValue::of("an end of a probation")),
    };
    let reason = |it: v1::VariableReason| (harmless(it.variable), harmless(it.why));
    let carried = |it| {
        let (variable, why) = reason(it);
        NotCarried { variable, why }
    };
    let forced = |it| {
        let (variable, why) = reason(it);
        NotForced { variable, why }
    };
    Ok(Deployed {
        generation: told.generation,
        cycle: told.cycle,
        gap_cycles: told.gap_cycles,
        release: Nanos::new(told.release_ns),
        carried: told.carried,
        tuned: all_harmless(told.tuned),
        not_carried_count: told.not_carried_count,
        not_carried: told.not_carried.into_iter().map(carried).collect(),
        not_forced: told.not_forced.into_iter().map(forced).collect(),
        probation,
    })
}

/// Returns the reasons why a build has given no program, a line each; empty if it has.
pub fn build_problems(outcome: v1::BuildOutcome) -> Vec<String> {
    if outcome.succeeded {
        return Vec::new();
    }
    let errors = outcome.problems.into_iter().filter(|it| it.is_error).map(|it| {
        let numbers = [it.line, it.column].into_iter().filter(|it| *it > 0);
        let place = numbers.fold(it.file, |place, number| format!("{place}:{number}"));
        if place.is_empty() { it.message } else { format!("{place}: {}", it.message) }
    });
    all_harmless(errors.chain(outcome.remarks).collect())
}

/// Returns the remarks on a program that was built and the files that are left out of it, a line
/// each.
pub fn build_remarks(outcome: &v1::BuildOutcome) -> Vec<String> {
    let left_out = outcome.left_out.iter();
    let left_out: Vec<LeftOut> =
        left_out.map(|it| LeftOut { file: it.file.clone(), why: it.why.clone() }).collect();
    all_harmless(outcome.remarks.iter().cloned().chain(left_out_told(&left_out)).collect())
}

#[cfg(test)]
mod tests {
    use quietcore_control::samples;

    use super::*;

    #[test]
    fn a_deploy_is_the_same_after_a_way_there_and_back() {
        let why = || "it divided by zero".to_owned();
        for probation in [
            Probation::Passed,
            Probation::Running { cycles: 3, left: Nanos::from_millis(800) },
            Probation::TakenBack { generation: 1, why: why() },
            Probation::Failed { why: why() },
        ] {
            let not_forced = vec![NotForced { variable: "x".to_owned(), why: why() }];
            let own = Deployed { probation, not_forced, ..samples::deployed() };
            assert_eq!(deployed(own.clone().into()), Ok(own));
        }
        assert!(deployed(v1::DeployedBuild::default()).is_err());
    }

    #[test]
    fn a_build_that_failed_has_its_errors_with_their_places() {
        let said = |is_error, message: &str| v1::CompilerRemark {
            is_error,
            file: "servo.c".to_owned(),
            line: 7,
            column: 0,
            message: message.to_owned(),
        };
        let problems = vec![said(true, "expected `;`\u{7}"), said(false, "unused")];
        let mut outcome = v1::BuildOutcome { problems, ..v1::BuildOutcome::default() };
        assert_eq!(build_problems(outcome.clone()), ["servo.c:7: expected `;`\u{fffd}"]);
        outcome.succeeded = true;
        outcome.remarks.push("it reads `/plant/cfg.h`".to_owned());
        let main = v1::LeftOutFile { file: "main.c".to_owned(), why: "no\u{1b}".to_owned() };
        outcome.left_out.push(main);
        let remarks = ["it reads `/plant/cfg.h`", "left out: `main.c` (no\u{fffd})"];
        assert_eq!(build_remarks(&outcome), remarks);
        assert!(build_problems(outcome).is_empty());
    }
}
