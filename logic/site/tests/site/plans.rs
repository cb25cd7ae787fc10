//! Plans: what is done, what is refused, and what is done less well.

mod budgets;
mod demand;
mod disks;
mod guests;
mod neighbours;
mod probes;
mod turns;

use quietcore_site::{
    CacheWays, Example, FoundModel, FoundPeriod, FoundVariable, Machine, PageColoursError, Plan,
    Scheduling, Site, Step, init, init_found, plan, plan_run,
};
use quietcore_units::{ByteSize, CpuId, CpuSet, Nanos};

use crate::support::{machine, no_guests, read_text};

fn quickstart() -> Site {
    read_text(&init(&machine(2), Example::Quickstart, "site.toml")).unwrap()
}

fn site_with(vcr: &str, rest: &str) -> Site {
    let text = format!(
        "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \
         \"motion-control\"\n[partition.vcr]\n{vcr}\n{rest}\n"
    );
    read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[track_caller]
fn refused(site: &Site, machine: &Machine, key: &str, part: &str) {
    let refusals = plan(site, machine).unwrap_err();
    let shown: Vec<_> = refusals.iter().map(ToString::to_string).collect();
    assert!(
        refusals.iter().any(|one| one.place.key == key && one.to_string().contains(part)),
        "{shown:#?}"
    );
}

/// The degradations of a plan, and the plan.
fn degraded(site: &Site, machine: &Machine) -> (String, Plan) {
    let plan = plan(site, machine).unwrap();
    let shown: Vec<_> = plan.degraded.iter().map(ToString::to_string).collect();
    (shown.join("\n"), plan)
}

#[test]
fn the_quickstart_takes_less_than_three_minutes() {
    let plan = plan(&quickstart(), &machine(2)).unwrap();
    assert!(plan.expected < Nanos::from_secs(180), "{}", plan.expected);
    assert_eq!(plan.housekeeping.to_string(), "0");
}

#[test]
fn whatever_is_started_is_stopped_and_every_record_is_judged() {
    let plan = plan(&quickstart(), &machine(2)).unwrap();
    let count = |which: fn(&Step) -> bool| plan.steps.iter().filter(|step| which(step)).count();
    assert_eq!(count(|step| matches!(step, Step::StartPartition { .. })), 4);
    assert_eq!(count(|step| matches!(step, Step::StopPartition { .. })), 4);
    assert_eq!(count(|step| matches!(step, Step::StartLoad { .. })), 4);
    assert_eq!(count(|step| matches!(step, Step::StopLoads { .. })), 2);
    assert_eq!(count(|step| matches!(step, Step::Judge { .. })), 4);
    assert_eq!(plan.steps.first(), Some(&Step::HoldCpusAwake));
    assert!(matches!(plan.steps.last(), Some(Step::WriteEvidence { .. })));
}

#[test]
fn loads_on_other_cpus_stay_away_from_the_partitions() {
    let plan = plan(&quickstart(), &machine(2)).unwrap();
    let places: Vec<_> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::StartLoad { profile, cpus, .. } => Some((profile.as_str(), *cpus)),
            _ => None,
        })
        .collect();
    let zero: CpuSet = "0".parse().unwrap();
    let expected = [("tp3", None), ("tp3", None), ("tp4", Some(zero)), ("tp4", Some(zero))];
    assert_eq!(places, expected);
}

#[test]
fn cpus_that_are_not_there_are_refused() {
    let site = site_with("cpus = \"1,3\"", "[host]\nhousekeeping = [0, 9]");
    refused(&site, &machine(2), "partition.a.vcr.cpus", "CPU 3 is not online");
    refused(&site, &machine(2), "host.housekeeping", "choose from CPUs 0,1");
    let refusals = plan(&site, &machine(2)).unwrap_err();
    assert_eq!((refusals[0].place.position.line, refusals[0].place.position.column), (7, 8));
}

