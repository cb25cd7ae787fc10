//! The plan of a measurement of memory accesses. Pure, but for one attempt to get ways of the
//! cache.

use quietcore_backend::neighbour::{NeighbourKind, NeighbourLoad};
use quietcore_host::Facts;
use quietcore_host::facts::CacheDomain;
use quietcore_load::LoadRequest;
use quietcore_probe::memory::AccessPattern;
use quietcore_probe::memory::plan::{Sets, WORKING_SET_MIN, default_most};
use quietcore_process::field::PageKind;
use quietcore_record::record::{CacheLevel, Interference, Routine};
use quietcore_settings::{HeldShare, MemoryShare, RequestedSettings, ResctrlError};
use quietcore_site::{LoadKind, NeighbourForm};
use quietcore_units::{ByteSize, CpuId, Nanos, ThreadRequest};

use crate::probe::Probed;
use crate::run::{NeighbourRun, Run};

/// The most rounds of a measurement.
const ROUNDS_MAX: u32 = 1_000;
/// Name of the group of the partition that has ways of its own.
const GROUP: &str = "memory";
/// Working set of the pressure, in bytes, where neither a curve nor the caches suggest one.
const WORKING_SET: u64 = 4 << 20;

/// The fewest rounds of a campaign: an interval of 95 % takes as many.
const ROUNDS_MIN: u32 = 6;
/// Working sets from a size up to its double, in a campaign.
const PER_OCTAVE: u32 = 2;
/// Distance from one access to the next place, in bytes: a cache line.
const STRIDE_BYTES: u64 = 64;
/// Time for which a block of a campaign is measured.
const BLOCK: Nanos = Nanos::from_millis(5);
/// Approximate time that neighbours of a campaign take to work again after a rest.
const TURN: Nanos = Nanos::from_millis(100);
/// The longest time for the pass through the set before a block of a campaign.
const WARM_UP: Nanos = Nanos::from_millis(500);
/// Number of rates of the neighbours in a campaign, the last one being their full pace.
const STEPS: u32 = 5;
/// The most neighbours of a campaign, as many as in scordino2020.
const NEIGHBOURS_MAX: u32 = 3;
/// Memory that each neighbour of a campaign works on.
const NEIGHBOUR_SIZE: ByteSize = ByteSize::new(20 << 20);

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryPart {
    /// Access time by working set, alone and beside neighbours.
    Curves,
    /// One working set beside neighbours at many rates.
    Pressure,
    /// The routines of the OSEK kernel, alone and beside neighbours.
    Routines,
}

/// Ways of the last-level cache for the partition alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ways {
    /// None were asked for.
    Unasked,
    /// This many can be had.
    Count(u32),
    /// None can be had, for this reason.
    Absent(String),
}

impl Ways {
    /// Tries once to hold the ways asked for, or a third of all as in scordino2020.
    pub fn tried(asked: Option<u32>, facts: &Facts) -> Self {
        let third = || {
            let mut levels = facts.caches.resctrl.levels.iter();
            let level = levels.find(|level| level.name.starts_with("L3"))?;
            let mask = u64::from_str_radix(level.mask.get()?, 16).ok()?;
            let least = level.bits_least.get().copied().unwrap_or(1);
            Some((mask.count_ones() / 3).max(least))
        };
        let count = asked.or_else(third).unwrap_or(1);
        match MemoryPlan::hold_ways(count) {
            Ok(_) => Self::Count(count),
            Err(error) => Self::Absent(error.to_string()),
        }
    }
}

/// A checked plan of the measurement.
#[derive(Clone, Debug)]
pub struct MemoryPlan {
    /// The partition named in its records, but for those of the routines.
    pub partition: String,
    /// The parts, each once.
    pub parts: Vec<MemoryPart>,
    /// The orders in which working sets are read, each once.
    pub patterns: Vec<AccessPattern>,
    /// The working sets that are asked for.
    pub sets: Sets,
    /// Their sizes in bytes, ascending.
    pub sizes: Vec<u64>,
    /// The kind of page that they lie in.
    pub pages: PageKind,
    /// Number of times that everything is measured.
    pub rounds: u32,
    /// Time for which a block is measured.
    pub block: Nanos,
    /// The longest time for the pass through the set before a block.
    pub warm_up: Nanos,
    /// The thread that reads.
    pub thread: ThreadRequest,
    /// The load of the neighbours, on other CPUs than the thread's.
    pub neighbours: LoadRequest,
    /// The kind of neighbours: processes of the host, which are the load's workers, or partitions
    /// with one worker each.
    pub neighbour_kind: NeighbourKind,
    /// Limits of these neighbours on this machine, a sentence each.
    pub neighbour_limits: Vec<String>,
    /// Ways of the cache for the partition alone.
    pub ways: Ways,
    /// The working set of the pressure, in bytes; `None` takes the one that neighbours slow down
    /// most.
    pub working_set: Option<u64>,
    /// Number of rates of the neighbours, the last one being their full pace.
    pub steps: u32,
    /// Loops of each routine in a block.
    pub loops: u64,
    /// The caches that serve the CPU, the nearest first.
    pub caches: Vec<CacheLevel>,
}

