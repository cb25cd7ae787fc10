//! Budgets: partitions that share a CPU, each with run time of its own in each period.

use quietcore_site::{Scheduling, Site, plan};
use quietcore_units::Nanos;

use crate::support::{expect_problem, machine, read_text};

/// A partition on CPU 1 with this budget and this program.
fn text(budget: u32, program: &str) -> String {
    format!(
        "[site]\nname = \"s\"\n[[partition]]\nname = \"a\"\nclass = \
         \"motion-control\"\n[partition.vcr]\ncpus = [1]\nbudget = \
         {budget}\n[partition.program]\nperiod = \"1 ms\"\n{program}\n"
    )
}

fn site(budget: u32, program: &str) -> Site {
    read_text(&text(budget, program)).unwrap_or_else(|problems| panic!("{problems}"))
}

fn reserved(run_time_us: u64, period_us: u64) -> Scheduling {
    let period = Nanos::from_micros(period_us);
    Scheduling::Deadline { run_time: Nanos::from_micros(run_time_us), deadline: period, period }
}

const TWO_TASKS: &str = "model = \"m\"\n[[partition.program.task]]\nname = \"fast\"\nrate = \
                         0\nperiod = \"1 ms\"\n[[partition.program.task]]\nname = \
                         \"slow\"\nrate = 1\nperiod = \"10 ms\"\n";

#[test]
fn a_budget_is_run_time_in_each_period_in_equal_parts() {
    assert_eq!(site(30, "").partitions()[0].program.scheduling, reserved(300, 1_000));
    let two = site(40, TWO_TASKS);
    let tasks: Vec<_> =
        two.partitions()[0].program.tasks.iter().map(|task| task.scheduling).collect();
    assert_eq!(tasks, [reserved(200, 1_000), reserved(2_000, 10_000)]);
    let written = site(40, "policy = \"deadline\"\nwcet = \"120 us\"");
    assert_eq!(written.partitions()[0].program.scheduling, reserved(120, 1_000));
}

#[test]
fn what_a_budget_can_not_hold_is_a_problem() {
    let key = |key: &str| format!("partition.a.program.{key}");
    expect_problem(&text(20, "wcet = \"250 us\""), &key("wcet"), "in each period, less than");
    expect_problem(&text(20, "early_wake = \"spin\""), &key("early_wake"), "never sleeps");
    let adaptive = text(20, "early_wake = \"adaptive\"");
    expect_problem(&adaptive, &key("early_wake"), "up to 25 %, and the budget is 20 %");
    assert!(read_text(&text(20, "early_wake = \"adaptive\"\nearly_wake_share = 5")).is_ok());
    let beyond = text(20, "policy = \"deadline\"\nwcet = \"250 us\"");
    expect_problem(&beyond, "partition.a.program", "reserve 25.0 % of the CPU");
    let short = text(1, "").replace("1 ms", "200 us");
    expect_problem(&short, &key("period"), "only 2 µs in each period");
}

#[test]
fn only_what_the_kernel_holds_to_its_budget_is_run() {
    let refused = |program: &str, part: &str| {
        let refusals = plan(&site(30, program), &machine(2)).unwrap_err();
        let shown: Vec<_> = refusals.iter().map(ToString::to_string).collect();
        assert!(shown.iter().any(|one| one.contains(part)), "{shown:?}");
    };
    refused("policy = \"other\"", "`main` runs under SCHED_OTHER");
    refused("priority = 80", "`main` runs under SCHED_FIFO 80");
}

/// Goal: the kernel pins such threads where it does not throttle, and a site can see to that.
#[test]
fn the_control_throttling_lets_such_threads_be_pinned() {
    let mut machine = machine(2);
    (machine.deadline, machine.throttles, machine.root) = (true, true, true);
    let lost = "runs under SCHED_OTHER in place of SCHED_DEADLINE";
    let degraded = |text: &str| {
        let site = read_text(text).unwrap_or_else(|problems| panic!("{problems}"));
        let plan = plan(&site, &machine).unwrap();
        plan.degraded.iter().any(|one| one.to_string().contains(lost))
    };
    let plain = text(30, "");
    assert!(degraded(&plain));
    let controlled = format!("{plain}[host]\ncontrols = [\"throttling\"]\n");
    assert!(!degraded(&controlled));
    // A profile with controls of its own has to ask for it, too.
    let profile = |controls: &str| {
        let own = format!("[[profile]]\nname = \"own\"\npinned = true\ncontrols = [{controls}]\n");
        format!("{controlled}{own}[campaign]\nprofiles = [\"tp2\", \"own\"]\n")
    };
    assert!(degraded(&profile("\"interrupts\"")));
    assert!(!degraded(&profile("\"interrupts\", \"throttling\"")));
}
