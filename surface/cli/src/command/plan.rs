//! `quietcore plan`

pub(super) mod shared;

use std::fmt::Write as _;

use quietcore_host::boot::{BootAdvice, BootLoader};
use quietcore_host::{Facts, Source};
use quietcore_site::{Degradation, LeftOut, Site, Turns};
use quietcore_supervisor::shared_cpus;
use quietcore_units::Nanos;
use serde::Serialize;

use crate::arguments::Plan;
use crate::files::{self, SiteFile};
use crate::machine;
use crate::programs::{self, CheckedProgram, turns};
use crate::status::{Failure, Status};
use shared::SharedEntry;

/// The document that `plan --json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    site: &'a str,
    expected_ns: u64,
    steps: Vec<String>,
    monitored: Vec<String>,
    degraded: Vec<String>,
    left_out: Vec<LeftOutEntry<'a>>,
    programs: &'a [CheckedProgram],
    problems: &'a [String],
    shared_cpus: Vec<SharedEntry>,
    only_at_boot: BootAdvice,
}

/// A partition that a campaign leaves out, as `plan --json` prints it.
#[derive(Serialize)]
struct LeftOutEntry<'a> {
    partition: &'a str,
    profiles: &'a [String],
    because: String,
}

impl<'a> From<&'a LeftOut> for LeftOutEntry<'a> {
    fn from(left_out: &'a LeftOut) -> Self {
        let LeftOut { partition, profiles, .. } = left_out;
        Self { partition, profiles, because: left_out.because() }
    }
}

pub(super) fn run(request: &Plan) -> Result<Status, Failure> {
    let SiteFile { site, .. } = files::read_site(&request.site)?;
    let facts = machine::read_facts(&*machine::stop_flag()?)?;
    let checked = programs::check(&site, &request.site)?;
    for problem in checked.problems.iter().filter(|_| !request.json) {
        crate::terminal::say(problem);
    }
    let turns = turns::on(&site, &facts, programs::folder_of(&request.site))?;
    let plan = make(&site, turns, &facts);
    let shared_cpus = shared_cpus::shared_now(&site);
    let status = if checked.problems.is_empty() { Status::Done } else { Status::NotPassed };
    let only_at_boot = BootAdvice::of(&site, &facts, BootLoader::find(&Source::live()));
    if request.json {
        super::print_json(&Document {
            schema: "quietcore.plan/1",
            site: site.name(),
            expected_ns: plan.expected.get(),
            steps: plan.steps.iter().map(ToString::to_string).collect(),
            monitored: plan.monitored.iter().map(ToString::to_string).collect(),
            degraded: plan.degraded.iter().map(ToString::to_string).collect(),
            left_out: plan.left_out.iter().map(LeftOutEntry::from).collect(),
            programs: &checked.found,
            problems: &checked.problems,
            shared_cpus: shared_cpus.iter().map(SharedEntry::from).collect(),
            only_at_boot,
        })?;
        return Ok(status);
    }
    if status != Status::Done {
        return Ok(status);
    }
    let mut text = String::new();
    for (number, step) in (1..).zip(&plan.steps) {
        writeln!(text, "{number:>3}. {step}").expect("writing to a string cannot fail");
    }
    if !checked.found.is_empty() {
        text.push_str("\nPrograms, built and every name found:\n");
    }
    for found in &checked.found {
        writeln!(text, "  `{}` is {}", found.model, found.taken_for)
            .expect("writing to a string cannot fail");
    }
    if !plan.monitored.is_empty() {
        text.push_str("\nWhile the site is up:\n");
    }
    for monitored in &plan.monitored {
        writeln!(text, "  {monitored}").expect("writing to a string cannot fail");
    }
    let expected: Nanos = plan.expected;
    writeln!(text, "\nThis takes about {expected}. Nothing has been done yet.")
        .expect("writing to a string cannot fail");
    if !only_at_boot.is_empty() {
        write!(text, "\n{only_at_boot}").expect("writing to a string cannot fail");
    }
    super::print_lines(&text)?;
    remark(&site, &plan);
    shared::remark(&shared_cpus);
    Ok(Status::Done)
}

/// Plans these turns of a site for a machine.
pub(super) fn make(site: &Site, turns: Turns, facts: &Facts) -> quietcore_site::Plan {
    quietcore_site::plan_turns(site, turns, &facts.machine())
}

/// Checks that a site can run on a machine, whatever its campaign asks for.
pub(super) fn make_run(site: &Site, facts: &Facts) -> Result<Vec<Degradation>, Failure> {
    quietcore_site::plan_run(site, &facts.machine()).map_err(|it| turns::refused(&it))
}

/// Prints the remarks on a site file and on this machine to standard error, and what a campaign
/// leaves out.
pub(super) fn remark(site: &Site, plan: &quietcore_site::Plan) {
    remark_site(site, &plan.degraded);
    turns::say_left_out(&plan.left_out);
}

/// Prints the remarks on a site file that is not measured by its campaign.
pub(super) fn remark_site(site: &Site, degraded: &[Degradation]) {
    for remark in site.remarks() {
        crate::terminal::say(format_args!("remark: {remark}"));
    }
    remark_degraded(degraded);
}

/// Prints the remarks on this machine alone.
pub(super) fn remark_degraded(degraded: &[Degradation]) {
    for degraded in degraded {
        crate::terminal::say(format_args!("degraded: {degraded}"));
    }
}