impl MemoryPlan {
    /// Plans curves and pressure for a partition of a site, on its first CPU, for about as long as
    /// its campaign measures a profile. The neighbours run on the CPUs that no partition has.
    pub(super) fn of_partition(probed: &Probed<'_>) -> Self {
        let Probed { partition, site, facts, length, .. } = *probed;
        let cpu = partition.first_cpu();
        let caches = cpu.map_or_else(Vec::new, |cpu| caches_of(cpu, facts));
        let available = memory_available(facts);
        let last = caches.last().map(|level| level.bytes);
        let (least, most) = (WORKING_SET_MIN, default_most(last, available));
        let sets = Sets { least, most, per_octave: PER_OCTAVE, stride_bytes: STRIDE_BYTES };
        let others = facts.machine().usable.without(&site.claimed_cpus());
        let workers = u32::try_from(others.len()).unwrap_or(u32::MAX).clamp(1, NEIGHBOURS_MAX);
        let mut plan = Self {
            partition: partition.name.clone(),
            parts: vec![MemoryPart::Curves, MemoryPart::Pressure],
            patterns: AccessPattern::ALL.to_vec(),
            sizes: sets.sizes(available).unwrap_or_default(),
            sets,
            pages: PageKind::Small,
            rounds: 0,
            block: BLOCK,
            warm_up: WARM_UP,
            thread: partition.measuring_thread(),
            neighbours: LoadRequest {
                size: Some(NEIGHBOUR_SIZE),
                cpus: Some(others),
                ..LoadRequest::new(LoadKind::MemoryBandwidth, workers)
            },
            neighbour_kind: NeighbourKind::process(),
            neighbour_limits: Vec::new(),
            // The partition already has the share that the site file gives it.
            ways: Ways::Unasked,
            working_set: None,
            steps: STEPS,
            loops: 0,
            caches,
        };
        let turns = (plan.sizes.len() as u64).saturating_add(STEPS.into());
        let blocks = plan.blocks_of_round() * BLOCK.get();
        let round = Nanos::new(blocks.saturating_add(turns * TURN.get()));
        let rounds = u32::try_from(length.whole_times(round)).unwrap_or(u32::MAX);
        plan.rounds = rounds.clamp(ROUNDS_MIN, ROUNDS_MAX);
        plan
    }

    /// Returns `true` if `part` is measured.
    pub fn has(&self, part: MemoryPart) -> bool {
        self.parts.contains(&part)
    }

    /// Returns the pattern of the pressure: the random one, which suffers most, where it is
    /// measured.
    pub fn chased(&self) -> AccessPattern {
        let random = AccessPattern::Random;
        if self.patterns.contains(&random) { random } else { AccessPattern::Sequential }
    }

    /// Returns the largest working set of all parts, in bytes.
    pub(super) fn field_bytes(&self) -> u64 {
        let curve = self.sizes.last().filter(|_| self.has(MemoryPart::Curves)).copied();
        let fallback = self.has(MemoryPart::Pressure).then(|| self.half_of_cache());
        let working_set = self.working_set.or(fallback);
        curve.max(working_set).unwrap_or(WORKING_SET_MIN)
    }

    /// Returns half of the last-level cache in bytes, but no more than the largest working set of a
    /// curve.
    pub(super) fn half_of_cache(&self) -> u64 {
        let half = self.caches.last().map_or(WORKING_SET, |level| level.bytes / 2);
        let most = self.sizes.last().copied().unwrap_or(WORKING_SET);
        self.whole(half.min(most))
    }

