//! The checked site. Only [`read`](crate::read) makes one, so later code need not doubt it.

mod campaign;
mod channel;
mod container;
mod control;
mod fieldbus;
mod isolation;
mod monitor;
mod partition;
mod profile;
mod program;
mod unit;

use std::borrow::Cow;
use std::collections::BTreeMap;

use quietcore_record::class::Class;
use quietcore_record::isolation::GROUP;
use quietcore_units::{CpuSet, Nanos};

use crate::backend::{Backend, HostRequirement, MemoryForm};
use crate::problem::{KeyPosition, Remark};
use crate::words;

pub use campaign::{
    CAMPAIGN_MAX, CYCLES_MAX, Campaign, DURATION_MAX, DURATION_MIN, Length, ProbeName,
};
pub(crate) use channel::HOST_END;
pub use channel::{Channel, ChannelEnd, Initial, Signal, SignalKind};
pub use container::{ContainerRuntime, OWN_MEMORY, real_time_share};
pub use control::Control;
pub use fieldbus::{
    Device, DeviceIdentity, Entry, Fault, FaultEffect, FaultKind, Fieldbus, Interface, Mapping,
    PlantKind, PlantOnLine, Startup, SubDevice, Wire,
};
pub(crate) use isolation::names_of;
pub use monitor::{Criticality, Monitor, Reaction, SHED_PERIOD_MIN, Shedding};
pub(crate) use partition::SHUTDOWN_DEFAULT;
pub use partition::{Accelerator, Cache, GivenCard, GuestSystem, Network, Partition, Traffic, Vcr};
pub use partition::{DiskDevices, DiskGuest, Firmware};
pub use profile::{
    Load, LoadKind, LoadPlace, NEIGHBOUR_WORKERS_MAX, NEIGHBOURS_MAX, NeighbourForm,
    NeighbourPlaces, Neighbours, Profile, UnknownLoadKind, WORKERS_MAX,
};
pub(crate) use profile::{built_in, papers_load};
pub use program::{
    Literal, Program, ProgramKind, RESTART_LIMIT_DEFAULT, RESTART_QUIET, RESTART_WAIT_DEFAULT,
    RESTART_WAIT_MAX, Release, Restart, Substitute, Task, WATCHDOG_FREEWHEELING,
};
pub use quietcore_units::Scheduling;

/// Size of a large page.
const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// A site: everything in it is within its limits, refers to what exists and fits together.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    pub(crate) name: String,
    pub(crate) housekeeping: Option<CpuSet>,
    pub(crate) controls: Vec<Control>,
    pub(crate) container_runtime: Option<ContainerRuntime>,
    pub(crate) partitions: Vec<Partition>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) fieldbuses: Vec<Fieldbus>,
    pub(crate) classes: Vec<Class>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) campaign: Campaign,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) places: KeyPositions,
}

/// Positions of the keys that a plan may refuse.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyPositions {
    pub(crate) whole: KeyPosition,
    pub(crate) keys: BTreeMap<String, KeyPosition>,
}

impl KeyPositions {
    /// The place of a dotted key; where it isn't written, the place of the nearest table around it.
    pub(crate) fn of(&self, key: &str) -> KeyPosition {
        let mut around = key;
        let found = loop {
            if let Some(place) = self.keys.get(around) {
                break place;
            }
            match around.rsplit_once('.') {
                Some((outer, _)) => around = outer,
                None => break &self.whole,
            }
        };
        KeyPosition { key: key.to_owned(), ..found.clone() }
    }
}

