//! `quietcore ps`

use quietcore_record::verdict::thousands;
use quietcore_report::table::{Side, Table};
use quietcore_supervisor::control::{Activity, PartitionState, Reactions};
use quietcore_supervisor::places::{RunningSite, StartedBy};
use quietcore_wording::{hanging, plural};
use serde::Serialize;

use super::site;
use crate::arguments::Ps;
use crate::command;
use crate::status::{Failure, Status};
use crate::terminal::{self, visible};

/// What stands where there is nothing.
pub(super) const NONE: &str = "–";

/// What `ps --json` prints.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    sites: Vec<SiteEntry>,
}

/// A running site.
#[derive(Serialize)]
struct SiteEntry {
    site: String,
    site_file: Option<String>,
    pid: Option<u32>,
    started_at: Option<String>,
    started_by: Option<StartedBy>,
    partitions: Vec<PartitionState>,
}

pub(in crate::command) fn run(request: &Ps) -> Result<Status, Failure> {
    let mut sites = Vec::new();
    for running in site::all_or_named(request.site.name())? {
        if let Some(mut client) = site::connect(&running)? {
            sites.push(entry(running, client.list()?));
        }
    }
    let mut partitions = sites.iter().flat_map(|site| &site.partitions);
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

/// Whether there is nothing to explain: it runs, or is about to.
fn is_well(partition: &PartitionState) -> bool {
    matches!(partition.state, Activity::Running | Activity::Starting | Activity::Paused)
}

fn entry(running: RunningSite, partitions: Vec<PartitionState>) -> SiteEntry {
    let described = running.description;
    SiteEntry {
        site: running.name,
        site_file: described.as_ref().map(|it| it.site_file.display().to_string()),
        pid: described.as_ref().map(|it| it.pid),
        started_at: described.as_ref().map(|it| it.started_at.clone()),
        started_by: described.and_then(|it| it.started_by),
        partitions,
    }
}

/// A site in lines of at most `columns`, as far as words and names allow.
fn text(site: &SiteEntry, columns: usize) -> String {
    let mut head = site.site.clone();
    if let (Some(file), Some(pid)) = (&site.site_file, site.pid) {
        head.push_str(&format!(" ({file}), process {pid}"));
    }
    if let Some(by) = &site.started_by {
        head.push_str(&format!("\nstarted by {}", visible(&by.to_string())));
        if let Some(at) = &site.started_at {
            head.push_str(&format!(", at {}", super::events::moment(at)));
        }
    }
    let mut lines = vec![head];
    lines.extend(table(&site.partitions).lines(columns, false));
    let troubled = site.partitions.iter().filter(|partition| !is_well(partition));
    lines.extend(troubled.map(|it| format!("{}: {}", it.name, visible(&it.state.to_string()))));
    lines.extend(site.partitions.iter().filter_map(shedding));
    hanging(&lines.join("\n"), columns, 2) + "\n"
}

/// How often and how fast others were shed for a partition.
fn shedding(partition: &PartitionState) -> Option<String> {
    let Reactions { count, min, median, max, .. } = partition.reactions?;
    Some(format!(
        "{}: load was shed for it {count} time{}, {min} to {max} after it was late, median \
         {median}",
        partition.name,
        plural(count)
    ))
}

/// A line a partition. A column in which nothing stands is left out.
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

/// A column beside the names.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    side: Side,
    cell: fn(&PartitionState) -> String,
    /// Whether there is anything to tell of a partition.
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
    column("period", Side::Right, |it| it.period.to_string(), |_| true),
    column("cycles", Side::Right, |it| thousands(it.cycles), |_| true),
    column("missed", Side::Right, |it| thousands(it.missed_cycles), |_| true),
    column("over", Side::Right, |it| thousands(it.overruns), |_| true),
    column("worst", Side::Right, |it| it.release_max.to_string(), |_| true),
    column("CPU", Side::Right, cpu, |_| true),
    column("fieldbus", Side::Left, fieldbus, |it| it.fieldbus.is_some()),
    column("forced", Side::Right, |it| it.forces.to_string(), |it| it.forces > 0),
    column("build", Side::Right, |it| it.generation.to_string(), |it| it.generation > 1),
    column("restarts", Side::Right, |it| it.restarts.to_string(), |it| it.restarts > 0),
];

fn cpu(partition: &PartitionState) -> String {
    partition.cpu.map_or_else(|| NONE.to_owned(), |cpu| cpu.to_string())
}

/// The fieldbus in few words: its state, the working counter where it differs, and how many frames
/// were lost where some were.
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
        SiteEntry {
            site: "line".to_owned(),
            site_file: Some("/sites/line.toml".to_owned()),
            pid: Some(4700),
            started_at: Some("2026-11-21T20:15:03Z".to_owned()),
            started_by: Some(StartedBy {
                user: "root".to_owned(),
                login: Some("anna".to_owned()),
                folder: Some("/sites".into()),
                terminal: Some("pts/3".to_owned()),
                session: Some(900),
                command: Some("bash".to_owned()),
                service: None,
            }),
            partitions: fake::partitions(),
        }
    }

    #[test]
    fn what_runs_is_listed_with_who_started_it_and_what_does_not_says_why() {
        let site = site();
        let said = text(&site, 80);
        assert_eq!(said, include_str!("ps.txt"), "{said}");
        assert!(!site.partitions.iter().all(is_well));
        let calm = SiteEntry { partitions: site.partitions[..1].to_vec(), ..site };
        let said = text(&calm, 80);
        assert!(!said.contains("restarts"), "there were none: {said}");
    }

    /// Goal: the widest figures that a partition can have fit, and none of them is left out.
    #[test]
    fn ps_fits_80_100_and_120_columns() {
        let mut site = site();
        for partition in &mut site.partitions {
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
    fn a_working_counter_that_is_wrong_and_lost_frames_are_shown() {
        let mut partitions = quietcore_supervisor::fake::partitions();
        partitions[0].fieldbus.as_mut().unwrap().working_counter = 5;
        assert_eq!(fieldbus(&partitions[0]), "OP ×3 WKC 5/7");
        let bus = partitions[0].fieldbus.as_mut().unwrap();
        (bus.working_counter, bus.lost_frames) = (7, 1);
        assert_eq!(fieldbus(&partitions[0]), "OP ×3 lost 1");
    }
}