    /// Returns the number of rounds whose blocks fit into `duration`, at least one.
    pub fn rounds_within(&self, duration: Nanos) -> u32 {
        let round = self.block * self.blocks_of_round().max(1);
        u32::try_from(duration.whole_times(round)).unwrap_or(u32::MAX).clamp(1, ROUNDS_MAX)
    }

    /// Returns the number of blocks in a round.
    fn blocks_of_round(&self) -> u64 {
        // With neighbours and without.
        const WAYS: u64 = 2;
        let mut blocks = 0;
        if self.has(MemoryPart::Curves) {
            let again = if matches!(self.ways, Ways::Count(_)) { 2 } else { 1 };
            blocks += (self.sizes.len() * self.patterns.len()) as u64 * WAYS * again;
        }
        if self.has(MemoryPart::Pressure) {
            blocks += u64::from(self.steps) * WAYS;
        }
        if self.has(MemoryPart::Routines) {
            blocks += Routine::ALL.len() as u64 * WAYS;
        }
        blocks
    }

    /// Lists the limits of this machine, a sentence each.
    pub(super) fn limits(&self) -> Vec<String> {
        let mut limits = self.neighbour_limits.clone();
        if let Ways::Absent(because) = &self.ways {
            let words = "no curve with ways of the cache of its own was measured";
            limits.push(format!("{words}: {because}"));
        }
        limits
    }

    /// Describes the neighbours for the records.
    pub(super) fn interference(&self) -> Interference {
        let (asked, form) = (&self.neighbours, self.neighbour_kind.form());
        Interference {
            kind: asked.kind.name().to_owned(),
            workers: asked.workers,
            size_bytes: asked.size.map(ByteSize::get),
            cpus: asked.cpus.unwrap_or_default().to_string(),
            backend: (form != NeighbourForm::Process).then(|| form.backend().name().to_owned()),
        }
    }

    /// Returns the run that has the neighbours where they are partitions, each with one worker and,
    /// as a guest, one processor; `None` where they are processes of the host.
    pub(super) fn beside(&self) -> Option<Run> {
        let LoadRequest { kind, workers, size, cpus, .. } = self.neighbours;
        let form = self.neighbour_kind.form();
        let cpus = cpus.filter(|_| form != NeighbourForm::Process)?;
        let filled = size.filter(|_| kind.fills_memory()).unwrap_or(ByteSize::new(0));
        let memory = NeighbourForm::guest_memory(filled);
        let neighbour = |number: u32| NeighbourRun {
            name: format!("neighbour-{number}"),
            form,
            loads: vec![NeighbourLoad { kind, workers: 1, size }],
            cpus,
            processors: (form == NeighbourForm::LinuxGuest).then_some(1),
            setting: self.neighbour_kind.setting(cpus, 1, memory),
            is_paced: true,
        };
        Some(Run {
            profile: "neighbours".to_owned(),
            reserved: false,
            settings: RequestedSettings::default(),
            container_runtime: None,
            partitions: Vec::new(),
            loads: Vec::new(),
            neighbours: (1..=workers).map(neighbour).collect(),
            explain: None,
            site_sha256: String::new(),
        })
    }

    /// Holds `count` ways of the cache for the partition.
    pub(super) fn hold_ways(count: u32) -> Result<HeldShare, ResctrlError> {
        HeldShare::hold(GROUP, MemoryShare::of_ways(count))
    }

    /// Rounds `bytes` down to a working set that can be measured, but to the smallest one at least.
    pub fn whole(&self, bytes: u64) -> u64 {
        let granule = self.sets.granule().max(1);
        (bytes / granule).max(1) * granule
    }
}

/// Returns the caches that serve the data of a CPU, the nearest first.
pub fn caches_of(cpu: CpuId, facts: &Facts) -> Vec<CacheLevel> {
    let level = |domain: &CacheDomain| {
        let kind = domain.kind.get().map_or("", String::as_str);
        if kind == "Instruction" || !domain.shared.has(cpu.get()) {
            return None;
        }
        Some(CacheLevel {
            level: *domain.level.get()?,
            bytes: *domain.size_bytes.get()?,
            cpus: domain.shared.0.to_string(),
        })
    };
    let mut levels: Vec<CacheLevel> = facts.caches.domains.iter().filter_map(level).collect();
    levels.sort_by_key(|level| level.level);
    levels
}

/// Returns the available memory in bytes; `u64::MAX` where the machine does not tell.
pub fn memory_available(facts: &Facts) -> u64 {
    facts.memory.available_kib.get().map_or(u64::MAX, |kib| kib << 10)
}
