//! `quietcore ps`

use quietcore_record::verdict::thousands;
use quietcore_supervisor::control::{Activity, PartitionState, Reactions};
use quietcore_supervisor::places::RunningSite;
use quietcore_wording::plural;
use serde::Serialize;

use super::site;
use crate::arguments::Ps;
use crate::command;
use crate::status::{Failure, Status};
use crate::table::Table;
use crate::terminal::visible;

/// What stands where there is nothing.
const NONE: &str = "–";

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
        let texts: Vec<String> = sites.iter().map(text).collect();
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
        started_at: described.map(|it| it.started_at),
        partitions,
    }
}

fn text(site: &SiteEntry) -> String {
    let mut lines = vec![site.site.clone()];
    if let (Some(file), Some(pid)) = (&site.site_file, site.pid) {
        lines[0].push_str(&format!(" ({file}), process {pid}"));
    }
    lines.extend(table(&site.partitions));
    let troubled = site.partitions.iter().filter(|partition| !is_well(partition));
    lines.extend(troubled.map(|it| format!("{}: {}", it.name, visible(&it.state.to_string()))));
    lines.extend(site.partitions.iter().filter_map(shedding));
    lines.join("\n") + "\n"
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
fn table(partitions: &[PartitionState]) -> Vec<String> {
    let restarts = partitions.iter().any(|partition| partition.restarts > 0);
    let mut heading = vec![
        "partition",
        "backend",
        "state",
        ">period",
        ">cycles",
        ">missed",
        ">over",
        ">worst",
        ">CPU",
        "fieldbus",
        ">forced",
        ">build",
    ];
    heading.extend(restarts.then_some(">restarts"));
    let mut table = Table::new(&heading);
    for partition in partitions {
        let mut row = vec![
            partition.name.clone(),
            partition.backend.clone(),
            partition.state.word().to_owned(),
            partition.period.to_string(),
            thousands(partition.cycles),
            thousands(partition.missed_cycles),
            thousands(partition.overruns),
            partition.release_max.to_string(),
            partition.cpu.map_or_else(|| NONE.to_owned(), |cpu| cpu.to_string()),
            fieldbus(partition),
            partition.forces.to_string(),
            partition.generation.to_string(),
        ];
        row.extend(restarts.then(|| partition.restarts.to_string()));
        table.row(row);
    }
    table.lines()
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

    #[test]
    fn what_runs_is_listed_and_what_does_not_says_why() {
        let site = SiteEntry {
            site: "line".to_owned(),
            site_file: Some("/sites/line.toml".to_owned()),
            pid: Some(4700),
            started_at: None,
            partitions: quietcore_supervisor::fake::partitions(),
        };
        let said = text(&site);
        assert_eq!(said, include_str!("ps.txt"), "{said}");
        assert!(!site.partitions.iter().all(is_well));
        let calm = SiteEntry { partitions: site.partitions[..1].to_vec(), ..site };
        let said = text(&calm);
        assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
        assert!(!said.contains("restarts"), "there were none: {said}");
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
