//! One run: a partition under a profile, as a job and loads. Pure.

use quietcore_load::{LoadKind, LoadRequest};
use quietcore_probe::job::{LatencyJob, Wake};
use quietcore_process::setting::Policy;
use quietcore_record::check::Injected;
use quietcore_site::{EarlyWake, Length, Load, LoadPlace, Partition, Profile, Scheduling, Site};
use quietcore_units::{CpuSet, Nanos};

/// What one run measures.
#[derive(Clone, Debug)]
pub struct Run {
    /// The partition's name.
    pub partition: String,
    /// The profile's name.
    pub profile: String,
    /// Whether the partition keeps its CPUs.
    pub reserved: bool,
    /// What the partition shall do.
    pub job: LatencyJob,
    /// The loads beside it.
    pub loads: Vec<LoadRequest>,
    /// SHA-256 of the site file; empty for a run by hand.
    pub site_sha256: String,
}

impl Run {
    /// A name for people: partition and profile.
    pub fn name(&self) -> String {
        format!("{}.{}", self.partition, self.profile)
    }

    /// How long it takes, warm-up included.
    pub fn duration(&self) -> Nanos {
        self.job.period * (self.job.cycles + self.job.warm_up_cycles)
    }

    /// The delay that is injected, for the self-check.
    pub fn injected(&self) -> Option<Injected> {
        self.job.injection.map(|injection| Injected {
            delay_ns: injection.delay.get(),
            release: injection.release,
        })
    }

    /// How the releases are made, in words.
    pub fn mode(&self) -> String {
        match self.job.wake {
            Wake::Sleep => "sleep".to_owned(),
            Wake::Early(margin) => format!("early wake, {margin} before the release"),
            Wake::Adaptive { share_percent } => {
                format!("early wake, learned margin, at most {share_percent} % of the core")
            }
        }
    }
}

/// All runs of a site's campaign: profile by profile, in each one partition after the other.
pub fn runs(site: &Site, site_sha256: &str, online: CpuSet) -> Vec<Run> {
    let campaign = site.campaign();
    let claimed = site.claimed_cpus();
    let mut runs = Vec::new();
    for profile in &campaign.profiles {
        for partition in site.partitions() {
            let loads = profile.loads.iter().map(|load| request(load, online, claimed)).collect();
            runs.push(Run {
                partition: partition.name.clone(),
                profile: profile.name.clone(),
                reserved: profile.pinned,
                job: job(partition, profile, campaign.length, campaign.warm_up),
                loads,
                site_sha256: site_sha256.to_owned(),
            });
        }
    }
    runs
}

fn job(partition: &Partition, profile: &Profile, length: Length, warm_up: Nanos) -> LatencyJob {
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
