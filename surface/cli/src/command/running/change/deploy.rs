//! `quietcore deploy`

use std::fmt::Write as _;

use quietcore_record::verdict::thousands;
use quietcore_supervisor::control::{DeployPatience, Deployed, NotForced, Probation, Verb};
use serde::Serialize;

use super::super::site::reached::Reached;
use crate::arguments::Deploy;
use crate::command;
use crate::command::distance::Reach;
use crate::status::{Failure, Status};
use crate::terminal::visible;

/// The largest number of variables of each kind that are named on the terminal.
const NAMED_MAX: usize = 20;

/// The document that `deploy --json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    partition: &'a str,
    #[serde(flatten)]
    deployed: &'a Deployed,
}

pub(in crate::command) fn run(reach: &Reach, request: &Deploy) -> Result<Status, Failure> {
    let folder = request.folder.canonicalize().map_err(|error| {
        Failure::new(format_args!("quietcore: `{}`: {error}", request.folder.display()))
    })?;
    let (site, partition) = Reached::of_partition(reach, &request.of)?;
    let mut progress = |line: &str| crate::terminal::say(line);
    let deployed = match site {
        Reached::Here(mut client) => {
            let patience = match request.no_wait {
                true => DeployPatience::UntilItRuns,
                false => DeployPatience::UntilProven,
            };
            let deploy = Verb::deploy(folder, patience);
            client.ask_hearing(&partition, deploy, &mut progress)?
        }
        Reached::There { remote, site } => {
            let place = (site.as_str(), partition.as_str());
            remote.deploy(place, &folder, request.no_wait, &mut progress)?
        }
    };
    if request.json {
        let schema = "quietcore.deployed/1";
        let document = Document { schema, partition: &partition, deployed: &deployed };
        command::print_json(&document)?;
    } else {
        command::print_lines(&text(&partition, &deployed))?;
    }
    Ok(match deployed.probation {
        Probation::Passed | Probation::Running { .. } => Status::Done,
        Probation::TakenBack { .. } | Probation::Failed { .. } => Status::NotPassed,
    })
}

fn text(partition: &str, deployed: &Deployed) -> String {
    let (generation, cycle) = (deployed.generation, thousands(deployed.cycle));
    let taken_back = |what: &str, why: &str| {
        format!(
            "{partition}: build {generation} ran from cycle {cycle} and {what}\n  {}\n",
            visible(why)
        )
    };
    match &deployed.probation {
        Probation::TakenBack { generation: before, why } => {
            taken_back(&format!("was taken back; build {before} runs"), why)
        }
        Probation::Failed { why } => {
            taken_back("failed; there was no sound build to go back to", why)
        }
        Probation::Passed => good(partition, deployed, "has passed its probation"),
        Probation::Running { cycles: 0, .. } => good(partition, deployed, "is on probation"),
        Probation::Running { cycles, left } => {
            let still =
                format!("is on probation for another {left} ({} cycles)", thousands(*cycles));
            good(partition, deployed, &still)
        }
    }
}

/// Returns the text about a build that runs; `standing` is what is known of its probation.
fn good(partition: &str, deployed: &Deployed, standing: &str) -> String {
    let Deployed { generation, cycle, gap_cycles, release, carried, .. } = deployed;
    let cycle = thousands(*cycle);
    let gap = match gap_cycles {
        0 => "no cycle was lost".to_owned(),
        1 => "1 cycle was lost".to_owned(),
        lost => format!("{lost} cycles were lost"),
    };
    let anew = match deployed.not_carried_count {
        1 => "1 begins".to_owned(),
        count => format!("{count} begin"),
    };
    let mut text = format!(
        "{partition}: build {generation} runs since cycle {cycle} and {standing}\n{gap}; its first \
         release was {release} late\n{carried} variables carried over, {anew} anew\n"
    );
    for NotForced { variable, why } in &deployed.not_forced {
        writeln!(text, "  {variable}: is not forced any more: {why}")
            .expect("writing to a string cannot fail");
    }
    for variable in deployed.tuned.iter().take(NAMED_MAX) {
        writeln!(text, "  {variable}: keeps the value that was set by hand")
            .expect("writing to a string cannot fail");
    }
    for anew in deployed.not_carried.iter().take(NAMED_MAX) {
        writeln!(text, "  {}: {}", anew.variable, anew.why)
            .expect("writing to a string cannot fail");
    }
    let shown = deployed.not_carried.len().min(NAMED_MAX) as u64;
    if deployed.not_carried_count > shown {
        let more = deployed.not_carried_count - shown;
        writeln!(text, "  … and {more} more; see --json").expect("writing to a string cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_and_what_begins_anew_is_said() {
        let deployed = quietcore_supervisor::fake::deployed();
        assert_eq!(
            text("axis", &deployed),
            "axis: build 2 runs since cycle 70\u{202f}001 and has passed its probation\nno cycle \
             was lost; its first release was 23.0 µs late\n41 variables carried over, 1 begins \
             anew\n  \
             servo_P.Kp: keeps the value that was set by hand\n  servo_DW.filter: its type was \
             f64[2] and is f64[3]\n"
        );
        let many = vec![deployed.not_carried[0].clone(); 30];
        let deployed =
            Deployed { gap_cycles: 2, not_carried: many, not_carried_count: 500, ..deployed };
        let said = text("axis", &deployed);
        assert!(said.contains("2 cycles were lost"), "{said}");
        assert!(said.ends_with("… and 480 more; see --json\n"), "{said}");
    }

    #[test]
    fn what_became_of_its_probation_is_said_first() {
        let said = |probation| {
            let not_forced = NotForced { variable: "servo_P.Kp".into(), why: "gone".into() };
            let deployed = quietcore_supervisor::fake::deployed();
            text("axis", &Deployed { probation, not_forced: vec![not_forced], ..deployed })
        };
        let why = || "the program crashed".to_owned();
        assert_eq!(
            said(Probation::TakenBack { generation: 1, why: why() }),
            "axis: build 2 ran from cycle 70\u{202f}001 and was taken back; build 1 runs\n  the \
             program crashed\n"
        );
        let failed = said(Probation::Failed { why: why() });
        assert!(failed.contains("no sound build to go back to\n  the program crashed"), "{failed}");
        let left = quietcore_units::Nanos::from_millis(800);
        let running = said(Probation::Running { cycles: 160, left });
        assert!(running.contains("is on probation for another 800 ms (160 cycles)"), "{running}");
        assert!(running.contains("servo_P.Kp: is not forced any more: gone"), "{running}");
    }
}