/// A choice of profiles or a length that the site can't accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// No profile was chosen.
    #[error("no profile is chosen; name at least one")]
    NoProfile,
    /// A profile does not exist.
    #[error("there is no profile `{name}`; {remedy}")]
    UnknownProfile {
        /// The name as given.
        name: String,
        /// The nearest known one, or all of them.
        remedy: String,
    },
    /// A profile was chosen twice.
    #[error("profile `{name}` is chosen twice; name it once")]
    ProfileTwice {
        /// Name of the profile.
        name: String,
    },
    /// The length is outside its limits.
    #[error(
        "a length of {length} is not allowed; give {DURATION_MIN} to {DURATION_MAX}, or 1 to \
         {CYCLES_MAX} cycles"
    )]
    Length {
        /// The length as given.
        length: Length,
    },
    /// All profiles together would take too long.
    #[error("the campaign would take {total}; {CAMPAIGN_MAX} are allowed at most")]
    CampaignTooLong {
        /// Time that it would take.
        total: Nanos,
    },
}

impl Site {
    /// The name of the site.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the file it was read from, as given to [`read`](crate::read).
    pub fn file(&self) -> &str {
        &self.places.whole.position.file
    }

    /// The CPUs for everything that is not a partition; `None` means every online CPU that no
    /// partition claims. Empty means that the user accepts that no CPU is kept apart.
    pub const fn housekeeping(&self) -> Option<CpuSet> {
        self.housekeeping
    }

    /// Returns the settings of the machine that are changed while the site runs, each once, in the
    /// order of [`Control::ALL`].
    pub fn controls(&self) -> &[Control] {
        &self.controls
    }

    /// The partitions, in the order of the file; never empty.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// Returns the partitions that a campaign measures, in the order of the file: all but guests
    /// that start from their disks.
    pub fn measured(&self) -> impl Iterator<Item = &Partition> {
        self.partitions.iter().filter(|partition| partition.is_measured())
    }

    /// Returns the parts of the site that its campaign measures one after the other: all of it, or
    /// each measured partition alone.
    pub fn turns(&self) -> Vec<Self> {
        if !self.campaign.alone {
            return vec![self.clone()];
        }
        self.measured().map(|partition| self.only(&partition.name)).collect()
    }

