//! One run: partitions under a profile, as jobs and loads. Pure.

use quietcore_backend::neighbour::NeighbourLoad;
use quietcore_backend::setting::BackendSetting;
use quietcore_load::LoadRequest;
use quietcore_probe::job::LatencyJob;
use quietcore_settings::{MemoryShare, RequestedSettings};
use quietcore_site::{
    ContainerRuntime, Length, Load, LoadPlace, NeighbourForm, Partition, Profile, Site,
};
use quietcore_units::{CpuSet, Nanos};

use crate::programs::Programs;
use crate::work::{PartitionWork, ProgramRun};

/// One run: partitions, loads, and the settings of the machine meanwhile.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the profile that the partitions run under.
    pub profile: String,
    /// `true` if the partitions have everything that the site reserves for them.
    pub reserved: bool,
    /// Settings of the machine that are changed during the run.
    pub settings: RequestedSettings,
    /// Runtime of its containers; `None` leaves the choice to the machine.
    pub container_runtime: Option<ContainerRuntime>,
    /// The partitions, which run at the same time.
    pub partitions: Vec<PartitionRun>,
    /// The loads beside them.
    pub loads: Vec<LoadRequest>,
    /// Partitions that run loads of their own beside them.
    pub neighbours: Vec<NeighbourRun>,
    /// Latency above which a release gets a ledger; `None` where none are asked for.
    pub explain: Option<Nanos>,
    /// SHA-256 of the site file; empty for a run by hand.
    pub site_sha256: String,
}

/// A partition in a run.
#[derive(Clone, Debug)]
pub struct PartitionRun {
    /// Name of the partition in the site file.
    pub name: String,
    /// Work of its process: the probe, or its program.
    pub work: PartitionWork,
    /// The setting of its backend.
    pub setting: BackendSetting,
    /// Its own share of the last-level cache and of the memory bandwidth.
    pub share: MemoryShare,
    /// CPUs that its tasks may move among; `None` where they are pinned, or may run anywhere.
    pub confines: Option<CpuSet>,
}

/// A partition that runs loads beside the measured ones.
#[derive(Clone, Debug)]
pub struct NeighbourRun {
    /// Name that the profile's order gives it.
    pub name: String,
    /// Form in which it is realised.
    pub form: NeighbourForm,
    /// The loads that its process starts.
    pub loads: Vec<NeighbourLoad>,
    /// The CPUs over which it floats.
    pub cpus: CpuSet,
    /// Processors that it has; `None` where it is no guest.
    pub processors: Option<u32>,
    /// The setting of its backend.
    pub setting: BackendSetting,
    /// `true` if it is told its pace and asked for its work; otherwise it works as fast as it can,
    /// and tells of that once a second.
    pub is_paced: bool,
}

impl Run {
    /// Returns the time that it takes, warm-up included: that of the slowest partition.
    pub fn duration(&self) -> Nanos {
        self.partitions.iter().map(|partition| partition.work.duration()).max().unwrap_or_default()
    }

    /// Returns the settings of the backends of its partitions and neighbours.
    pub fn backends(&self) -> impl Iterator<Item = &BackendSetting> {
        let of_neighbours = self.neighbours.iter().map(|it| &it.setting);
        self.partitions.iter().map(|it| &it.setting).chain(of_neighbours)
    }

    /// Returns the partitions, each with the CPUs that its tasks are pinned to.
    pub(crate) fn pinned(&self) -> Vec<(&str, CpuSet)> {
        let partitions = self.partitions.iter();
        partitions.map(|it| (it.name.as_str(), it.work.pinned_cpus())).collect()
    }

    /// Returns the releases of all tasks together, as far as they are known beforehand.
    pub fn cycles(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.work.cycles()).sum()
    }
}

