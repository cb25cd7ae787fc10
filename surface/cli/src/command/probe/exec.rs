//! `quietcore probe exec`

use quietcore_campaign::probe::Probe as _;
use quietcore_campaign::probe::exec::{Exec as Probe, ExecRequest};
use quietcore_record::{compare, published};
use quietcore_report::comparison;
use quietcore_site::{Length, Site};
use quietcore_units::Nanos;

use super::{CYCLES_MAX, RUN_MAX, by_hand, load};
use crate::arguments::Exec;
use crate::files::{self, SiteFile};
use crate::programs;
use crate::status::{Failure, Status};
use crate::{finish, machine, terminal};

/// The name of this probe in its records.
const PROBE: &str = "exec";

pub(super) fn run(request: &Exec) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let SiteFile { site, sha256, .. } = files::read_site(&request.site)?;
    let length = length(request, &site)?;
    let table = request.with.as_deref().map(published::find).transpose()?;
    table.map_or(Ok(()), |table| compare::stands_beside(PROBE, table))?;
    let facts = machine::read_facts(&stop)?;
    super::super::plan::make_run(&site, &facts)?;
    let built = programs::build(&site, programs::folder_of(&request.site))?;
    let loads: Result<Vec<_>, _> = request.load.iter().map(|text| load(text)).collect();
    let wanted = ExecRequest {
        partition: request.partition.clone(),
        is_pinned: !request.unpinned,
        length,
        warm_up: request.warm_up,
        loads: loads.map_err(Failure::new)?,
        explain: request.explain,
    };
    let mut probe = Probe::of_site(&site, &sha256, &built.programs, wanted);
    let evidence = by_hand(&mut probe, &facts, &stop, request.out.as_deref())?;
    super::super::show::print_evidence(&evidence, request.json)?;
    if let Some(table) = table {
        let beside = finish::beside(&evidence.records, table)?;
        super::super::print(&comparison::beside(&beside, terminal::width()))?;
    }
    Ok(Status::of(probe.is_passed(&evidence.records)))
}

/// Returns the length of the measurement; all problems of the request become one failure.
fn length(request: &Exec, site: &Site) -> Result<Length, Failure> {
    let mut problems = Vec::new();
    let with_program = |name: Option<&String>| {
        let chosen = |partition: &&quietcore_site::Partition| {
            name.is_none_or(|name| *name == partition.name) && partition.program.model.is_some()
        };
        site.partitions().iter().filter(chosen).map(|it| it.name.as_str()).collect::<Vec<_>>()
    };
    if with_program(request.partition.as_ref()).is_empty() {
        let all = with_program(None);
        problems.push(match (&request.partition, all.is_empty()) {
            (_, true) => "no partition of the site has a `model`; `probe latency` measures a CPU \
                          without one"
                .to_owned(),
            (name, false) => format!(
                "--partition {}: no partition with a program; there are {}",
                name.as_deref().unwrap_or_default(),
                all.join(", ")
            ),
        });
    }
    let cycles = request.cycles.unwrap_or(1);
    if !(1..=CYCLES_MAX).contains(&cycles) {
        problems.push(format!("--cycles {cycles}: out of range; give 1 to {CYCLES_MAX}"));
    }
    let longest = site.partitions().iter().map(|partition| partition.program.period).max();
    let longest = longest.unwrap_or_default();
    let length = request.cycles.map_or(Length::Duration(request.duration), Length::Cycles);
    let whole = length.duration(longest).get().saturating_add(request.warm_up.get());
    if whole > RUN_MAX.get() {
        problems.push(format!("it would take {}; give at most {RUN_MAX}", Nanos::new(whole)));
    }
    if length.duration(longest) < longest {
        problems.push(format!(
            "--duration {}: shorter than a cycle of {longest}; give more",
            request.duration
        ));
    }
    if problems.is_empty() { Ok(length) } else { Err(Failure::new(problems.join("\n"))) }
}
