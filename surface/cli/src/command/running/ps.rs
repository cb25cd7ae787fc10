//! `quietcore ps`

use quietcore_record::verdict::thousands;
use quietcore_report::table::{Side, Table};
use quietcore_supervisor::control::{Activity, PartitionState, Partitions, Reactions};
use quietcore_supervisor::places::{RunningSite, SiteDescription};
use quietcore_wording::{hanging, plural};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::site::reached;
use crate::arguments::Ps;
use crate::command;
use crate::command::distance::Reach;
use crate::status::{Failure, Status};
use crate::terminal::{self, visible};

/// The text of a cell without a value.
pub(super) const NONE: &str = "–";

/// The document that `ps --json` prints.
#[derive(serde::Serialize)]
struct Document {
    schema: &'static str,
    sites: Vec<SiteEntry>,
}

/// A running site, with its partitions.
struct SiteEntry {
    running: RunningSite,
    state: Partitions,
}

impl Serialize for SiteEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (of, Partitions { partitions, drift }) = (&self.running, &self.state);
        let described = of.description.as_ref();
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("site", &of.name)?;
        object.serialize_entry(
            "site_file",
            &described.map(|it| it.site_file.display().to_string()),
        )?;
        object.serialize_entry("pid", &described.map(|it| it.pid))?;
        object.serialize_entry("started_at", &described.map(|it| &it.started_at))?;
        object.serialize_entry("started_by", &described.map(|it| &it.started_by))?;
        object.serialize_entry("partitions", partitions)?;
        if !drift.is_empty() {
            object.serialize_entry("drift", drift)?;
        }
        object.end()
    }
}

pub(in crate::command) fn run(reach: &Reach, request: &Ps) -> Result<Status, Failure> {
    let sites: Vec<SiteEntry> = reached::sites(reach, request.site.name())?
        .into_iter()
        .map(|(running, state)| SiteEntry { running, state })
        .collect();
    let mut partitions = sites.iter().flat_map(|site| &site.state.partitions);
    let all_run = partitions.all(|partition| partition.state == Activity::Running);
    if request.json {
        command::print_json(&Document { schema: "quietcore.sites/1", sites })?;
    } else if sites.is_empty() {
        command::print("no site runs\n")?;
    } else {
        let columns = terminal::width();
        let texts: Vec<String> = sites.iter().map(|site| text(site, columns)).collect();
        command::print(&texts.join("\n"))?;
    }
    Ok(if all_run { Status::Done } else { Status::NotPassed })
}

/// Returns `true` if the state of a partition needs no explanation.
fn is_well(partition: &PartitionState) -> bool {
    matches!(partition.state, Activity::Running | Activity::Starting | Activity::Paused)
}

/// Returns a site as text, in lines of at most `columns` if words and names allow it.
fn text(SiteEntry { running, state }: &SiteEntry, columns: usize) -> String {
    let mut head = running.name.clone();
    if let Some(SiteDescription { site_file, pid, started_at, started_by, .. }) =
        &running.description
    {
        head.push_str(&format!(" ({}), process {pid}", site_file.display()));
        if let Some(by) = started_by {
            let (by, at) = (visible(&by.to_string()), super::events::moment(started_at));
            head.push_str(&format!("\nstarted by {by}, at {at}"));
        }
    }
    let mut lines = vec![head];
    lines.extend(table(&state.partitions).lines(columns, false));
    let troubled = state.partitions.iter().filter(|partition| !is_well(partition));
    lines.extend(troubled.map(|it| format!("{}: {}", it.name, visible(&it.state.to_string()))));
    lines.extend(state.partitions.iter().filter_map(shedding));
    lines.extend(state.partitions.iter().flat_map(drift));
    lines.extend(state.drift.iter().map(|text| visible(&format!("host: drift: {text}"))));
    hanging(&lines.join("\n"), columns, 2) + "\n"
}

/// Returns a line about how often and how fast load was shed for a partition.
fn shedding(partition: &PartitionState) -> Option<String> {
    let Reactions { count, min, median, max, .. } = partition.reactions?;
    Some(format!(
        "{}: load was shed for it {count} time{}, {min} to {max} after it was late, median \
         {median}",
        partition.name,
        plural(count)
    ))
}

/// Returns a line for each reservation that a partition should have and does not have.
fn drift(partition: &PartitionState) -> impl Iterator<Item = String> + '_ {
    partition.drift.iter().map(|text| visible(&format!("{}: drift: {text}", partition.name)))
}

/// Returns a table with a row per partition. Columns without content are left out.
fn table(partitions: &[PartitionState]) -> Table {
    let mut table = Table::new().leading("partition", Side::Left);
    let any = |is_told: fn(&PartitionState) -> bool| partitions.iter().any(is_told);
    let columns: Vec<Column> =
        COLUMNS.iter().filter(|column| any(column.is_told)).copied().collect();
    for column in &columns {
        table = table.column(column.name, column.side, 0);
    }
    for partition in partitions {
        let cells = columns.iter().map(|column| (column.cell)(partition));
        table.row(std::iter::once(partition.name.clone()).chain(cells));
    }
    table
}

/// A column to the right of the names.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    side: Side,
    cell: fn(&PartitionState) -> String,
    /// Returns `true` if the column has something to tell of the partition.
    is_told: fn(&PartitionState) -> bool,
}

const fn column(
    name: &'static str,
    side: Side,
    cell: fn(&PartitionState) -> String,
    is_told: fn(&PartitionState) -> bool,
) -> Column {
    Column { name, side, cell, is_told }
}

