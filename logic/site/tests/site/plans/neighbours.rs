//! Plans with neighbours: where they run, what they are, and what refuses them.

use quietcore_site::{Obstacle, Step, plan};
use quietcore_units::{ByteSize, CpuSet};

use super::{refused, site_with};
use crate::support::{machine, read_text};

const BOTH: &str = "[campaign]\nprofiles = [\"tp5\", \"tp6\"]";

/// A profile whose neighbours have CPUs of their own.
const OWN: &str = "[[profile]]\nname = \"own\"\nlike = \"tp6\"\n[profile.neighbours]\nown_cpus = \
                   true\n[campaign]\nprofiles = [\"own\"]";

/// Returns the CPUs that the neighbours of a plan's first profile have.
fn places(steps: &[Step]) -> Vec<String> {
    let of = |step: &Step| match step {
        Step::StartNeighbour { cpus, .. } => Some(cpus.to_string()),
        _ => None,
    };
    steps.iter().filter_map(of).collect()
}

/// Goal: the six CPUs of queiroz2023 are divided as there: two for the measured partition, among
/// which it may move in `tp5`, and four over which both neighbours float.
#[test]
fn the_papers_neighbours_float_over_what_the_measured_partition_leaves() {
    let site = site_with("cpus = \"4-5\"", BOTH);
    let plan = plan(&site, &machine(6)).unwrap();
    assert_eq!(places(&plan.steps), ["0-3"; 4]);
    let own: CpuSet = "4-5".parse().unwrap();
    let started = plan.steps.iter().filter_map(|step| match step {
        Step::StartPartition { cpus, .. } => Some(*cpus),
        _ => None,
    });
    assert_eq!(started.collect::<Vec<_>>(), [Some(own); 2]);
    let words: Vec<String> = plan.steps.iter().map(ToString::to_string).collect();
    let start = "start neighbour-1 as a process on CPUs 0-3, with the loads 10 × `sqrt` and 10 × \
                 `malloc` of 64 MB each";
    assert_eq!(words.iter().filter(|word| *word == start).count(), 2, "{words:#?}");
    let place = |part: &str| words.iter().position(|word| word.contains(part)).unwrap();
    assert!(place("start neighbour-2") < place("start partition `a`"));
    assert!(place("stop partition `a`") < place("stop the neighbours of profile `tp5`"));
}

#[test]
fn neighbours_with_cpus_of_their_own_are_refused_where_there_are_too_few() {
    let site = site_with("cpus = [1]", OWN);
    let why = "profile `own` gives each of its 2 neighbours a CPU of its own; the partitions have \
               CPU 1, and CPU 0 alone is left; let them float";
    refused(&site, &machine(2), "campaign.profiles", why);
    assert_eq!(places(&plan(&site, &machine(4)).unwrap().steps), ["0,2", "3"]);
    let floating = site_with("cpus = [1]", BOTH);
    assert_eq!(places(&plan(&floating, &machine(2)).unwrap().steps), ["0"; 4]);
    let all = site_with("cpus = \"0-1\"", &format!("[host]\nhousekeeping = []\n{BOTH}"));
    let why = "profile `tp5` needs a CPU for its 2 neighbours; the partitions have CPUs 0,1, and \
               none is left";
    refused(&all, &machine(2), "campaign.profiles", why);
}

#[test]
fn neighbours_that_do_not_fit_into_memory_or_processes_are_refused() {
    let site = site_with("cpus = [1]", BOTH);
    let mut small = machine(4);
    small.memory_available = ByteSize::new(1 << 30);
    let why = "the neighbours of profile `tp5` take 1280 MB of memory";
    refused(&site, &small, "campaign.profiles", why);
    let mut few = machine(4);
    few.processes_left = Some(50);
    refused(&site, &few, "campaign.profiles", "profile `tp6` starts 42 load workers");
}

/// Goal: beside a guest the neighbours are Linux guests, which need QEMU and an image.
#[test]
fn neighbours_of_a_guest_are_linux_guests_and_need_an_image() {
    let text = |rest: &str| {
        let site = format!(
            "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nbackend = \"qemu\"\nclass = \
             \"motion-control\"\nguest = {{ accelerator = \"tcg\" }}\n[partition.vcr]\ncpus = \
             [1]\n[partition.program]\nmodel = \"m\"\n{BOTH}\n{rest}"
        );
        read_text(&site).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let mut without = machine(4);
    without.qemu = Ok(());
    refused(&text(""), &without, "campaign.profiles", "and no image for them is named; write");
    let named = text("neighbour_image = \"guest\"");
    let steps = plan(&named, &without).unwrap().steps;
    let words: Vec<String> = steps.iter().map(ToString::to_string).collect();
    let start = "start neighbour-1 as a Linux guest of QEMU with 1 processor on CPUs 0,2,3";
    assert!(words.iter().any(|word| word.starts_with(start)), "{words:#?}");
    without.qemu = Err(Obstacle { what: "it is gone".into(), remedy: "install it".into() });
    refused(&named, &without, "campaign.profiles", "`tp6` has Linux guests as neighbours: it is");
}

#[test]
fn a_profile_of_the_sites_own_inherits_neighbours_or_has_none() {
    let own = "[[profile]]\nname = \"a\"\nlike = \"tp5\"\n[[profile]]\nname = \"b\"\nlike = \
               \"tp5\"\nneighbours = { count = 0 }\n[[profile]]\nname = \"c\"\n[[profile.\
               neighbours.load]]\nkind = \"cache\"\nworkers = 3\n";
    let site = site_with("cpus = [1]", own);
    let of = |name: &str| {
        let profile = site.profiles().iter().find(|it| it.name == name).unwrap();
        (profile.pinned, profile.neighbours.as_ref().map(|it| (it.count, it.workers())))
    };
    assert_eq!(of("a"), (false, Some((2, 20))));
    assert_eq!(of("b"), (false, None));
    assert_eq!(of("c"), (true, Some((2, 3))));
}
