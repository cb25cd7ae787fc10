//! Run time: what tasks need by their own bounds, against what a CPU and the kernel give.

use quietcore_site::{Machine, Site, plan, plan_run};

use crate::support::{machine, read_text};

/// A partition with two tasks of these bounds.
fn site(host: &str, policy: &str, fast: &str, slow: &str) -> Site {
    let text = format!(
        "[site]\nname = \"s\"\n{host}[[partition]]\nname = \"a\"\nclass = \
         \"process-control\"\n[partition.vcr]\ncpus = [1]\n[partition.program]\nmodel = \
         \"m\"\nperiod = \"10 ms\"\npolicy = \"{policy}\"\n[[partition.program.task]]\nname = \
         \"fast\"\nwcet = \"{fast}\"\n[[partition.program.task]]\nname = \"slow\"\nperiod = \
         \"100 ms\"\nwcet = \"{slow}\"\n"
    );
    read_text(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Lists the refusals of the plan of a campaign, and of that of a site that comes up.
fn refused(site: &Site, machine: &Machine) -> Vec<String> {
    let words = |refusals: Vec<quietcore_site::Refusal>| -> Vec<String> {
        refusals.iter().map(ToString::to_string).collect()
    };
    let campaign = plan(site, machine).map(drop).map_err(words).err().unwrap_or_default();
    let run = plan_run(site, machine).map(drop).map_err(words).err().unwrap_or_default();
    assert_eq!(campaign, run);
    run
}

#[test]
fn tasks_that_need_more_than_a_cpu_are_refused_by_name_and_figure() {
    let all = refused(&site("", "fifo", "8 ms", "50 ms"), &machine(2));
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].contains("`partition.a.program`"), "{all:?}");
    let words = "by each `wcet` its tasks need 130.0 % of CPU 1: `fast` 8 ms every 10 ms (80.0 %), \
                 `slow` 50 ms every 100 ms (50.0 %), and a CPU gives 100 %";
    assert!(all[0].contains(words), "{all:?}");
    assert_eq!(refused(&site("", "other", "8 ms", "50 ms"), &machine(2)).len(), 1);
    assert_eq!(refused(&site("", "fifo", "8 ms", "20 ms"), &machine(2)), Vec::<String>::new());
}

#[test]
fn tasks_that_the_kernel_would_stop_are_refused_unless_that_is_given_up() {
    let throttling = Machine { throttles: true, ..machine(2) };
    let all = refused(&site("", "fifo", "8 ms", "17 ms"), &throttling);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].contains("need 97.0 % of CPU 1"), "{all:?}");
    assert!(all[0].contains("real-time threads that take more than 95.0 %"), "{all:?}");
    let none = Vec::<String>::new();
    assert_eq!(refused(&site("", "other", "8 ms", "17 ms"), &throttling), none);
    assert_eq!(refused(&site("", "fifo", "8 ms", "15 ms"), &throttling), none);
    let given_up = site("[host]\ncontrols = [\"throttling\"]\n", "fifo", "8 ms", "17 ms");
    assert_eq!(refused(&given_up, &throttling), none);
    let halved = Machine { real_time_ppm: 500_000, ..throttling };
    assert_eq!(refused(&site("", "fifo", "4 ms", "11 ms"), &halved).len(), 1);
}
