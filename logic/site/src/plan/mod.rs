//! The plan: what would be done on a machine, before anything touches it.
//!
//! Profiles run one after the other. Within a profile all partitions run at the same time, as they
//! do in production, and the loads beside them:
//!
//! ```text
//! build the programs, hold the CPUs awake
//! ┌ for each profile ─────────────────────────────────────────────┐
//! │ change settings of the machine, limit traffic                 │
//! │ start loads and neighbours, create exchanges and channels     │
//! │ bring fieldbuses to OP, start partitions                      │
//! │ warm up, measure                                              │
//! │ stop partitions, neighbours, loads; put the settings back     │
//! │ write the records, judge each                                 │
//! └───────────────────────────────────────────────────────────────┘
//! let the CPUs sleep, write the evidence
//! ```
//!
//! A campaign may measure each partition alone: then the profiles of one follow those of another.
//!
//! A wish of the site that can't be met is refused; a means that can't be had and doesn't falsify a
//! measurement is a degradation with its cost.

mod degrade;
mod monitored;
mod refuse;
mod step;
mod turns;

use std::fmt;

use quietcore_units::{CpuSet, Nanos};
use serde::Serialize;

use crate::backend::Backend;
use crate::machine::Machine;
use crate::problem::KeyPosition;
use crate::site::{
    ChannelEnd, Control, Fieldbus, GivenCard, Interface, LoadPlace, NeighbourForm, Partition,
    Profile, Scheduling, Site, Traffic,
};

pub use monitored::Monitored;
pub(crate) use step::cpu_words;
pub use step::{Step, TaskStart};
pub use turns::{LeftOut, Turns, turns};

/// Starting and stopping loads and partitions takes about this long for each profile.
const SET_UP: Nanos = Nanos::from_secs(2);

/// The steps, in the order in which they are to be done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// Partitions that are watched while the site is up: `quietcore up` does that, and no campaign.
    pub monitored: Vec<Monitored>,
    /// Time that all of it takes, set-up included.
    pub expected: Nanos,
    /// The CPUs that remain for everything that is not a partition.
    #[serde(serialize_with = "step::as_text")]
    pub housekeeping: CpuSet,
    /// Means that the site asks for or would profit from and this machine or version does not give.
    pub degraded: Vec<Degradation>,
    /// Partitions that a campaign measures alone, and leaves out on this machine.
    #[serde(skip)]
    pub left_out: Vec<LeftOut>,
}

/// Something that can't be had and doesn't prevent a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Degradation {
    /// The thing that is not done.
    pub what: String,
    /// The cost of its absence.
    pub cost: String,
    /// The way to have it.
    pub remedy: String,
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.what, self.cost, self.remedy)
    }
}

/// Something that the site asks for and this machine can't do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Refusal {
    /// The key that asks for it.
    #[serde(flatten)]
    pub place: KeyPosition,
    /// Why it can't be done.
    pub reason: String,
    /// The nearest thing that would be possible.
    pub remedy: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.reason, self.remedy)
    }
}

impl std::error::Error for Refusal {}

/// Decides what would be done for `site` on `machine`.
///
/// # Errors
/// Everything that stands against it, in the order of the file.
pub fn plan(site: &Site, machine: &Machine) -> Result<Plan, Vec<Refusal>> {
    Ok(plan_turns(site, turns(site, machine)?, machine))
}

/// Returns what would be done for these turns of a site on a machine.
pub fn plan_turns(site: &Site, Turns { possible, left_out }: Turns, machine: &Machine) -> Plan {
    let mut degraded: Vec<Degradation> = Vec::new();
    let mut expected = Nanos::ZERO;
    for turn in &possible {
        let changed = controls_of_campaign(turn);
        for one in degrade::all(turn, &controlled(machine, &changed.always), &changed) {
            if !degraded.contains(&one) {
                degraded.push(one);
            }
        }
        let measured = turn.measured().next().map(|_| turn.campaign().profiles.len());
        expected = expected + turn.measured_in_all() + SET_UP * measured.unwrap_or_default() as u64;
    }
    degraded.extend(degrade::left_out(site));
    Plan {
        steps: steps(&possible, site.name(), machine),
        monitored: monitored::all(site),
        expected,
        housekeeping: housekeeping(site, machine),
        degraded,
        left_out,
    }
}

