//! What was asked for, checked: all that is wrong becomes one failure.

use quietcore_host::Facts;
use quietcore_host::controls::{HeldShare, MemoryShare};
use quietcore_host::facts::CacheDomain;
use quietcore_load::{LoadKind, LoadRequest};
use quietcore_probe::memory::AccessPattern;
use quietcore_probe::memory::plan::{Sets, WORKING_SET_MIN, default_most};
use quietcore_probe::thread::Place;
use quietcore_process::field::PageKind;
use quietcore_process::setting::Policy;
use quietcore_record::record::{CacheLevel, Routine};
use quietcore_units::{ByteSize, CpuId, CpuSet, Nanos};

use crate::arguments::{Memory, MemoryPart};
use crate::status::Failure;

/// A block is measured in one piece, between two rests of a real-time thread.
const BLOCK_MAX: Nanos = Nanos::from_millis(20);
/// The shortest block: below, reading the clock would be part of it.
const BLOCK_MIN: Nanos = Nanos::from_micros(200);
/// The longest way through a working set.
const WARM_UP_MAX: Nanos = Nanos::from_secs(30);
/// The most rounds.
const ROUNDS_MAX: u32 = 1_000;
/// The name of the partition's group where it has ways of its own.
const GROUP: &str = "memory";
/// The working set of a pressure where neither curve nor cache tell one.
const WORKING_SET: u64 = 4 << 20;

/// Ways of the last-level cache for the partition alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    /// Not asked for.
    Unasked,
    /// So many.
    Count(u32),
    /// There are none, and why.
    Absent(String),
}

/// What was asked for, checked.
pub(super) struct Wanted {
    pub(super) parts: Vec<MemoryPart>,
    pub(super) patterns: Vec<AccessPattern>,
    pub(super) sets: Sets,
    pub(super) sizes: Vec<u64>,
    pub(super) pages: PageKind,
    pub(super) rounds: u32,
    pub(super) block: Nanos,
    pub(super) warm_up: Nanos,
    pub(super) place: Place,
    pub(super) neighbours: LoadRequest,
    pub(super) ways: Ways,
    pub(super) working_set: Option<u64>,
    pub(super) steps: u32,
    pub(super) loops: u64,
    pub(super) caches: Vec<CacheLevel>,
}

impl Wanted {
    pub(super) fn of(request: &Memory, facts: &Facts) -> Result<Self, Failure> {
        let mut problems = Vec::new();
        let online = facts.machine().online;
        let cpu = request.cpu.map_or_else(|| online.iter().last(), CpuId::new);
        let cpu = cpu.filter(|cpu| online.contains(*cpu));
        if cpu.is_none() {
            let asked = request.cpu.unwrap_or_default();
            problems.push(format!("--cpu {asked}: it is not online; online are {online}"));
        }
        let caches = cpu.map_or_else(Vec::new, |cpu| levels(&facts.caches.domains, cpu));
        let available = facts.memory.available_kib.get().map_or(u64::MAX, |kib| kib << 10);
        let last = caches.last().map(|level| level.bytes);
        let most = request.to.map_or_else(|| default_most(last, available), ByteSize::get);
        let sets = Sets {
            least: request.from.get(),
            most,
            per_octave: request.per_octave,
            stride_bytes: request.stride,
        };
        let sizes = sets.sizes(available).unwrap_or_else(|wrong| {
            problems.extend(wrong);
            Vec::new()
        });
        times(request, &mut problems);
        let mut wanted = Self {
            parts: once(&request.parts),
            patterns: once(&request.pattern).into_iter().map(Into::into).collect(),
            sizes,
            sets,
            pages: request.pages.into(),
            rounds: request.rounds,
            block: request.block,
            warm_up: request.warm_up,
            place: Place { cpu, policy: Policy::Fifo(request.priority) },
            neighbours: neighbours(request, cpu, online, &mut problems),
            ways: Ways::Unasked,
            working_set: None,
            steps: request.steps,
            loops: request.loops,
            caches,
        };
        wanted.working_set = wanted.pressed(request, available, &mut problems);
        if problems.is_empty() && wanted.has(MemoryPart::Curves) {
            wanted.ways = ways(request, facts, &mut problems);
        }
        if let Some(duration) = request.duration {
            wanted.rounds = wanted.rounds_within(duration);
        }
        if problems.is_empty() { Ok(wanted) } else { Err(Failure::new(problems.join("\n"))) }
    }

    pub(super) fn has(&self, part: MemoryPart) -> bool {
        self.parts.contains(&part)
    }

    /// The pattern of the pressure: the random one, which suffers most, where it is measured.
    pub(super) fn chased(&self) -> AccessPattern {
        let random = AccessPattern::Random;
        if self.patterns.contains(&random) { random } else { AccessPattern::Sequential }
    }

    /// The largest working set of all parts, in bytes.
    pub(super) fn field_bytes(&self) -> u64 {
        let curve = self.sizes.last().filter(|_| self.has(MemoryPart::Curves)).copied();
        let fallback = self.has(MemoryPart::Pressure).then(|| self.half_of_cache());
        let working_set = self.working_set.or(fallback);
        curve.max(working_set).unwrap_or(WORKING_SET_MIN)
    }

    /// Half of the last-level cache, no more than the largest curve's working set.
    pub(super) fn half_of_cache(&self) -> u64 {
        let half = self.caches.last().map_or(WORKING_SET, |level| level.bytes / 2);
        let most = self.sizes.last().copied().unwrap_or(WORKING_SET);
        self.whole(half.min(most))
    }

