//! Programs: what the compiler said, and what came of a deploy.

use quietcore_control::{Deployed, NotCarried, NotForced, Probation};
use quietcore_program::build::{Diagnostic, LeftOut, Severity};
use quietcore_program::{Build, BuildError};

use crate::v1;

impl From<&Build> for v1::BuildOutcome {
    fn from(build: &Build) -> Self {
        Self {
            succeeded: true,
            hash: build.hash.clone(),
            compiler: build.compiler.clone(),
            was_built_before: build.cached,
            problems: build.warnings.iter().map(Into::into).collect(),
            remarks: build.remarks.clone(),
            left_out: build.left_out.iter().map(Into::into).collect(),
            lines_left_out: 0,
        }
    }
}

impl From<&BuildError> for v1::BuildOutcome {
    fn from(error: &BuildError) -> Self {
        let (problems, remarks) = match error {
            // The compiler's own words are among the lines.
            BuildError::Refused { errors, lacks, .. } => {
                (errors.as_slice(), lacks.iter().map(ToString::to_string).collect())
            }
            BuildError::Oil { errors, .. } => (errors.as_slice(), Vec::new()),
            other => (&[][..], vec![quietcore_units::Causes(other).to_string()]),
        };
        let problems = problems.iter().map(Into::into).collect();
        Self { problems, remarks, ..Self::default() }
    }
}

impl From<&Diagnostic> for v1::CompilerRemark {
    fn from(said: &Diagnostic) -> Self {
        Self {
            is_error: said.severity == Severity::Error,
            file: said.file.clone(),
            line: said.line.unwrap_or_default(),
            column: said.column.unwrap_or_default(),
            message: said.message.clone(),
        }
    }
}

impl From<&LeftOut> for v1::LeftOutFile {
    fn from(LeftOut { file, why }: &LeftOut) -> Self {
        Self { file: file.clone(), why: why.clone() }
    }
}

impl From<Deployed> for v1::DeployedBuild {
    fn from(deployed: Deployed) -> Self {
        let carried = |NotCarried { variable, why }| v1::VariableReason { variable, why };
        let forced = |NotForced { variable, why }| v1::VariableReason { variable, why };
        let mut build = Self {
            generation: deployed.generation,
            cycle: deployed.cycle,
            gap_cycles: deployed.gap_cycles,
            release_ns: deployed.release.get(),
            carried: deployed.carried,
            tuned: deployed.tuned,
            not_carried_count: deployed.not_carried_count,
            not_carried: deployed.not_carried.into_iter().map(carried).collect(),
            not_forced: deployed.not_forced.into_iter().map(forced).collect(),
            ..Self::default()
        };
        match deployed.probation {
            Probation::Passed => build.set_probation(v1::Probation::Passed),
            Probation::Running { cycles, left } => {
                build.set_probation(v1::Probation::Running);
                (build.probation_cycles, build.probation_ns) = (cycles, left.get());
            }
            Probation::TakenBack { generation, why } => {
                build.set_probation(v1::Probation::TakenBack);
                (build.taken_back_to, build.why) = (generation, why);
            }
            Probation::Failed { why } => {
                build.set_probation(v1::Probation::Failed);
                build.why = why;
            }
        }
        build
    }
}

#[cfg(test)]
mod tests {
    use quietcore_control::samples::deployed;

    use super::*;

    #[test]
    fn a_deploy_keeps_its_figures_and_how_its_probation_ended() {
        let own = deployed();
        let told = v1::DeployedBuild::from(own.clone());
        assert_eq!((told.generation, told.cycle), (own.generation, own.cycle));
        assert_eq!(told.release_ns, own.release.get());
        assert_eq!(told.not_carried.len(), own.not_carried.len());
        let why = "it divided by zero".to_owned();
        let back = Probation::TakenBack { generation: 1, why: why.clone() };
        let told = v1::DeployedBuild::from(Deployed { probation: back, ..own });
        assert_eq!(told.probation(), v1::Probation::TakenBack);
        assert_eq!((told.taken_back_to, told.why), (1, why));
    }

    #[test]
    fn an_error_of_the_compiler_keeps_its_place() {
        let error = Diagnostic {
            severity: Severity::Error,
            file: "servo.c".to_owned(),
            line: Some(7),
            column: None,
            message: "expected `;`".to_owned(),
        };
        let text = "servo.c:7: error: expected `;`".to_owned();
        let refused = BuildError::Refused { lacks: Vec::new(), text, errors: vec![error] };
        let told = v1::BuildOutcome::from(&refused);
        assert!(!told.succeeded && told.problems[0].is_error);
        assert_eq!((&*told.problems[0].file, told.problems[0].line), ("servo.c", 7));
        let told = v1::BuildOutcome::from(&BuildError::NoOilAtAll);
        assert!(told.remarks[0].contains("no OIL file"), "{told:?}");
    }
}