const COLUMNS: [Column; 12] = [
    column("backend", Side::Left, |it| it.backend.clone(), |_| true),
    column("state", Side::Left, |it| it.state.word().to_owned(), |_| true),
    column("period", Side::Right, |it| of_program(it, it.period.to_string()), |_| true),
    column("cycles", Side::Right, |it| of_program(it, thousands(it.cycles)), |_| true),
    column("missed", Side::Right, |it| of_program(it, thousands(it.missed_cycles)), |_| true),
    column("over", Side::Right, |it| of_program(it, thousands(it.overruns)), |_| true),
    column("worst", Side::Right, |it| of_program(it, it.release_max.to_string()), |_| true),
    column("CPU", Side::Right, cpu, |_| true),
    column("fieldbus", Side::Left, fieldbus, |it| it.fieldbus.is_some()),
    column("forced", Side::Right, |it| it.forces.to_string(), |it| it.forces > 0),
    column("build", Side::Right, |it| it.generation.to_string(), |it| it.generation > 1),
    column("restarts", Side::Right, |it| it.restarts.to_string(), |it| it.restarts > 0),
];

/// Returns a figure of a program; there is none of a guest with a system of its own.
pub(super) fn of_program(partition: &PartitionState, figure: String) -> String {
    if partition.has_program() { figure } else { NONE.to_owned() }
}

fn cpu(partition: &PartitionState) -> String {
    partition.cpu.map_or_else(|| NONE.to_owned(), |cpu| cpu.to_string())
}

/// Returns the fieldbus in few words: its state, the working counter if it is not as expected, and
/// the number of lost frames if there were any.
pub(super) fn fieldbus(partition: &PartitionState) -> String {
    let Some(bus) = &partition.fieldbus else { return NONE.to_owned() };
    let mut text = format!("{} ×{}", bus.state, bus.subdevices);
    if bus.working_counter != bus.working_counter_expected {
        text.push_str(&format!(" WKC {}/{}", bus.working_counter, bus.working_counter_expected));
    }
    if bus.lost_frames > 0 {
        text.push_str(&format!(" lost {}", thousands(bus.lost_frames)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_supervisor::fake;

    fn site() -> SiteEntry {
        let description = serde_json::json!({
            "schema": "", "site": "line", "pid": 4700, "site_file": "/sites/line.toml",
            "started_at": "2026-11-21T20:15:03Z", "partitions": [], "quietcore_version": "",
            "started_by": {
                "user": "root", "login": "anna", "folder": "/sites", "terminal": "pts/3",
                "session": 900, "command": "bash",
            },
        });
        let running = RunningSite {
            name: "line".to_owned(),
            socket: "".into(),
            description: serde_json::from_value(description).unwrap(),
        };
        let state = Partitions { partitions: fake::partitions(), drift: Vec::new() };
        SiteEntry { running, state }
    }

    #[test]
    fn what_runs_is_listed_with_who_started_it_and_what_does_not_says_why() {
        let site = site();
        let said = text(&site, 80);
        assert_eq!(said, include_str!("ps.txt"), "{said}");
        assert!(!site.state.partitions.iter().all(is_well));
        let mut calm = site;
        calm.state.partitions.truncate(1);
        let said = text(&calm, 80);
        assert!(!said.contains("restarts"), "there were none: {said}");
    }

    /// Goal: the widest figures that a partition can have fit, and none of them is left out.
    #[test]
    fn ps_fits_80_100_and_120_columns() {
        let mut site = site();
        for partition in &mut site.state.partitions {
            partition.name = "conveyor-of-the-second-line".to_owned();
            partition.cycles = 31_536_000_000;
            partition.missed_cycles = 1_234_567;
            partition.overruns = 7_654_321;
            partition.generation = 12;
            partition.restarts = 345;
            let bus = partition.fieldbus.as_mut();
            bus.into_iter().for_each(|it| (it.working_counter, it.lost_frames) = (5, 98_765));
        }
        for columns in [80, 100, 120] {
            let said = text(&site, columns);
            assert!(said.lines().all(|line| line.chars().count() <= columns), "{said}");
            for figure in ["31 536 000 000", "1 234 567", "WKC 5/7 lost 98 765", "345", "12"] {
                assert!(said.contains(figure), "{figure}: {said}");
            }
        }
    }

    #[test]
    fn what_a_partition_should_have_and_has_not_is_shown() {
        let mut site = site();
        let moved = "task `main`: the thread was pinned to CPU 1 and may run on 0,1";
        site.state.partitions[0].drift = vec![moved.to_owned()];
        let said = text(&site, 100);
        assert!(said.ends_with(&format!("axis: drift: {moved}\n")), "{said}");
        site.state.drift = vec!["CPU 1 is offline".to_owned()];
        let said = text(&site, 100);
        assert!(said.ends_with("may run on 0,1\nhost: drift: CPU 1 is offline\n"), "{said}");
    }

    #[test]
    fn a_working_counter_that_is_wrong_and_lost_frames_are_shown() {
        let mut partitions = quietcore_supervisor::fake::partitions();
        partitions[0].fieldbus.as_mut().unwrap().working_counter = 5;
        assert_eq!(fieldbus(&partitions[0]), "OP ×3 WKC 5/7");
        let bus = partitions[0].fieldbus.as_mut().unwrap();
        (bus.working_counter, bus.lost_frames) = (7, 1);
        assert_eq!(fieldbus(&partitions[0]), "OP ×3 lost 1");
    }
}
