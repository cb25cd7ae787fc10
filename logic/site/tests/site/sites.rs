//! Tests of good files: defaults, inheritance, and changes from the command line.

use quietcore_site::{
    Backend, Cache, Initial, Interface, Length, LoadKind, LoadPlace, OverrideError, Scheduling,
    SignalKind, Site,
};
use quietcore_units::{ByteSize, FaultReaction, Nanos, Wake};

use crate::support::{read_text, repository_file};

fn press_line() -> Site {
    let text = std::fs::read_to_string(repository_file("examples/press-line.toml")).unwrap();
    read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn minimal() -> Site {
    let text = "[site]\nname = \"m\"\n[[partition]]\nname = \"a\"\nclass = \
                \"motion-control\"\nvcr.cpus = [1]\n";
    read_text(text).unwrap()
}

#[test]
fn every_example_is_read() {
    let folder = repository_file("examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            read_text(&text).unwrap_or_else(|problems| panic!("{}: {problems}", path.display()));
            count += 1;
        }
    }
    assert!(count >= 7, "{count}");
}

#[test]
fn everything_in_a_full_file_arrives() {
    let site = press_line();
    let axis = &site.partitions()[0];
    assert_eq!(axis.backend, Backend::Kvm);
    assert_eq!(axis.vcr.memory, Some(ByteSize::new(48 << 20)));
    assert_eq!(axis.vcr.cache, Some(Cache::Ways(4)));
    assert_eq!(axis.vcr.network.unwrap().rate.get(), 100_000_000);
    assert_eq!(axis.program.model.as_deref(), Some("../models/servo"));
    assert_eq!(axis.program.deadline, Nanos::from_micros(800));
    assert_eq!(axis.program.wcet, Some(Nanos::from_micros(120)));
    assert_eq!(axis.program.early_wake, Wake::Adaptive { share_percent: 20 });
    assert_eq!(
        (axis.program.tasks[0].watchdog, axis.program.tasks[0].sensitivity),
        (Nanos::from_micros(500), 3)
    );
    assert_eq!(axis.program.on_fault, FaultReaction::Substitute);
    assert_eq!(axis.program.substitutes.len(), 2);
    assert_eq!(axis.program.retain.len(), 2);
    let hmi = &site.partitions()[1];
    let priorities: Vec<_> = hmi.program.tasks.iter().map(|task| task.scheduling).collect();
    let fifo = |priority| Scheduling::Fifo { priority };
    assert_eq!(priorities, [fifo(90), fifo(70), fifo(89), fifo(69)]);
    assert_eq!((hmi.vcr.budget_percent, hmi.vcr.memory_bandwidth_percent), (None, Some(40)));
    let margin = Nanos::from_micros(50);
    assert_eq!(hmi.program.early_wake, Wake::Early { margin });
    let logger = &site.partitions()[2];
    assert_eq!(logger.program.scheduling, Scheduling::Other);
    assert_eq!(logger.program.period, Nanos::from_millis(50));
    let run_time = |index: usize| match site.partitions()[index].program.scheduling {
        Scheduling::Deadline { run_time, .. } => run_time,
        other => panic!("{other:?}"),
    };
    assert_eq!([3, 4].map(run_time), [4, 6].map(Nanos::from_millis));
    let signals = &site.channels()[0].signals;
    assert_eq!(signals[0].timeout, Some(Nanos::from_millis(10)));
    let initial = Initial::Truth(false);
    assert_eq!(signals[1].kind, SignalKind::Latest { initial });
    assert_eq!(site.channels()[1].signals[0].kind, SignalKind::Queue { depth: 64 });
    let line = &site.fieldbuses()[0];
    assert_eq!((&line.interface, line.seed), (&Interface::Simulated, 7));
    assert_eq!((line.subdevices.len(), line.map.len(), line.faults.len()), (3, 5, 5));
    assert_eq!(line.plants()[0].subdevices, [1, 2]);
    assert_eq!(site.housekeeping().unwrap().to_string(), "0,5-7");
    assert_eq!(site.claimed_cpus().to_string(), "1-4");
}