/// Goal: a CPU that is online and that no thread here can have is refused, with a way out.
/// Containers and two controls have groups of their own.
#[test]
fn cpus_outside_of_the_control_group_are_refused() {
    let (usable, own_group) = ("0,2".parse().unwrap(), "0-2".parse().unwrap());
    let bounded = Machine { usable, own_group, ..machine(4) };
    let site = site_with("cpus = \"1-2\"", "[host]\nhousekeeping = [3]");
    refused(&site, &bounded, "partition.a.vcr.cpus", "may use CPUs 0,2 only, and not CPU 1");
    refused(&site, &bounded, "partition.a.vcr.cpus", "`AllowedCPUs=` of systemd");
    refused(&site, &bounded, "host.housekeeping", "and not CPU 3");
    refused(&site_with("cpus = [7]", ""), &bounded, "partition.a.vcr.cpus", "is not online");
    let with = |control: &str, cpu: u32| {
        let house = 4 - cpu;
        let host = format!("[host]\nhousekeeping = [0, {house}]\ncontrols = [\"{control}\"]");
        site_with(&format!("cpus = [{cpu}]"), &host)
    };
    for control in ["load-balance", "programs"] {
        assert!(plan(&with(control, 1), &bounded).is_ok(), "{control}, with one CPU for the rest");
        refused(
            &with(control, 3),
            &bounded,
            "partition.a.vcr.cpus",
            "CPUs 0-2 only, and not CPU 3",
        );
        let user = Machine { root: false, ..bounded.clone() };
        refused(&with(control, 1), &user, "partition.a.vcr.cpus", "and not CPU 1");
    }
    let first = Machine { load_balance_moves: false, ..bounded.clone() };
    refused(&with("load-balance", 1), &first, "partition.a.vcr.cpus", "and not CPU 1");
    // Loads and whatever else is on other CPUs stay within the group.
    let loaded = site_with("cpus = [2]", "[campaign]\nprofiles = [\"tp4\"]");
    let steps = plan(&loaded, &bounded).unwrap().steps;
    let places = steps.iter().filter_map(|step| match step {
        Step::StartLoad { cpus, .. } => Some(*cpus),
        _ => None,
    });
    let places: Vec<_> = places.collect();
    assert!(!places.is_empty() && places.iter().all(|it| *it == Some("0".parse().unwrap())));
    let alone = Machine { usable: "2".parse().unwrap(), ..bounded };
    refused(&loaded, &alone, "host.housekeeping", "none is left for the rest");
}

#[test]
fn a_machine_without_a_free_cpu_is_refused_unless_accepted() {
    let all = site_with("cpus = \"0-1\"", "[campaign]\nprofiles = [\"tp2\"]");
    refused(&all, &machine(2), "host.housekeeping", "none is left for the rest");
    let accepted =
        site_with("cpus = \"0-1\"", "[host]\nhousekeeping = []\n[campaign]\nprofiles = [\"tp2\"]");
    assert!(plan(&accepted, &machine(2)).is_ok());
    let loaded = site_with("cpus = \"0-1\"", "[host]\nhousekeeping = []");
    refused(&loaded, &machine(2), "campaign.profiles", "profile `tp4` needs CPUs other than");
    assert!(plan_run(&loaded, &machine(2)).is_ok(), "a run has no profiles");
    assert_eq!(plan_run(&all, &machine(2)), plan(&all, &machine(2)).map(|it| it.degraded));
}

#[test]
fn what_a_process_cannot_reserve_is_refused_and_not_ignored() {
    let site = site_with(
        "cpus = [1]\nbudget = 50\ncache = { ways = 4 }\nnetwork = { rate = \"1 Mbit/s\" }",
        "",
    );
    let mut machine = machine(2);
    refused(&site, &machine, "partition.a.vcr.cache.ways", "no CAT");
    refused(&site, &machine, "partition.a.vcr.network", "sends on no network interface");
    machine.cache_ways = Ok(CacheWays { all: 2, least: 1 });
    refused(&site, &machine, "partition.a.vcr.cache.ways", "2 can be assigned, one of");
    let colours = site_with("cpus = [1]\ncache = { colours = \"0-3\" }", "");
    refused(
        &colours,
        &machine,
        "partition.a.vcr.cache.colours",
        "backend `process` has no colours",
    );
}