    /// Returns the part of the site that its campaign measures a partition in.
    pub fn turn_of(&self, partition: &str) -> Cow<'_, Self> {
        if self.campaign.alone { Cow::Owned(self.only(partition)) } else { Cow::Borrowed(self) }
    }

    /// Lists the partitions that have CPUs of an earlier one, each with these CPUs: a campaign that
    /// measures each alone allows that, and nothing runs them at the same time.
    pub(crate) fn in_turns<'p>(
        &self,
        partitions: impl IntoIterator<Item = &'p Partition>,
    ) -> Vec<(&'p Partition, CpuSet)> {
        let mut seen = CpuSet::EMPTY;
        let mut shared = Vec::new();
        for partition in partitions.into_iter().filter(|_| self.campaign.alone) {
            let cpus = partition.vcr.cpus;
            shared.push((partition, seen.intersection(&cpus)));
            seen = seen.union(&cpus);
        }
        shared.retain(|(_, cpus)| !cpus.is_empty());
        shared
    }

    /// Returns the site with one of its partitions, and with what is that one's.
    fn only(&self, name: &str) -> Self {
        let is_own = |end: &ChannelEnd| *end == ChannelEnd::Host || end.is(name);
        let mut own = self.clone();
        own.partitions.retain(|partition| partition.name == name);
        own.channels.retain(|channel| is_own(&channel.from) && is_own(&channel.to));
        own.fieldbuses.retain(|fieldbus| fieldbus.partition == name);
        own
    }

    /// The channels, in the order of the file.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The fieldbus segments, by name.
    pub fn fieldbuses(&self) -> &[Fieldbus] {
        &self.fieldbuses
    }

    /// The published classes and those of the site.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The built-in profiles and those of the site, whether the campaign runs them or not.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Returns the campaign of the site.
    pub const fn campaign(&self) -> &Campaign {
        &self.campaign
    }

    /// Returns the position of a dotted key such as `partition.axis.vcr.cpus` in the file; of a key
    /// that isn't written, that of the nearest table around it.
    pub fn place(&self, key: &str) -> KeyPosition {
        self.places.of(key)
    }

    /// Returns `true` if the backend of a partition needs this of the machine.
    pub fn requires(&self, requirement: HostRequirement) -> bool {
        self.partitions.iter().any(|it| it.declaration().requires == requirement)
    }

    /// Returns `true` if the processor runs guests of any of its partitions.
    pub fn has_guests_under_kvm(&self) -> bool {
        let under_kvm = |partition: &Partition| match partition.declaration().requires {
            HostRequirement::Kvm => true,
            HostRequirement::Qemu => partition.accelerator == Accelerator::Kvm,
            HostRequirement::Nothing | HostRequirement::ContainerRuntime | HostRequirement::Xen => {
                false
            }
        };
        self.partitions.iter().any(under_kvm)
    }

    /// Returns the form of its neighbours: as far as possible that of the first partition.
    pub fn neighbour_form(&self) -> NeighbourForm {
        NeighbourForm::beside(self.first_partition().backend)
    }

    /// Returns the way in which guests that are neighbours run their instructions: that of the
    /// first partition's.
    pub fn neighbour_accelerator(&self) -> Accelerator {
        self.first_partition().accelerator
    }

    /// Returns the folder with the image of neighbours that are Linux guests, as written: what the
    /// campaign names, else that of the first partition with such a guest; `None` without either.
    pub fn neighbour_image(&self) -> Option<&str> {
        let mut partitions = self.partitions.iter().filter_map(|it| match &it.system {
            GuestSystem::Linux { image } => Some(image.as_str()),
            GuestSystem::Osek | GuestSystem::Disk(_) => None,
        });
        self.campaign.neighbour_image.as_deref().or_else(|| partitions.next())
    }

    fn first_partition(&self) -> &Partition {
        let first = self.measured().next().or_else(|| self.partitions.first());
        first.expect("a site has a partition")
    }

    /// The CPUs that partitions claim.
    pub fn claimed_cpus(&self) -> CpuSet {
        self.partitions.iter().fold(CpuSet::EMPTY, |all, partition| all.union(&partition.vcr.cpus))
    }

    /// The pages of 2 MiB in the memory of all guests. Memory that is no multiple of that, or has
    /// colours, is in small ones.
    pub fn huge_pages(&self) -> u64 {
        let is_plain = |one: &&Partition| !matches!(one.vcr.cache, Some(Cache::Colours(_)));
        let takes = |one: &&Partition| one.declaration().takes_huge_pages;
        let plain = self.partitions.iter().filter(is_plain).filter(takes);
        let bytes = plain.filter_map(|one| match one.declaration().memory {
            MemoryForm::Heap => None,
            MemoryForm::Own { default, .. } => Some(one.vcr.memory.unwrap_or(default).get()),
        });
        let whole = bytes.filter(|bytes| bytes.is_multiple_of(HUGE_PAGE_BYTES));
        whole.map(|bytes| bytes / HUGE_PAGE_BYTES).sum()
    }

    /// Returns the settings of the machine that are changed under a profile: none if partitions are
    /// not pinned, as no CPU is theirs then.
    pub fn controls_under<'s>(&'s self, profile: &'s Profile) -> &'s [Control] {
        let asked = profile.controls.as_deref().unwrap_or(&self.controls);
        if profile.pinned { asked } else { &[] }
    }

    /// Returns the settings of the machine that are changed while the campaign runs, under any of
    /// its profiles; and the site's own where it names probes.
    pub fn controls_of_campaign(&self) -> Vec<Control> {
        let profiles = &self.campaign.profiles;
        let of_probes = if self.campaign.probes.is_empty() { &[][..] } else { &self.controls };
        let is_changed = |control: &Control| {
            of_probes.contains(control)
                || profiles.iter().any(|profile| self.controls_under(profile).contains(control))
        };
        Control::ALL.into_iter().filter(is_changed).collect()
    }

    /// Returns `true` if the partitions have under a profile what the site reserves for them: their
    /// CPUs, and all controls that it names. Other profiles are for comparison.
    pub fn keeps_reservation(&self, profile: &Profile) -> bool {
        let changed = self.controls_under(profile);
        profile.pinned && self.controls.iter().all(|control| changed.contains(control))
    }

    /// Returns the limits of what partitions send on the interfaces that they drive. One without a
    /// program drives none.
    pub fn traffic(&self) -> Vec<Traffic> {
        let limited = self.partitions.iter().filter_map(|partition| {
            let share = partition.vcr.network?;
            partition.program.model.as_ref()?;
            let is_driven = |bus: &&Fieldbus| bus.partition == partition.name;
            self.fieldbuses.iter().filter(is_driven).find_map(|bus| match &bus.interface {
                Interface::Network(name) => Some(Traffic::new(&partition.name, name, share)),
                Interface::Simulated | Interface::Card(_) => None,
            })
        });
        limited.collect()
    }

    /// Returns the network cards that guests drive themselves. A partition without a program drives
    /// none.
    pub fn cards(&self) -> Vec<GivenCard> {
        let driven = self.fieldbuses.iter().filter_map(|bus| {
            let Interface::Card(address) = &bus.interface else { return None };
            let mut partitions = self.partitions.iter();
            let partition = partitions.find(|it| it.name == bus.partition)?;
            partition.program.model.as_ref()?;
            Some(GivenCard::new(&partition.name, &bus.name, address))
        });
        driven.collect()
    }

    /// Returns the CPUs of each domain of Xen that shares them with no other partition.
    pub fn pools(&self) -> Vec<CpuSet> {
        let is_alone = |one: &&Partition| {
            let others = self.partitions.iter().filter(|other| other.name != one.name);
            let taken = others.fold(CpuSet::EMPTY, |all, other| all.union(&other.vcr.cpus));
            one.vcr.cpus.without(&taken) == one.vcr.cpus
        };
        let domains = self.partitions.iter().filter(|one| one.backend == Backend::Xen);
        domains.filter(is_alone).map(|one| one.vcr.cpus).collect()
    }

    /// Returns the time that all profiles are measured and warmed up, and all probes take. Under a
    /// profile the partitions run at the same time, so with a number of cycles the longest period
    /// decides, unless each is measured alone; a probe measures one partition after the other.
    pub fn measured_in_all(&self) -> Nanos {
        measured_in_all(&self.campaign, &self.partitions, &self.fieldbuses)
    }

    /// Lists the measurements by probes: each probe with each partition in which it measures
    /// something, in their order.
    pub fn probed(&self) -> impl Iterator<Item = (ProbeName, &Partition)> {
        probed(&self.campaign, &self.partitions, &self.fieldbuses)
    }

    /// Returns remarks on what is allowed and may still surprise, in the order of the file.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = self.remarks.clone();
        let needed = self.campaign.cycles_needed();
        for partition in self.measured() {
            remarks.extend(self.unused_cpus(partition));
            let cycles = self.campaign.length.cycles(partition.program.period);
            if cycles < needed {
                let Partition { name, .. } = partition;
                remarks.push(Remark {
                    place: self.places.of("campaign.exceedance"),
                    remark: format!(
                        "partition `{name}` has {cycles} cycles in each profile, and excluding an \
                         exceedance of {:e} takes {needed}; a PASS isn't possible, measure longer",
                        self.campaign.exceedance,
                    ),
                });
            }
        }
        remarks.sort();
        remarks
    }

    /// CPUs that are reserved for a program and that it does not use.
    fn unused_cpus(&self, partition: &Partition) -> Option<Remark> {
        let (used, unused) = (partition.cpus_in_use(), partition.cpus_unused());
        let remark = format!(
            "all tasks of a program run on its first CPU, here {used}, and nothing runs on \
             {unused}; write `cpus = [{used}]` and leave the rest to others"
        );
        let place = self.places.of(&format!("partition.{}.vcr.cpus", partition.name));
        (!unused.is_empty()).then_some(Remark { place, remark })
    }

    /// Runs these profiles, in this order, in place of those in the file. `isolation` stands for
    /// the twelve of the isolation matrix.
    pub fn select_profiles(&mut self, names: &[String]) -> Result<(), OverrideError> {
        if names.is_empty() {
            return Err(OverrideError::NoProfile);
        }
        let mut profiles: Vec<Profile> = Vec::new();
        for name in &names.iter().flat_map(|name| names_of(name)).collect::<Vec<_>>() {
            let known = self.profiles.iter().map(|profile| profile.name.as_str());
            let Some(profile) = self.profiles.iter().find(|profile| profile.name == *name) else {
                let remedy = unknown_profile(name, known.chain([GROUP]));
                let name = name.clone();
                return Err(OverrideError::UnknownProfile { name, remedy });
            };
            if profiles.contains(profile) {
                let name = name.clone();
                return Err(OverrideError::ProfileTwice { name });
            }
            profiles.push(profile.clone());
        }
        self.change(|campaign| campaign.profiles = profiles)
    }

    /// Measures each profile this long, in place of what is in the file.
    pub fn set_length(&mut self, length: Length) -> Result<(), OverrideError> {
        if !length.is_allowed() {
            return Err(OverrideError::Length { length });
        }
        self.change(|campaign| campaign.length = length)
    }

    /// Runs this long before each measurement, in place of what is in the file.
    pub fn set_warm_up(&mut self, warm_up: Nanos) -> Result<(), OverrideError> {
        self.change(|campaign| campaign.warm_up = warm_up)
    }

    /// Changes the campaign unless it becomes too long.
    fn change(&mut self, change: impl FnOnce(&mut Campaign)) -> Result<(), OverrideError> {
        let mut campaign = self.campaign.clone();
        change(&mut campaign);
        let total = measured_in_all(&campaign, &self.partitions, &self.fieldbuses);
        if total > CAMPAIGN_MAX {
            return Err(OverrideError::CampaignTooLong { total });
        }
        self.campaign = campaign;
        Ok(())
    }
}