    /// Returns the number of rounds whose blocks fit into `duration`, at least one.
    fn rounds_within(&self, duration: Nanos) -> u32 {
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
        let round = self.block * blocks.max(1);
        u32::try_from(duration.whole_times(round)).unwrap_or(u32::MAX).clamp(1, ROUNDS_MAX)
    }

    /// What this machine doesn't give.
    pub(super) fn limits(&self) -> Vec<String> {
        match &self.ways {
            Ways::Absent(because) => {
                vec![format!("no curve with ways of the cache of its own was measured: {because}")]
            }
            Ways::Unasked | Ways::Count(_) => Vec::new(),
        }
    }

    /// Holds the ways of the partition, where there are some.
    pub(super) fn hold_ways(count: u32) -> Result<HeldShare, Failure> {
        Ok(HeldShare::hold(GROUP, MemoryShare::of_ways(count))?)
    }

    fn whole(&self, bytes: u64) -> u64 {
        let granule = self.sets.granule().max(1);
        (bytes / granule).max(1) * granule
    }

    /// The working set of the pressure that was asked for.
    fn pressed(&self, request: &Memory, available: u64, problems: &mut Vec<String>) -> Option<u64> {
        let bytes = request.working_set?.get();
        let sets = Sets { least: bytes, most: bytes, per_octave: 1, ..self.sets };
        match sets.sizes(available) {
            Ok(_) => Some(self.whole(bytes)),
            Err(wrong) => {
                let wrong = wrong.into_iter().filter(|words| words.contains("a working set of"));
                problems.extend(wrong.map(|words| format!("--working-set: {words}")));
                None
            }
        }
    }
}

/// Each once, in the order in which they were first named.
fn once<T: Copy + PartialEq>(asked: &[T]) -> Vec<T> {
    let mut all = Vec::new();
    for one in asked {
        if !all.contains(one) {
            all.push(*one);
        }
    }
    all
}

fn times(request: &Memory, problems: &mut Vec<String>) {
    if !(BLOCK_MIN..=BLOCK_MAX).contains(&request.block) {
        problems.push(format!(
            "--block {}: out of range; give {BLOCK_MIN} to {BLOCK_MAX}",
            request.block
        ));
    }
    if request.warm_up > WARM_UP_MAX {
        problems.push(format!(
            "--warm-up {}: out of range; give {WARM_UP_MAX} at most",
            request.warm_up
        ));
    }
}

/// The neighbours, on other CPUs than the partition.
fn neighbours(
    request: &Memory,
    cpu: Option<CpuId>,
    online: CpuSet,
    problems: &mut Vec<String>,
) -> LoadRequest {
    let kind: LoadKind = request.neighbour_kind.parse().unwrap_or_else(|error| {
        problems.push(format!("--neighbour-kind: {error}"));
        LoadKind::MemoryBandwidth
    });
    if request.parts.contains(&MemoryPart::Pressure) && !kind.counts_bytes() {
        problems.push(format!(
            "--neighbour-kind {kind}: it counts no bytes, and the pressure is in bytes a second; \
             use memory-bandwidth, or leave pressure out of --parts"
        ));
    }
    let own: CpuSet = cpu.into_iter().collect();
    let cpus = request.neighbour_cpus.unwrap_or_else(|| online.without(&own));
    if cpus.is_empty() {
        problems.push(
            "neighbours work beside the partition, on other CPUs, and there is no other one online"
                .to_owned(),
        );
    } else if !cpus.intersection(&own).is_empty() {
        problems.push(format!(
            "--neighbour-cpus {cpus}: CPU {own} is the partition's; on it they would take turns \
             with it instead of working beside it"
        ));
    }
    LoadRequest {
        size: has_size(kind).then_some(request.neighbour_size),
        cpus: Some(cpus),
        ..LoadRequest::new(kind, request.neighbours)
    }
}

/// Whether workers of a kind have a size.
fn has_size(kind: LoadKind) -> bool {
    matches!(
        kind,
        LoadKind::Malloc
            | LoadKind::Cache
            | LoadKind::MemoryBandwidth
            | LoadKind::Disk
            | LoadKind::Network
    )
}

/// The caches that serve the data of a CPU, the nearest first.
fn levels(domains: &[CacheDomain], cpu: CpuId) -> Vec<CacheLevel> {
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
    let mut levels: Vec<CacheLevel> = domains.iter().filter_map(level).collect();
    levels.sort_by_key(|level| level.level);
    levels
}

/// How many ways the partition gets: as asked for, or a third as in scordino2020; tried once.
fn ways(request: &Memory, facts: &Facts, problems: &mut Vec<String>) -> Ways {
    if request.no_ways {
        return Ways::Unasked;
    }
    let third = || {
        let mut levels = facts.caches.resctrl.levels.iter();
        let level = levels.find(|level| level.name.starts_with("L3"))?;
        let mask = u64::from_str_radix(level.mask.get()?, 16).ok()?;
        let least = level.bits_least.get().copied().unwrap_or(1);
        Some((mask.count_ones() / 3).max(least))
    };
    let count = request.ways.or_else(third).unwrap_or(1);
    match HeldShare::hold(GROUP, MemoryShare::of_ways(count)) {
        Ok(_) => Ways::Count(count),
        Err(error) => {
            let because = error.to_string();
            if request.ways.is_some() {
                problems.push(format!("--ways {count}: {because}"));
            }
            Ways::Absent(because)
        }
    }
}