/// Lists all runs of a site's campaign, one for each profile, in which all partitions run at the
/// same time as they will at work. A partition whose program is among `programs` runs it; the
/// others run the probe `latency` in its place.
pub fn runs(site: &Site, site_sha256: &str, online: CpuSet, programs: &Programs) -> Vec<Run> {
    let campaign = site.campaign();
    let claimed = site.claimed_cpus();
    let mut runs = Vec::new();
    for profile in &campaign.profiles {
        let partitions = site.measured().map(|partition| PartitionRun {
            name: partition.name.clone(),
            setting: setting_of(partition, programs, profile.pinned || profile.confines()),
            share: MemoryShare::of(&partition.vcr),
            confines: profile.confines().then_some(partition.vcr.cpus),
            work: match programs.get(&partition.name) {
                Some(assembly) => PartitionWork::Program(Box::new(ProgramRun::new(
                    partition,
                    assembly,
                    profile.pinned,
                    campaign.length,
                    campaign.warm_up,
                ))),
                None => PartitionWork::Latency(latency(
                    partition,
                    profile,
                    campaign.length,
                    campaign.warm_up,
                )),
            },
        });
        let loads = profile.loads.iter().map(|load| request(load, online, claimed));
        runs.push(Run {
            profile: profile.name.clone(),
            reserved: site.keeps_reservation(profile),
            settings: RequestedSettings::under(site, profile),
            partitions: partitions.collect(),
            loads: loads.collect(),
            neighbours: neighbours(profile, online.without(&claimed), programs),
            container_runtime: site.container_runtime(),
            explain: campaign.explain,
            site_sha256: site_sha256.to_owned(),
        });
    }
    runs
}

/// Lists the neighbours of a profile, which share the CPUs `others`. There are none where these are
/// too few, which a plan refuses.
fn neighbours(profile: &Profile, others: CpuSet, programs: &Programs) -> Vec<NeighbourRun> {
    let Some(neighbours) = &profile.neighbours else { return Vec::new() };
    let Some(places) = neighbours.places(others) else { return Vec::new() };
    let kind = programs.neighbour_kind();
    let is_guest = kind.form() == NeighbourForm::LinuxGuest;
    let processors = u32::try_from(places.processors).ok().filter(|_| is_guest);
    let placed = neighbours.names().into_iter().zip(places.cpus);
    let neighbour = |(name, cpus)| NeighbourRun {
        name,
        form: kind.form(),
        loads: neighbours.loads.iter().map(NeighbourLoad::from).collect(),
        cpus,
        processors,
        setting: kind.setting(cpus, places.processors, neighbours.guest_memory()),
        is_paced: false,
    };
    placed.map(neighbour).collect()
}

/// Returns the setting of a partition's backend under a profile that pins tasks or not.
pub fn setting_of(partition: &Partition, programs: &Programs, pinned: bool) -> BackendSetting {
    let setting = programs.setting(partition);
    if pinned { setting } else { setting.unpinned() }
}

fn latency(partition: &Partition, profile: &Profile, length: Length, warm_up: Nanos) -> LatencyJob {
    let program = &partition.program;
    let cpus = partition.vcr.cpus.iter();
    LatencyJob {
        cpus: cpus.map(|cpu| profile.pinned.then_some(cpu.get())).collect(),
        period: program.period,
        cycles: length.cycles(program.period).max(1),
        warm_up_cycles: warm_up.whole_times(program.period),
        policy: program.scheduling,
        wake: program.early_wake,
        injection: None,
        memory: partition.vcr.memory,
        snare: None,
    }
}