/// Decides whether `site` can run on `machine`, and how much less well than asked. Its campaign is
/// not looked at: nothing is loaded and nothing is measured.
///
/// # Errors
/// Everything that stands against it, in the order of the file.
pub fn plan_run(site: &Site, machine: &Machine) -> Result<Vec<Degradation>, Vec<Refusal>> {
    let refusals = refuse::of_run(site, machine);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let all = site.controls();
    let changed = Changed { ever: all.to_vec(), always: all.to_vec() };
    Ok(degrade::all(site, &controlled(machine, all), &changed))
}

/// The machine as these controls make it while partitions are pinned.
fn controlled(machine: &Machine, controls: &[Control]) -> Machine {
    let is_given_up = machine.root && controls.contains(&Control::Throttling);
    Machine { throttles: machine.throttles && !is_given_up, ..machine.clone() }
}

/// The housekeeping CPUs as written, else every online CPU that no partition claims.
fn housekeeping(site: &Site, machine: &Machine) -> CpuSet {
    site.housekeeping().unwrap_or_else(|| machine.usable.without(&site.claimed_cpus()))
}

/// Lists the steps of a site called `name`, turn by turn.
fn steps(turns: &[Site], name: &str, machine: &Machine) -> Vec<Step> {
    let mut steps = Vec::new();
    if turns.iter().all(|turn| turn.measured().next().is_none()) {
        return steps;
    }
    for partition in turns.iter().flat_map(Site::measured) {
        steps.extend(partition.program.model.as_ref().map(|model| Step::BuildProgram {
            partition: partition.name.clone(),
            model: model.clone(),
        }));
    }
    if machine.dma_latency {
        steps.push(Step::HoldCpusAwake);
    }
    for turn in turns {
        for profile in &turn.campaign().profiles {
            profile_steps(turn, machine, profile, &mut steps);
        }
    }
    for turn in turns {
        probe_steps(turn, machine, &mut steps);
    }
    if machine.dma_latency {
        steps.push(Step::ReleaseCpus);
    }
    steps.push(Step::WriteEvidence { site: name.to_owned() });
    steps
}

fn profile_steps(site: &Site, machine: &Machine, profile: &Profile, steps: &mut Vec<Step>) {
    let campaign = site.campaign();
    let name = &profile.name;
    let partitions: Vec<&Partition> = site.measured().collect();
    let controls = controls(site, machine, profile);
    let machine = &controlled(machine, controls);
    let cpus = site.claimed_cpus();
    steps.extend(controls.iter().map(|control| Step::Change { control: *control, cpus }));
    let reserved = reservations(site);
    let is_changed = !controls.is_empty() || !reserved.is_empty();
    steps.extend(reserved);
    steps.extend(loads(site, profile, machine));
    steps.extend(neighbours(site, profile, machine.usable.without(&cpus)));
    for partition in &partitions {
        steps.push(Step::CreateExchange { partition: partition.name.clone() });
    }
    let runs = |name: &String| {
        partitions.iter().any(|one| one.name == *name && one.program.model.is_some())
    };
    let takes_part = |end: &ChannelEnd| match end {
        ChannelEnd::Partition(name) => runs(name),
        ChannelEnd::Host => true,
    };
    let used = site.channels().iter().filter(|one| takes_part(&one.from) && takes_part(&one.to));
    steps.extend(used.map(|channel| Step::CreateChannel {
        channel: channel.name.clone(),
        from: channel.from.to_string(),
        to: channel.to.to_string(),
        signals: channel.signals.len(),
    }));
    for partition in &partitions {
        let driven = site.fieldbuses().iter().filter(|one| one.partition == partition.name);
        steps.extend(driven.filter(|one| runs(&one.partition)).map(bring_up));
        steps.extend(reserve_share(partition));
        steps.push(start(partition, profile, machine));
    }
    let longest = partitions.iter().map(|partition| partition.program.period).max();
    steps.push(Step::Measure {
        profile: name.clone(),
        warm_up: campaign.warm_up,
        length: campaign.length,
        expected: campaign.length.duration(longest.unwrap_or_default()),
    });
    steps.extend(
        partitions
            .iter()
            .map(|partition| Step::StopPartition { partition: partition.name.clone() }),
    );
    if profile.neighbours.is_some() {
        steps.push(Step::StopNeighbours { profile: name.clone() });
    }
    if !profile.loads.is_empty() {
        steps.push(Step::StopLoads { profile: name.clone() });
    }
    if is_changed {
        steps.push(Step::PutBack);
    }
    steps.push(Step::WriteRecords { profile: name.clone() });
    steps.extend(partitions.iter().map(|partition| Step::Judge {
        profile: name.clone(),
        partition: partition.name.clone(),
        class: partition.class.name.clone(),
    }));
}