#[test]
fn a_class_takes_from_another_what_it_does_not_say() {
    let site = press_line();
    let class = &site.partitions()[0].class;
    assert_eq!(class.name, "press-axis");
    assert_eq!(class.title, "Press, main axis");
    assert_eq!((class.cycle_ns, class.jitter_ns), (Some(1_000_000), Some(50_000)));
    // The published source does not vouch for a figure of the site's own.
    assert!(
        class.source.starts_with("site file, like `motion-control` (queiroz2023"),
        "{}",
        class.source
    );
    assert!(site.classes().iter().any(|class| class.name == "stamping-shop"));
}

#[test]
fn a_profile_takes_from_another_what_it_does_not_say() {
    let site = press_line();
    let names: Vec<_> = site.campaign().profiles.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["tp2", "tp4", "night-shift"]);
    let night = &site.campaign().profiles[2];
    assert!(night.pinned);
    assert_eq!(night.workers(), 3);
    assert_eq!(night.loads[0].size, Some(ByteSize::new(256 << 20)));
    assert_eq!(night.loads[1].place, LoadPlace::Anywhere);
}

#[test]
fn the_built_in_profiles_are_those_of_queiroz2023() {
    let site = minimal();
    let facts: Vec<_> = site
        .profiles()
        .iter()
        .filter(|profile| profile.name.starts_with("tp"))
        .map(|profile| (profile.name.as_str(), profile.pinned, profile.workers()))
        .collect();
    let expected = [
        ("tp1", false, 0),
        ("tp2", true, 0),
        ("tp3", false, 20),
        ("tp4", true, 20),
        ("tp5", false, 0),
        ("tp6", true, 0),
    ];
    assert_eq!(facts, expected);
    let [sqrt, malloc] = site.profiles()[3].loads[..] else {
        panic!("two loads are expected");
    };
    assert_eq!((sqrt.kind, sqrt.place), (LoadKind::Sqrt, LoadPlace::OtherCpus));
    assert_eq!((malloc.kind, malloc.workers), (LoadKind::Malloc, 10));
    assert_eq!(malloc.size, Some(ByteSize::new(64_000_000)));
}

#[test]
fn the_defaults_are_those_of_the_reference() {
    let site = minimal();
    let partition = &site.partitions()[0];
    assert_eq!(partition.backend, Backend::Process);
    assert_eq!(partition.program.scheduling, Scheduling::Fifo { priority: 90 });
    assert_eq!(partition.program.early_wake, Wake::Sleep);
    assert_eq!(partition.program.period, Nanos::from_millis(1));
    assert_eq!(partition.program.deadline, partition.program.period);
    assert_eq!(site.housekeeping(), None);
    let campaign = site.campaign();
    assert_eq!(campaign.profiles.len(), 4);
    assert_eq!(campaign.warm_up, Nanos::from_secs(1));
    assert!((campaign.exceedance - 1e-6).abs() < 1e-18);
    assert_eq!(campaign.length, Length::Cycles(campaign.cycles_needed()));
}

#[test]
fn the_command_line_changes_profiles_and_length_within_the_limits() {
    let mut site = minimal();
    site.select_profiles(&["tp3".to_owned(), "tp1".to_owned()]).unwrap();
    assert_eq!(site.campaign().profiles[0].name, "tp3");
    site.set_length(Length::Cycles(10_000)).unwrap();
    assert_eq!(site.measured_in_all(), Nanos::from_secs(22));
    let before = site.clone();
    let unknown = site.select_profiles(&["tp22".to_owned()]).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no profile `tp22`; did you mean `tp2`?");
    assert_eq!(site.select_profiles(&[]), Err(OverrideError::NoProfile));
    let twice = site.select_profiles(&["tp1".to_owned(), "tp1".to_owned()]);
    assert!(matches!(twice, Err(OverrideError::ProfileTwice { .. })));
    for length in [Length::Cycles(0), Length::Duration(Nanos::ZERO), Length::Cycles(u64::MAX)] {
        assert_eq!(site.set_length(length), Err(OverrideError::Length { length }));
    }
    let long = site.set_length(Length::Cycles(100_000_000_000)).unwrap_err();
    assert!(matches!(long, OverrideError::CampaignTooLong { .. }));
    assert_eq!(site, before);
}