#[test]
fn a_process_has_ways_and_a_limit_of_bandwidth_where_the_machine_gives_them() {
    let site = site_with("cpus = [1]\ncache = { ways = 1 }\nmemory_bandwidth = 40", "");
    let mut machine = machine(2);
    let limit = "partition.a.vcr.memory_bandwidth";
    machine.cache_ways = Ok(CacheWays { all: 8, least: 2 });
    refused(&site, &machine, "partition.a.vcr.cache.ways", "assigns 2 cache ways at least");
    machine.cache_ways = Ok(CacheWays { all: 8, least: 1 });
    refused(&site, &machine, limit, "can't limit the memory's bandwidth (no MBA)");
    machine.memory_bandwidth = Ok(50);
    refused(&site, &machine, limit, "least limit is 50 %");
    machine.memory_bandwidth = Ok(10);
    let plan = plan(&site, &machine).unwrap();
    let words: Vec<String> = plan.steps.iter().map(ToString::to_string).collect();
    let reserve = "give partition `a` 1 way of the last-level cache for itself and 40 % of the \
                   memory's bandwidth at most, and read back that it holds";
    let count = words.iter().filter(|step| *step == reserve).count();
    assert_eq!(count, site.campaign().profiles.len(), "{words:#?}");
    machine.root = false;
    refused(&site, &machine, limit, "only root limits");
}