/// Returns the steps that change the machine for what partitions can't do without.
fn reservations(site: &Site) -> Vec<Step> {
    let limit = |one: Traffic| Step::LimitTraffic {
        partition: one.partition,
        interface: one.interface,
        rate: one.share.rate,
        burst: one.share.burst,
    };
    let give =
        |card: GivenCard| Step::GiveCard { partition: card.partition, address: card.address };
    let limits = site.traffic().into_iter().map(limit);
    limits.chain(site.cards().into_iter().map(give)).collect()
}

/// Returns the steps that start the loads of a profile.
fn loads<'a>(
    site: &'a Site,
    profile: &'a Profile,
    machine: &'a Machine,
) -> impl Iterator<Item = Step> + 'a {
    profile.loads.iter().map(|load| Step::StartLoad {
        profile: profile.name.clone(),
        kind: load.kind,
        workers: load.workers,
        size: load.size,
        cpus: load_cpus(load.place, site, machine),
    })
}

/// Returns the steps that start the neighbours of a profile.
fn neighbours(site: &Site, profile: &Profile, others: CpuSet) -> Vec<Step> {
    let Some(neighbours) = &profile.neighbours else { return Vec::new() };
    let Some(places) = neighbours.places(others) else { return Vec::new() };
    let form = site.neighbour_form();
    let is_guest = form == NeighbourForm::LinuxGuest;
    let started = neighbours.names().into_iter().zip(places.cpus);
    let step = |(neighbour, cpus)| Step::StartNeighbour {
        profile: profile.name.clone(),
        neighbour,
        backend: form.backend(),
        form,
        cpus,
        processors: is_guest.then_some(places.processors),
        loads: neighbours.loads.clone(),
    };
    started.map(step).collect()
}

/// The probes, each on one partition after the other, under the site's own settings.
fn probe_steps(site: &Site, machine: &Machine, steps: &mut Vec<Step>) {
    let controls = if machine.root { site.controls() } else { &[] };
    let cpus = site.claimed_cpus();
    for (probe, partition) in site.probed() {
        steps.extend(controls.iter().map(|control| Step::Change { control: *control, cpus }));
        steps.extend(reserve_share(partition));
        steps.push(Step::Probe {
            probe,
            partition: partition.name.clone(),
            cpu: partition.first_cpu().into_iter().collect(),
            expected: site.campaign().time_of(probe, partition),
        });
        if !controls.is_empty() {
            steps.push(Step::PutBack);
        }
    }
}

/// Returns the settings of the machine that are changed under a profile.
fn controls<'s>(site: &'s Site, machine: &Machine, profile: &'s Profile) -> &'s [Control] {
    if machine.root { site.controls_under(profile) } else { &[] }
}

