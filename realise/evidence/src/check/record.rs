//! A record of a campaign against the site file: what was measured is what was asked for.

use quietcore_record::record::{NeighbourAchieved, Record, ScanTerms};
use quietcore_site::{
    LoadPlace, Neighbours, Partition, Profile, ProgramForm, Scheduling, Site, Task,
};
use quietcore_units::{CpuId, Nanos, SchedulingPolicy, Wake, WakeKind};

use super::Contradiction;
use super::planned::{label, task_of};
use super::probes::{compare_record, probe_of};
use super::renewal;
use crate::manifest::Manifest;

/// The part of a time that ends with its second.
const SECOND_BYTES: usize = 19;

/// A record with the parts of the site file that it is compared with.
struct Held<'a> {
    record: &'a Record,
    partition: &'a Partition,
    profile: &'a Profile,
    site: &'a Site,
    wrong: &'a mut Vec<Contradiction>,
}

pub(super) fn compare(
    record: &Record,
    manifest: &Manifest,
    site: &Site,
    wrong: &mut Vec<Contradiction>,
) {
    if probe_of(record, manifest).is_some() {
        return compare_record(record, site, wrong);
    }
    let mut unknown = |key, says: &str| {
        wrong.push(Contradiction::Record {
            record: record.name.clone(),
            key,
            says: format!("`{says}`"),
            follows: "one of the site file's".to_owned(),
        });
    };
    let partition = site.partitions().iter().find(|it| it.name == record.partition);
    let profile = site.profiles().iter().find(|it| it.name == record.profile);
    let Some(partition) = partition else { return unknown("partition", &record.partition) };
    let Some(profile) = profile else { return unknown("profile", &record.profile) };
    let Some(label) = label(record) else { return unknown("name", &record.name) };
    let turn = site.turn_of(&partition.name);
    let mut held = Held { record, partition, profile, site: &turn, wrong };
    held.of_profile();
    held.loads();
    held.neighbours();
    if partition.program.model.is_none() {
        held.probe(label);
    } else {
        held.program(label);
    }
    held.time(manifest);
}

/// Tells what a neighbour was asked to be.
fn neighbour_words(neighbour: &NeighbourAchieved) -> String {
    let loads = neighbour.loads.iter().map(|it| (it.workers, it.kind.as_str()));
    let loads: Vec<_> = loads.map(counted).collect();
    format!("{}: {} with {}", neighbour.name, neighbour.kind, or_none(&loads))
}

fn counted((workers, kind): (u32, &str)) -> String {
    format!("{workers} × {kind}")
}