#[test]
fn a_guest_has_a_part_of_the_cache_where_the_machine_gives_one() {
    let site = |first: &str, second: &str| {
        let partition = |name: &str, cpu: u32, cache: &str| {
            format!(
                "[[partition]]\nname = \"{name}\"\nclass = \"motion-control\"\nbackend = \
                 \"kvm\"\n[partition.vcr]\ncpus = [{cpu}]\ncache = {{ {cache} }}\n\
                 [partition.program]\nmodel = \"m\"\n"
            )
        };
        let (a, b) = (partition("a", 1, first), partition("b", 2, second));
        let text = format!("[site]\nname = \"s\"\n{a}{b}");
        read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let mut machine = machine(3);
    (machine.kvm, machine.cache_ways) = (Ok(()), Ok(CacheWays { all: 8, least: 1 }));
    let possible = site("ways = 3", "colours = \"0-15\"");
    assert!(plan_run(&possible, &machine).is_ok());
    let (ways, colours) = ("partition.b.vcr.cache.ways", "partition.b.vcr.cache.colours");
    refused(&site("ways = 4", "ways = 4"), &machine, ways, "claim 8 of 8 cache ways, and one must");
    refused(&site("ways = 1", "ways = 8"), &machine, ways, "ask for 7 at most");
    let shared = site("colours = \"0-3\"", "colours = \"3-5\"");
    refused(&shared, &machine, colours, "colour 3 is also claimed by `a`");
    let missing = site("colours = \"0-3\"", "colours = \"15-16\"");
    refused(&missing, &machine, colours, "no colour 16: this cache has 16 at most");
    machine.page_colours = Err(PageColoursError::VirtualMachine { hypervisor: "xen".to_owned() });
    refused(&possible, &machine, colours, "in a virtual machine");
    machine.root = false;
    refused(&possible, &machine, "partition.a.vcr.cache.ways", "only root");
}

#[test]
fn a_task_that_never_sleeps_is_for_a_guest_with_one_task() {
    let site = |backend: &str, tasks: &str| {
        let text = format!(
            "[site]\nname = \"a\"\n[[partition]]\nname = \"a\"\nbackend = \"{backend}\"\n\
             class = \"motion-control\"\n[partition.vcr]\ncpus = [1]\n\
             [partition.program]\nmodel = \"m\"\nearly_wake = \"spin\"\n{tasks}"
        );
        read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let mut machine = machine(2);
    machine.kvm = Ok(());
    assert!(plan_run(&site("kvm", ""), &machine).is_ok());
    let key = "partition.a.program.early_wake";
    refused(&site("process", ""), &machine, key, "has to sleep");
    let two = "[[partition.program.task]]\nname = \"fast\"\n\
               [[partition.program.task]]\nname = \"slow\"\nperiod = \"10 ms\"\n";
    refused(&site("kvm", two), &machine, key, "leaves nothing to the other 1");
    machine.kvm = Err(no_guests());
    refused(&site("kvm", ""), &machine, "partition.a.backend", "/dev/kvm");
}

#[test]
fn memory_and_processes_that_are_not_there_are_refused() {
    let big = site_with("cpus = [1]\nmemory = \"16 GiB\"", "");
    refused(&big, &machine(2), "partition.a.vcr.memory", "may take 16512 MiB and");
    let mut small = machine(2);
    small.memory_available = ByteSize::new(512 << 20);
    refused(&quickstart(), &small, "campaign.profiles", "loads of profile `tp3` fill 640 MB");
    let mut few = machine(2);
    few.processes_left = Some(20);
    refused(&quickstart(), &few, "campaign.profiles", "20 load workers and 20 more");
}

#[test]
fn backends_that_the_machine_has_not_name_the_one_that_it_has() {
    let bare = Machine { containers: Vec::new(), ..machine(2) };
    for backend in ["container", "kvm", "qemu", "xen"] {
        let text = init(&machine(2), Example::Quickstart, "site.toml");
        let text = text.replace("backend = \"process\"", &format!("backend = \"{backend}\""));
        let site = read_text(&text).unwrap();
        refused(&site, &bare, "partition.axis.backend", "choose `process`");
    }
}

#[test]
fn without_privileges_the_plan_says_what_is_lost() {
    let mut plain = machine(2);
    plain.root = false;
    plain.fifo = false;
    plain.dma_latency = false;
    plain.memory_lock_limit = Some(ByteSize::new(8 << 20));
    let (shown, plan) = degraded(&quickstart(), &plain);
    assert!(shown.contains("/dev/cpu_dma_latency is not held"), "{shown}");
    assert!(shown.contains("SCHED_OTHER in place of SCHED_FIFO 90"), "{shown}");
    assert!(shown.contains("CAP_SYS_NICE"), "{shown}");
    assert!(shown.contains("the memory of partition `axis` is not locked"), "{shown}");
    assert!(!plan.steps.contains(&Step::HoldCpusAwake));
    for step in &plan.steps {
        if let Step::StartPartition { scheduling, locked, .. } = step {
            assert_eq!((*scheduling, *locked), (Scheduling::Other, false));
        }
    }
}

#[test]
fn a_pinned_thread_under_sched_deadline_needs_what_the_kernel_demands() {
    let site =
        site_with("cpus = [1]", "[partition.program]\npolicy = \"deadline\"\nwcet = \"9 us\"");
    let mut machine = machine(2);
    assert!(!degraded(&site, &machine).0.contains("SCHED_OTHER"));
    machine.throttles = true;
    let (shown, plan) = degraded(&site, &machine);
    assert!(shown.contains("sched_rt_runtime_us to -1"), "{shown}");
    let other = plan
        .steps
        .iter()
        .filter(|step| matches!(step, Step::StartPartition { scheduling: Scheduling::Other, .. }));
    assert_eq!(other.count(), 2, "tp2 and tp4 are pinned");
}

#[test]
fn a_partition_that_never_sleeps_is_told_that_the_kernel_stops_it() {
    let of = |policy: &str| {
        let text = format!(
            "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \"motion-control\"\n\
             backend = \"kvm\"\nvcr.cpus = [1]\n[partition.program]\nmodel = \"m\"\n\
             early_wake = \"spin\"\npolicy = \"{policy}\"\n"
        );
        read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
    };
    let (fifo, other) = (of("fifo"), of("other"));
    let mut machine = machine(2);
    machine.kvm = Ok(());
    assert!(!degraded(&fifo, &machine).0.contains("never sleeps"));
    machine.throttles = true;
    let (shown, _) = degraded(&fifo, &machine);
    assert!(shown.contains("`a` never sleeps, and the kernel stops it"), "{shown}");
    assert!(shown.contains("set kernel.sched_rt_runtime_us to -1"), "{shown}");
    assert!(!degraded(&other, &machine).0.contains("never sleeps"));
}

#[test]
fn cpus_that_others_use_as_well_are_said() {
    let site = site_with("cpus = [1]", "");
    assert!(degraded(&site, &machine(2)).0.contains("isolcpus=managed_irq,domain,1"));
    let mut isolated = machine(2);
    isolated.isolated = "1".parse().unwrap();
    assert!(!degraded(&site, &isolated).0.contains("isolcpus"));
}

/// A partition with a program of two rates, another one with the probe, and all between them.
fn two_partitions() -> String {
    "[partition.program]\nmodel = \"m\"\n[[partition.program.task]]\nname = \"fast\"\nperiod = \"1 \
     ms\"\n[[partition.program.task]]\nname = \"slow\"\nperiod = \"10 \
     ms\"\n[[partition]]\nname = \"b\"\nclass = \"motion-control\"\nvcr.cpus = \
     [2]\n#B\n[[channel]]\nname = \"c\"\nfrom = \"a\"\nto = \"b\"\nsignals = [{ name = \"x\", \
     type = \"f64\" }]\n[fieldbus.ec0]\npartition = \"a\"\ninterface = \"sim\"\ncycle = \"1 \
     ms\"\n[[fieldbus.ec0.subdevice]]\nname = \"d\"\ndevice = \
     \"servo-drive\"\n[campaign]\nprofiles = [\"tp1\", \"tp2\"]"
        .to_owned()
}

#[test]
fn programs_are_built_once_and_run_with_their_channels_and_fieldbus() {
    let with_both = two_partitions().replace("#B", "program.model = \"n\"");
    let plan = plan(&site_with("cpus = [1]", &with_both), &machine(3)).unwrap();
    let shown: Vec<_> = plan.steps.iter().map(ToString::to_string).collect();
    let count = |text: &str| shown.iter().filter(|step| step.contains(text)).count();
    assert_eq!(shown[0], "build program `m` of partition `a` with gcc");
    assert_eq!(count("build program"), 2, "{shown:#?}");
    assert_eq!(count("create channel `c` from `a` to `b` with 1 signal"), 2, "{shown:#?}");
    let bring_up = "bring 1 SubDevice of fieldbus `ec0` to OP for partition `a`, on the simulated \
                    segment, a frame every 1 ms";
    assert_eq!(count(bring_up), 2, "{shown:#?}");
    let tasks = "running `m`; task `fast` every 1 ms, SCHED_FIFO 90; task `slow` every 10 ms, \
                 SCHED_FIFO 89";
    assert_eq!(count(tasks), 2, "{shown:#?}");
    let channels = shown.iter().position(|step| step.contains("create channel")).unwrap();
    let started = shown.iter().position(|step| step.contains("start partition")).unwrap();
    let brought_up = shown.iter().position(|step| step.contains("to OP")).unwrap();
    assert!(channels < brought_up && brought_up < started, "{shown:#?}");
}

#[test]
fn a_program_runs_on_one_cpu_and_the_rest_is_remarked() {
    let site = site_with("cpus = \"1,3-5\"", &two_partitions());
    let shown: Vec<_> = site.remarks().iter().map(ToString::to_string).collect();
    let unused = "site.toml:7:8: `partition.a.vcr.cpus`: all tasks of a program run on its first \
                  CPU, here 1, and nothing runs on 3-5; write `cpus = [1]` and leave the rest to \
                  others";
    assert_eq!(shown, [unused]);
    let cpus_of = |site: &Site| {
        let plan = plan(site, &machine(6)).unwrap();
        let pinned = plan.steps.iter().find_map(|step| match step {
            Step::StartPartition { partition, cpus: Some(cpus), .. } if partition == "a" => {
                Some(cpus.to_string())
            }
            _ => None,
        });
        pinned.unwrap()
    };
    assert_eq!(cpus_of(&site), "1");
    let probe = site_with("cpus = \"1,3-5\"", "");
    assert_eq!(cpus_of(&probe), "1,3-5", "the probe runs on each of them");
    let remarks = probe.remarks();
    assert!(!remarks.iter().any(|one| one.to_string().contains("first CPU")), "{remarks:?}");
}

#[test]
fn what_nothing_uses_without_a_program_is_said_and_not_started() {
    let (shown, plan) = degraded(&site_with("cpus = [1]", &two_partitions()), &machine(3));
    assert!(shown.contains("channel `c` is not used by partition `b`"), "{shown}");
    assert!(!plan.steps.iter().any(|step| matches!(step, Step::CreateChannel { .. })));
    let alone = two_partitions().replace("partition = \"a\"", "partition = \"b\"");
    let (shown, plan) = degraded(&site_with("cpus = [1]", &alone), &machine(3));
    assert!(shown.contains("fieldbus `ec0` is not run"), "{shown}");
    assert!(shown.contains("name a `model` in the program of partition `b`"), "{shown}");
    assert!(!plan.steps.iter().any(|step| matches!(step, Step::BringUpFieldbus { .. })));
}

#[test]
fn a_partition_drives_one_fieldbus() {
    let second = "[fieldbus.ec1]\npartition = \"a\"\ninterface = \"sim\"\ncycle = \"1 ms\"\n";
    let both = format!("{}\n{second}", two_partitions());
    refused(
        &site_with("cpus = [1]", &both),
        &machine(3),
        "fieldbus.ec1.partition",
        "drives fieldbus `ec0` already",
    );
}

#[test]
fn a_plan_is_also_data() {
    let plan = plan(&quickstart(), &machine(2)).unwrap();
    let json = serde_json::to_value(&plan).unwrap();
    assert_eq!(json["steps"][0]["step"], "hold-cpus-awake");
    assert_eq!(json["housekeeping"], "0");
    let refusals = plan_refusals_as_json();
    assert_eq!(refusals[0]["key"], "partition.a.vcr.cpus");
    assert_eq!(refusals[0]["line"], 7);
}

fn plan_refusals_as_json() -> serde_json::Value {
    let refusals = plan(&site_with("cpus = [5]", ""), &machine(2)).unwrap_err();
    serde_json::to_value(refusals).unwrap()
}

/// Goal: whatever the machine, what `init` writes can be read and planned.
#[test]
fn init_writes_what_the_machine_can_do() {
    for cpu_count in [1, 2, 3, 4, 8, 64, 1024] {
        for (memory, isolated) in [(8 << 30, false), (600 << 20, true), (100 << 20, false)] {
            let mut machine = machine(cpu_count);
            machine.memory_available = ByteSize::new(memory);
            if isolated {
                machine.isolated = CpuId::new(cpu_count / 2).into_iter().collect();
            }
            for example in Example::ALL {
                let text = init(&machine, example, "site.toml");
                let shown = format!("{cpu_count} CPUs, {memory} bytes:\n{text}");
                let site =
                    read_text(&text).unwrap_or_else(|problems| panic!("{problems}\n{shown}"));
                let plan = plan(&site, &machine).unwrap_or_else(|no| panic!("{no:?}\n{shown}"));
                assert!(!plan.steps.is_empty());
                assert!(text.lines().all(|line| line.chars().count() <= 100), "{shown}");
                let own = if isolated { cpu_count / 2 } else { cpu_count - 1 };
                assert_eq!(site.claimed_cpus().to_string(), own.to_string(), "{shown}");
            }
        }
    }
}

#[test]
fn on_one_cpu_init_says_what_cannot_be_kept_apart() {
    let text = init(&machine(1), Example::Quickstart, "site.toml");
    assert!(text.contains("housekeeping = []"), "{text}");
    assert!(text.contains("profiles = [\"tp1\", \"tp2\", \"tp3\"]"), "{text}");
    assert!(text.contains("the only CPU"), "{text}");
    let remarks = read_text(&text).unwrap().remarks();
    assert!(remarks.iter().any(|one| one.to_string().contains("no CPU is kept")), "{remarks:?}");
}

#[test]
fn an_example_is_found_by_name() {
    assert_eq!("quickstart".parse(), Ok(Example::Quickstart));
    let error = "quikstart".parse::<Example>().unwrap_err();
    assert_eq!(error.to_string(), "there is no example `quikstart`; did you mean `quickstart`?");
}

/// Goal: what is written for a model of one's own can be read and planned, and so can what stands
/// in its comments.
#[test]
fn a_site_file_for_a_model_is_valid_with_and_without_its_stubs() {
    let variable = |path: &str, is_switch: bool| FoundVariable {
        path: path.to_owned(),
        type_name: if is_switch { "bool" } else { "f64" }.to_owned(),
        is_switch,
        is_float: !is_switch,
    };
    let model = FoundModel {
        folder: "models/Oven".to_owned(),
        name: "Oven".to_owned(),
        model_name: Some("plant::Oven".to_owned()),
        taken_for: "generated C++, class `Oven` with 2 rates".to_owned(),
        is_osek: false,
        periods: vec![
            vec![FoundPeriod { period: Nanos::from_millis(2), place: "a remark in `a.c`".into() }],
            Vec::new(),
        ],
        inputs: (0..6)
            .map(|at| variable(&format!("Oven_U.t[{at}]"), false))
            .chain([variable("Oven_U.door", true)])
            .collect(),
        outputs: vec![variable("Oven_Y.heat", false), variable("Oven_Y.alarm", true)],
        parameters: (0..10).map(|at| format!("gain_{at}")).collect(),
    };
    let text = init_found(&machine(2), &model, "oven.toml");
    assert!(text.contains("# as a remark in `a.c` says\n"), "{text}");
    assert!(text.contains("\n# The code states no period of rate 1 ("), "{text}");
    assert!(
        text.contains("\n# `models/Oven` holds generated C++, class `Oven` with 2 rates.\n"),
        "{text}"
    );
    assert!(text.starts_with("#:schema ") && text.contains("quietcore up oven.toml"), "{text}");
    let site = read_text(&text).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    assert!(plan(&site, &machine(2)).is_ok() && site.fieldbuses().is_empty());
    let program = &site.partitions()[0].program;
    assert_eq!(program.model.as_deref(), Some("models/Oven"));
    assert_eq!(program.model_name.as_deref(), Some("plant::Oven"));
    assert_eq!((program.period, program.tasks.len()), (Nanos::from_millis(2), 2));
    assert_eq!(program.retain.len(), 8);
    assert!(text.contains("\"gain_7\"") && text.contains("; there are 2 more"), "{text}");
    let begin = text.find("# [fieldbus.ec0]").unwrap();
    let (head, stub) = text.split_at(begin);
    let opened: String = stub
        .lines()
        .map(|line| line.strip_prefix("# ").unwrap_or(line))
        .map(|line| format!("{}\n", if line == "#" { "" } else { line }))
        .collect();
    let site = read_text(&format!("{head}{opened}")).unwrap_or_else(|it| panic!("{it}\n{opened}"));
    assert_eq!(site.fieldbuses()[0].map.len(), 9);
    assert_eq!(site.fieldbuses()[0].subdevices.len(), 6);
}

/// Goal: where the code contradicts itself the file says so and names both places; and no line is
/// wider than a terminal, or has its comment run into it, whatever the names are.
#[test]
fn a_site_file_for_a_model_says_what_the_code_disagrees_on_and_fits_a_terminal() {
    let stated = |millis: u64, place: &str| FoundPeriod {
        period: Nanos::from_millis(millis),
        place: place.to_owned(),
    };
    let variable = FoundVariable {
        path: "SmartTrackerFilter_Y.controller_mode".to_owned(),
        type_name: "u8".to_owned(),
        is_switch: false,
        is_float: false,
    };
    let model = FoundModel {
        folder: "generated/SmartTrackerFilter_ert_rtw".to_owned(),
        name: "SmartTrackerFilter".to_owned(),
        taken_for: "generated C++, class `SmartTrackerFilterModelClass` with one rate".to_owned(),
        periods: vec![vec![
            stated(100, "`Timing.stepSize0` in `SmartTrackerFilter.cpp`"),
            stated(5, "a remark in `ert_main.cpp`"),
        ]],
        outputs: vec![variable],
        parameters: vec!["SmartTrackerFilter_P.*".to_owned(), "SmartTrackerFilter_B.x".to_owned()],
        ..FoundModel::default()
    };
    for file in ["a.toml", "SmartTrackerFilter-at-the-second-station.toml"] {
        let text = init_found(&machine(2), &model, file);
        let plain = text.replace("\n# ", " ");
        assert!(
            plain.contains("several periods: 100 ms by `Timing.stepSize0` in `Smart"),
            "{text}"
        );
        assert!(plain.contains("5 ms by a remark in `ert_main.cpp`; which is yours?"), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
            let setting = line.trim_start_matches("# ").split_once(" = ");
            let comment = setting.and_then(|(_, value)| value.rsplit_once('#'));
            assert!(comment.is_none_or(|(value, _)| value.ends_with("  ")), "{line}");
        }
        read_text(&text).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    }
    assert_eq!(model.doubts().len(), 1);
}