/// Controls while something goes on.
struct Changed {
    /// Those that are asked for at some time.
    ever: Vec<Control>,
    /// Those that are asked for whenever partitions are pinned.
    always: Vec<Control>,
}

fn controls_of_campaign(site: &Site) -> Changed {
    let pinned = || site.campaign().profiles.iter().filter(|profile| profile.pinned);
    let is_always =
        |control: &Control| pinned().all(|profile| site.controls_under(profile).contains(control));
    let ever = site.controls_of_campaign();
    let always = ever.iter().copied().filter(is_always).collect();
    Changed { ever, always }
}

fn bring_up(fieldbus: &Fieldbus) -> Step {
    Step::BringUpFieldbus {
        fieldbus: fieldbus.name.clone(),
        partition: fieldbus.partition.clone(),
        interface: match &fieldbus.interface {
            Interface::Simulated => None,
            Interface::Network(interface) | Interface::Card(interface) => Some(interface.clone()),
        },
        subdevices: fieldbus.subdevices.len(),
        cycle: fieldbus.cycle,
    }
}

/// Returns the step that reserves a partition's share in what CPUs share on their way to the
/// memory.
fn reserve_share(partition: &Partition) -> Option<Step> {
    let ways = partition.vcr.cache_ways();
    let bandwidth_percent = partition.vcr.memory_bandwidth_percent;
    let partition = partition.name.clone();
    let is_asked = ways.is_some() || bandwidth_percent.is_some();
    is_asked.then_some(Step::ReserveShare { partition, ways, bandwidth_percent })
}

fn start(partition: &Partition, profile: &Profile, machine: &Machine) -> Step {
    let program = &partition.program;
    let is_bound = profile.pinned || profile.confines();
    let tasks = program.tasks.iter().map(|task| TaskStart {
        name: task.name.clone(),
        release: task.release.clone(),
        scheduling: granted(task.scheduling, partition.backend, is_bound, machine),
    });
    let own = profile.confines().then_some(partition.vcr.cpus);
    Step::StartPartition {
        partition: partition.name.clone(),
        backend: partition.backend,
        noun: partition.declaration().noun,
        cpus: profile.pinned.then(|| partition.cpus_in_use()).or(own),
        scheduling: granted(program.scheduling, partition.backend, is_bound, machine),
        memory: partition.vcr.memory,
        locked: degrade::locks_memory(partition, machine),
        period: program.period,
        early_wake: program.early_wake,
        model: program.model.clone(),
        tasks: if program.model.is_some() { tasks.collect() } else { Vec::new() },
    }
}

/// The policy that this machine gives in place of the one asked for. Where another kernel runs the
/// processor, as Xen does a domain's, this one neither gives nor refuses any.
fn granted(asked: Scheduling, backend: Backend, pinned: bool, machine: &Machine) -> Scheduling {
    // The groups that root makes need run time of their own.
    let in_group = backend.declaration().has_control_group && machine.root;
    let given = match asked {
        _ if !backend.declaration().is_run_by_kernel() => true,
        Scheduling::Fifo { .. } if in_group && machine.container_real_time_us == Some(0) => false,
        Scheduling::Fifo { .. } => machine.fifo,
        Scheduling::Deadline { .. } => machine.deadline && !(machine.throttles && pinned),
        Scheduling::Other => true,
    };
    if given { asked } else { Scheduling::Other }
}

/// The CPUs that load workers may use; `None` means all of them.
fn load_cpus(place: LoadPlace, site: &Site, machine: &Machine) -> Option<CpuSet> {
    match place {
        LoadPlace::Anywhere => None,
        LoadPlace::OtherCpus => Some(machine.usable.without(&site.claimed_cpus())),
        LoadPlace::SameCpu => Some(site.claimed_cpus()),
    }
}
