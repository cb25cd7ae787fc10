//! One run: partitions under a profile, as jobs and loads. Pure.

use quietcore_backend::container::ContainerWish;
use quietcore_host::controls::Wanted;
use quietcore_load::{LoadKind, LoadRequest};
use quietcore_probe::job::{LatencyJob, Wake};
use quietcore_process::setting::Policy;
use quietcore_site::{
    ContainerRuntime, EarlyWake, Length, Load, LoadPlace, Partition, Profile, Scheduling, Site,
};
use quietcore_units::{CpuSet, Nanos};

use crate::programs::Programs;
use crate::work::{ProgramRun, Work};

/// What one run measures.
#[derive(Clone, Debug)]
pub struct Run {
    /// The profile's name.
    pub profile: String,
    /// Whether the partitions keep their CPUs.
    pub reserved: bool,
    /// What of the machine is changed meanwhile.
    pub settings: Wanted,
    /// What runs its containers; `None` leaves the choice to the machine.
    pub container_runtime: Option<ContainerRuntime>,
    /// The partitions, which run at the same time.
    pub partitions: Vec<PartitionRun>,
    /// The loads beside them.
    pub loads: Vec<LoadRequest>,
    /// Releases later than this get a ledger; none where that is not asked for.
    pub explain: Option<Nanos>,
    /// SHA-256 of the site file; empty for a run by hand.
    pub site_sha256: String,
}

/// A partition in a run.
#[derive(Clone, Debug)]
pub struct PartitionRun {
    /// Its name.
    pub name: String,
    /// What it shall do.
    pub work: Work,
    /// What its container is to have; `None` where it is none.
    pub container: Option<ContainerWish>,
}

impl Run {
    /// How long it takes, warm-up included: as long as the slowest partition.
    pub fn duration(&self) -> Nanos {
        self.partitions.iter().map(|partition| partition.work.duration()).max().unwrap_or_default()
    }

    /// The releases of all tasks together, as far as they are known beforehand.
    pub fn cycles(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.work.cycles()).sum()
    }
}

/// All runs of a site's campaign: profile by profile, in each all partitions at the same time, as
/// they will be at work. A partition whose program is among `programs` runs it; the others run the
/// probe `latency` in its place.
pub fn runs(site: &Site, site_sha256: &str, online: CpuSet, programs: &Programs) -> Vec<Run> {
    let campaign = site.campaign();
    let claimed = site.claimed_cpus();
    let wanted = Wanted::of(site);
    let mut runs = Vec::new();
    for profile in &campaign.profiles {
        let partitions = site.partitions().iter().map(|partition| PartitionRun {
            name: partition.name.clone(),
            container: container_of(partition, programs, profile.pinned),
            work: match programs.get(&partition.name) {
                Some(assembly) => Work::Program(Box::new(ProgramRun::new(
                    partition,
                    assembly,
                    profile.pinned,
                    campaign.length,
                    campaign.warm_up,
                ))),
                None => {
                    Work::Latency(latency(partition, profile, campaign.length, campaign.warm_up))
                }
            },
        });
        let loads = profile.loads.iter().map(|load| request(load, online, claimed));
        runs.push(Run {
            profile: profile.name.clone(),
            reserved: profile.pinned,
            settings: if profile.pinned { wanted.clone() } else { Wanted::default() },
            partitions: partitions.collect(),
            loads: loads.collect(),
            container_runtime: site.container_runtime(),
            explain: campaign.explain,
            site_sha256: site_sha256.to_owned(),
        });
    }
    runs
}

/// What a partition's container is to have; all CPUs where it is not pinned.
pub fn container_of(
    partition: &Partition,
    programs: &Programs,
    pinned: bool,
) -> Option<ContainerWish> {
    let assembled = programs.get(&partition.name).map(|assembly| assembly.container.clone());
    let wish = assembled.unwrap_or_else(|| quietcore_assembly::container(partition, None, None))?;
    Some(ContainerWish { cpus: wish.cpus.filter(|_| pinned), ..wish })
}

fn latency(partition: &Partition, profile: &Profile, length: Length, warm_up: Nanos) -> LatencyJob {
    let program = &partition.program;
    let cpus = partition.vcr.cpus.iter();
    LatencyJob {
        cpus: cpus.map(|cpu| profile.pinned.then_some(cpu.get())).collect(),
        period: program.period,
        cycles: length.cycles(program.period).max(1),
        warm_up_cycles: warm_up.whole_times(program.period),
        policy: policy(program.scheduling),
        wake: wake(program.early_wake),
        injection: None,
        snare: None,
    }
}

fn policy(scheduling: Scheduling) -> Policy {
    match scheduling {
        Scheduling::Fifo { priority } => {
            Policy::Fifo(u8::try_from(priority).expect("priorities are checked to be below 100"))
        }
        Scheduling::Deadline { run_time, period, .. } => {
            Policy::Deadline { budget: run_time, period }
        }
        Scheduling::Other => Policy::Other,
    }
}

fn wake(early_wake: EarlyWake) -> Wake {
    match early_wake {
        EarlyWake::Off => Wake::Sleep,
        EarlyWake::Fixed { margin } => Wake::Early(margin),
        EarlyWake::Spin => Wake::Spin,
        EarlyWake::Adaptive { share_percent } => Wake::Adaptive {
            share_percent: u8::try_from(share_percent).expect("shares are checked to be below 100"),
        },
    }
}

fn request(load: &Load, online: CpuSet, claimed: CpuSet) -> LoadRequest {
    LoadRequest {
        kind: kind(load.kind),
        workers: load.workers,
        size: load.size,
        cpus: match load.place {
            LoadPlace::Anywhere => None,
            LoadPlace::OtherCpus => Some(online.without(&claimed)),
            LoadPlace::SameCpu => Some(claimed),
        },
        entrance: None,
        folder: None,
    }
}

/// The machine's word for the site file's word.
fn kind(kind: quietcore_site::LoadKind) -> LoadKind {
    LoadKind::ALL
        .into_iter()
        .find(|known| known.name() == kind.name())
        .expect("the site file and the loads name the same kinds, which a test checks")
}