/// Returns the remedy for a profile that doesn't exist.
pub(crate) fn unknown_profile<'p>(
    name: &str,
    known: impl IntoIterator<Item = &'p str> + Clone,
) -> String {
    words::instead(name, known)
}

/// Returns the time that a campaign of these partitions measures and warms up; beyond 584 years it
/// saturates.
pub(crate) fn measured_in_all(
    campaign: &Campaign,
    partitions: &[Partition],
    fieldbuses: &[Fieldbus],
) -> Nanos {
    let measured = partitions.iter().filter(|partition| partition.is_measured());
    let periods: Vec<Nanos> = measured.map(|partition| partition.program.period).collect();
    let of = |period: Nanos| {
        campaign.length.duration(period).get().saturating_add(campaign.warm_up.get())
    };
    let each = match campaign.alone {
        true => periods.into_iter().map(of).fold(0, u64::saturating_add),
        false => of(periods.into_iter().max().unwrap_or_default()),
    };
    let profiles = each.saturating_mul(campaign.profiles.len() as u64);
    let probes = probed(campaign, partitions, fieldbuses);
    let probes = probes.map(|(probe, partition)| campaign.time_of(probe, partition).get());
    Nanos::new(probes.fold(profiles, u64::saturating_add))
}

fn probed<'s>(
    campaign: &'s Campaign,
    partitions: &'s [Partition],
    fieldbuses: &'s [Fieldbus],
) -> impl Iterator<Item = (ProbeName, &'s Partition)> {
    campaign.probes.iter().flat_map(move |probe| {
        let measured = partitions.iter().filter(|it| it.is_measured());
        let measured = measured.filter(|it| probe.measures(it, fieldbuses));
        measured.map(|partition| (*probe, partition))
    })
}