impl Held<'_> {
    fn differ(&mut self, key: &'static str, says: &dyn ToString, follows: &dyn ToString) {
        let (says, follows) = (says.to_string(), follows.to_string());
        if says != follows {
            let record = self.record.name.clone();
            self.wrong.push(Contradiction::Record { record, key, says, follows });
        }
    }

    fn of_profile(&mut self) {
        let record = self.record;
        self.differ("reserved", &record.reserved, &self.site.keeps_reservation(self.profile));
        self.differ("kind", &kind(record), &"releases");
        let has_model = self.partition.program.model.is_some();
        let counters = &record.counters;
        let counted = [counters.missed_cycles, counters.longest_miss_run];
        let is_counted = counted.iter().chain([&counters.difference_sum_ns]).all(Option::is_some);
        self.differ("counters", &counted_words(is_counted), &counted_words(true));
        self.differ("probe", &record.probe, &if has_model { "exec" } else { "latency" });
        self.differ("conditions.injected", &shown(record.conditions.injection.as_ref()), &"none");
        let pinned_to = record.cpu.and_then(CpuId::new);
        let is_its_own = match (pinned_to, self.profile.pinned) {
            (Some(cpu), true) => self.partition.cpus_in_use().contains(cpu),
            (None, pinned) => !pinned && record.cpu.is_none(),
            (Some(_), false) => false,
        };
        if !is_its_own {
            let follows = match self.profile.pinned {
                true => format!("one of {}", self.partition.cpus_in_use()),
                false => "none".to_owned(),
            };
            self.differ("cpu", &shown(record.cpu), &follows);
        }
    }

    /// The loads are those of the profile, with as many workers.
    fn loads(&mut self) {
        let claimed = self.site.claimed_cpus();
        let asked = self.profile.loads.iter();
        let asked: Vec<_> = asked.map(|it| format!("{} × {}", it.workers, it.kind)).collect();
        let loads = &self.record.conditions.loads;
        let had: Vec<_> =
            loads.iter().map(|load| format!("{} × {}", load.workers, load.kind)).collect();
        self.differ("conditions.loads", &or_none(&had), &or_none(&asked));
        for (load, asked) in loads.iter().zip(&self.profile.loads) {
            let cpus = load.cpus;
            let is_there = match asked.place {
                LoadPlace::Anywhere => true,
                LoadPlace::SameCpu => cpus == claimed,
                LoadPlace::OtherCpus => cpus.without(&claimed) == cpus && !cpus.is_empty(),
            };
            if !is_there {
                let follows = match asked.place {
                    LoadPlace::OtherCpus => format!("all but {claimed}"),
                    LoadPlace::SameCpu | LoadPlace::Anywhere => claimed.to_string(),
                };
                self.differ("conditions.loads.cpus", &load.cpus, &follows);
            }
        }
    }

    /// The neighbours are those of the profile, on CPUs that no partition has.
    fn neighbours(&mut self) {
        let asked = self.profile.neighbours.as_ref();
        let kind = self.site.neighbour_form().to_string();
        let loads = asked.map(|it| it.loads.iter().map(|it| (it.workers, it.kind.name())));
        let loads: Vec<_> = loads.into_iter().flatten().map(counted).collect();
        let each = |name: String| format!("{name}: {kind} with {}", or_none(&loads));
        let asked: Vec<_> = asked.into_iter().flat_map(Neighbours::names).map(each).collect();
        let had: Vec<_> = self.record.conditions.neighbours.iter().map(neighbour_words).collect();
        self.differ("conditions.neighbours", &or_none(&had), &or_none(&asked));
        let claimed = self.site.claimed_cpus();
        for neighbour in &self.record.conditions.neighbours {
            if neighbour.cpus.is_empty() || neighbour.cpus.without(&claimed) != neighbour.cpus {
                let follows = format!("some but {claimed}");
                self.differ("conditions.neighbours.cpus", &neighbour.cpus, &follows);
            }
        }
    }

    /// A record of the probe in place of a program.
    fn probe(&mut self, label: &str) {
        let (record, program) = (self.record, &self.partition.program);
        self.differ("scan", &shown(record.scan().map(|_| "there")), &"none");
        self.differ("period_ns", &shown(record.period_ns), &program.period.get());
        let named = match record.cpu {
            Some(cpu) => format!("cpu{cpu}"),
            None => label.strip_prefix("task").map_or_else(String::new, |it| format!("task{it}")),
        };
        self.differ("name", &label, &named);
        self.planned(self.site.campaign().length.cycles(program.period).max(1));
        self.wakes(program.early_wake != Wake::Sleep);
        self.in_force(program.scheduling);
    }

    /// A record of a task of a program, or of one of its own kernel.
    fn program(&mut self, label: &str) {
        let (record, partition) = (self.record, self.partition);
        let program = &partition.program;
        let task = task_of(partition, label);
        let period = task.and_then(|task| task.release.rule.period());
        self.differ("period_ns", &shown(record.period_ns), &shown(period.map(Nanos::get)));
        let deadline = match task {
            Some(task) => task.deadline,
            None => program.deadlines.get(label).copied(),
        };
        let follows = ScanTerms {
            program_period_ns: program.period.get(),
            deadline_ns: deadline.map(Nanos::get),
            watchdog_ns: task.map(|task| task.watchdog.get()),
            by_kernel: task.is_none(),
        };
        match record.scan() {
            Some(scan) if scan.terms == follows => {}
            Some(scan) => self.differ("scan.terms", &terms(&scan.terms), &terms(&follows)),
            // Then it is invalid, and says why.
            None if !record.is_valid() => {}
            None => self.differ("scan", &"none", &"there"),
        }
        let Some(task) = task else { return };
        if let Some(period) = period {
            self.planned(planned_cycles(self.site, partition, period));
            self.wakes(program.early_wake != Wake::Sleep);
        }
        self.in_force(task.scheduling);
    }

    /// As many cycles as the length asks for, once for each part of an interrupted run.
    fn planned(&mut self, follows: u64) {
        let planned = self.record.counters.planned_cycles;
        let parts = self.record.conditions.earlier_part.is_some();
        if planned == 0 || !planned.is_multiple_of(follows) || (planned != follows && !parts) {
            self.differ("counters.planned_cycles", &planned, &follows);
        }
    }

    fn wakes(&mut self, early: bool) {
        let words = |early: bool| if early { "measured apart" } else { "the release latency" };
        let apart = self.record.wakeup.is_some();
        self.differ("wakeup", &words(apart), &words(early));
        let sleeps = self.record.conditions.mode.wake() == Some(WakeKind::Sleep);
        let mode = if sleeps { "sleep" } else { "early" };
        self.differ("conditions.mode", &mode, &if early { "early" } else { "sleep" });
    }

    /// Compares the scheduling that was read back with the site file's, where nothing says that it
    /// was refused. A guest's thread and one with a budget are scheduled otherwise.
    fn in_force(&mut self, scheduling: Scheduling) {
        let record = self.record;
        let is_thread = self.partition.declaration().program == ProgramForm::Module;
        let is_worded = is_thread && self.partition.vcr.budget_percent.is_none();
        let is_in_force = record.degraded.is_empty() && record.is_valid();
        if !is_worded || !is_in_force || record.release.count() == 0 {
            return;
        }
        let conditions = &record.conditions;
        let policy = match scheduling {
            Scheduling::Fifo { priority } => SchedulingPolicy::Fifo { priority },
            Scheduling::Deadline { .. } => SchedulingPolicy::Deadline,
            Scheduling::Other => SchedulingPolicy::Other,
        };
        self.differ("conditions.policy", &conditions.policy, &policy);
        if let Some(cpu) = record.cpu {
            if let Some(spike) = record.spikes.iter().find(|spike| spike.cpu != cpu) {
                self.differ("spikes.cpu", &spike.cpu, &cpu);
            }
            self.differ("conditions.affinity", &conditions.affinity, &cpu);
        }
    }

    /// It was not measured before the campaign was begun, unless it was taken over.
    fn time(&mut self, manifest: &Manifest) {
        if renewal::is_taken_over(self.record, manifest) {
            return;
        }
        let started_at = &self.record.conditions.started_at;
        // Both are RFC 3339 in UTC, and so ordered as texts up to the second.
        let second = |at: &str| at.get(..SECOND_BYTES).map(str::to_owned);
        if second(started_at) < second(&manifest.started_at) {
            let follows = format!("{} or later", manifest.started_at);
            self.differ("conditions.started_at", started_at, &follows);
        }
    }
}

/// The releases of a cyclic task: the length in cycles is that of the leading one.
fn planned_cycles(site: &Site, partition: &Partition, period: Nanos) -> u64 {
    let cyclic = |task: &Task| task.release.rule.period();
    let lead = partition.program.tasks.iter().filter_map(cyclic).min();
    let lead = lead.unwrap_or(partition.program.period);
    let length = site.campaign().length;
    if period == lead {
        length.cycles(lead).max(1)
    } else {
        length.duration(lead).whole_times(period)
    }
}

fn counted_words(is: bool) -> &'static str {
    if is { "complete" } else { "incomplete" }
}

fn kind(record: &Record) -> &'static str {
    if record.is_of_releases() { "releases" } else { "something else" }
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn or_none(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn terms(terms: &ScanTerms) -> String {
    let time = |ns: Option<u64>| ns.map_or("none".to_owned(), |ns| Nanos::new(ns).to_string());
    format!(
        "period {}, deadline {}, watchdog {}, released by {}",
        time(Some(terms.program_period_ns)),
        time(terms.deadline_ns),
        time(terms.watchdog_ns),
        if terms.by_kernel { "its kernel" } else { "the clock" }
    )
}