fn request(load: &Load, online: CpuSet, claimed: CpuSet) -> LoadRequest {
    LoadRequest {
        kind: load.kind,
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

#[cfg(test)]
mod tests {
    use quietcore_record::class::catalogue;
    use quietcore_site::{Control, read};

    use super::*;

    /// Returns the runs of a site with one partition on CPU 1 of two, by their profiles.
    fn runs_of(host: &str, rest: &str) -> Vec<Run> {
        let text = format!(
            "[site]\nname = \"s\"\n[host]\n{host}\n[[partition]]\nname = \"axis\"\nclass = \
             \"motion-control\"\n[partition.vcr]\ncpus = [1]\n{rest}"
        );
        let site = read("site.toml", text.as_bytes(), &catalogue());
        let site = site.unwrap_or_else(|problems| panic!("{problems}"));
        runs(&site, "", "0-1".parse().unwrap(), &Programs::default())
    }

    #[test]
    fn a_run_changes_what_its_profile_names_and_not_what_the_site_does() {
        let own = "[[profile]]\nname = \"own\"\ncontrols = [\"timers\"]\n[campaign]\nprofiles = \
                   [\"tp1\", \"tp2\", \"own\"]\n";
        let runs = runs_of("controls = [\"governor\"]", own);
        let changed = |index: usize| &runs[index].settings.controls[..];
        let cpus = |index: usize| runs[index].settings.cpus.to_string();
        assert_eq!((changed(0), cpus(0)), (&[][..], String::new()), "it pins nothing");
        assert_eq!((changed(1), cpus(1)), (&[Control::Governor][..], "1".to_owned()));
        assert_eq!((changed(2), cpus(2)), (&[Control::Timers][..], "1".to_owned()));
        let reserved: Vec<bool> = runs.iter().map(|run| run.reserved).collect();
        assert_eq!(reserved, [false, true, false], "`own` lacks the governor");
    }

    /// Goal: in `tp5` a partition may move among its own CPUs and is not pinned to one, in `tp6` it
    /// is pinned; the neighbours are the same in both.
    #[test]
    fn neighbours_are_beside_a_partition_on_its_own_cpus() {
        let runs = runs_of("", "[campaign]\nprofiles = [\"tp4\", \"tp5\", \"tp6\"]\n");
        let confines = |run: &Run| run.partitions[0].confines.map(|cpus| cpus.to_string());
        let all: Vec<_> = runs.iter().map(confines).collect();
        assert_eq!(all, [None, Some("1".to_owned()), None]);
        let of = |run: &Run| -> Vec<String> {
            let words = |it: &NeighbourRun| format!("{} on {}: {}", it.name, it.cpus, it.form);
            run.neighbours.iter().map(words).collect()
        };
        assert_eq!(of(&runs[0]), Vec::<String>::new());
        assert_eq!(of(&runs[1]), ["neighbour-1 on 0: process", "neighbour-2 on 0: process"]);
        assert_eq!(of(&runs[1]), of(&runs[2]));
        let loads = &runs[2].neighbours[0].loads;
        assert_eq!(loads.iter().map(|load| load.workers).sum::<u32>(), 20);
        assert!(runs[1].loads.is_empty(), "the load is in the neighbours");
    }

    #[test]
    fn the_rows_of_the_matrix_are_runs_with_their_settings_and_loads() {
        let runs = runs_of("", "[campaign]\nprofiles = [\"isolation\"]\n");
        let names: Vec<_> = runs.iter().map(|run| run.profile.as_str()).collect();
        assert_eq!((names.len(), names[0], names[11]), (12, "iso1", "iso12"));
        let pinned = |run: &Run| match &run.partitions[0].work {
            PartitionWork::Latency(job) => job.cpus == [Some(1)],
            PartitionWork::Program(_) => false,
        };
        assert_eq!(runs.iter().position(pinned), Some(2), "rows 1 and 2 are not pinned");
        assert!(runs[2..].iter().all(pinned));
        // A load anywhere has no CPUs set; one elsewhere has those that no partition has.
        let cpus = |run: &Run| run.loads.first().map(|load| load.cpus.map(|it| it.to_string()));
        let places: Vec<_> = runs.iter().map(cpus).collect();
        for (index, place) in places.iter().enumerate() {
            let expected = match index + 1 {
                2 | 4 | 6 => Some(None),
                8 | 10 | 12 => Some(Some("0".to_owned())),
                _ => None,
            };
            assert_eq!(*place, expected, "row {}", index + 1);
        }
        let (balance, interrupts) = (Control::LoadBalance, Control::Interrupts);
        for (index, run) in runs.iter().enumerate() {
            let controls = &run.settings.controls;
            let is_off = ![0, 1, 2, 3, 6, 7].contains(&index);
            assert_eq!(controls.contains(&balance), is_off, "row {}", index + 1);
            assert_eq!(controls.contains(&interrupts), is_off, "row {}", index + 1);
            assert_eq!(controls.contains(&Control::KernelThreads), index >= 6);
        }
    }
}
