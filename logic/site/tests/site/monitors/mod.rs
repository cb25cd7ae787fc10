//! Tests of the watch on partitions: the rules of `[partition.monitor]`, and the plan.

use quietcore_site::{Criticality, Reaction, Shedding, plan};
use quietcore_units::Nanos;

use crate::support::{self, accept, expect_problem, machine, remarks};

const GOOD: &str = r#"
[site]
name = "s"
[[partition]]
name = "axis"
class = "motion-control"
criticality = "high"
[partition.vcr]
cpus = [1]
[partition.program]
model = "m"
period = "1 ms"
[partition.monitor]
on_overrun = "shed"
#A
[[partition]]
name = "vision"
class = "fast-control-loop"
criticality = "low"
[partition.vcr]
cpus = [2]
[partition.program]
model = "m"
period = "10 ms"
[partition.monitor]
when_shed = "throttle"
#B
[campaign]
profiles = ["tp1"]
duration = "1 min"
#END
"#;

fn changed(from: &str, to: &str) -> String {
    support::changed(GOOD, from, to)
}

#[track_caller]
fn breaks(from: &str, to: &str, key: &str, part: &str) {
    expect_problem(&changed(from, to), key, part);
}

#[test]
fn what_is_not_written_is_a_tenth_of_the_cycle_once_and_a_second() {
    let site = accept(GOOD);
    let [axis, vision] = site.partitions() else { panic!("two partitions") };
    assert_eq!(axis.monitor.limit, Nanos::from_micros(100));
    assert_eq!((axis.monitor.after, axis.monitor.calm), (1, Nanos::from_secs(1)));
    assert_eq!(axis.monitor.on_missed_cycle, Reaction::Report);
    let shed = (vision.monitor.when_shed, vision.monitor.share_percent);
    assert_eq!(shed, (Shedding::Throttle, 10));
    assert!(axis.may_shed(vision) && !vision.may_shed(axis) && !axis.may_shed(axis));
    assert!(Criticality::Low < Criticality::Medium && Criticality::Medium < Criticality::High);
}

#[test]
fn only_what_is_less_critical_and_allows_it_is_shed() {
    let equal = changed("criticality = \"low\"", "criticality = \"high\"");
    let equal = support::changed(&equal, "when_shed = \"throttle\"\n", "");
    let key = "partition.axis.monitor.on_overrun";
    expect_problem(&equal, key, "no partition is less critical than `axis` (high)");
    breaks("when_shed = \"throttle\"", "when_shed = \"never\"", key, "no partition is less");
    let medium = accept(&changed("criticality = \"low\"\n", ""));
    assert!(medium.partitions()[0].may_shed(&medium.partitions()[1]), "medium is the default");
}

#[test]
fn a_partition_with_a_fieldbus_says_itself_whether_it_may_be_shed() {
    let bus = "[fieldbus.line]\npartition = \"vision\"\ninterface = \"simulated\"\ncycle = \"10 \
               ms\"\n#END";
    let bus =
        format!("{bus}\n[[fieldbus.line.subdevice]]\nname = \"d\"\ndevice = \"servo-drive\"\n");
    let with_bus = changed("#END", &bus);
    assert!(accept(&with_bus).partitions()[1].monitor.when_shed == Shedding::Throttle);
    let unsaid = support::changed(&with_bus, "when_shed = \"throttle\"\n", "");
    expect_problem(&unsaid, "partition.vision", "it drives a fieldbus and would be shed for");
}

#[test]
fn each_key_has_its_limits() {
    let monitor = "partition.axis.monitor";
    let key = |name: &str| format!("{monitor}.{name}");
    breaks("#A", "limit = \"1 ms\"", &key("limit"), "a missed cycle already");
    breaks("#A", "limit = \"10 ns\"", &key("limit"), "1 us");
    breaks("#A", "after = 0", &key("after"), "1");
    breaks("#A", "calm = \"1 ms\"", &key("calm"), "10 ms");
    breaks("#A", "window = \"2 h\"", &key("window"), "1 h");
    breaks("#A", "share = 20", &key("share"), "throttle");
    breaks("#A", "when_shed = \"freeze\"", &key("when_shed"), "more critical than `high`");
    breaks("#A", "on_excedance = \"shed\"", &key("on_excedance"), "did you mean `on_exceedance`?");
    breaks("\"shed\"", "\"stop\"", &key("on_overrun"), "report");
    breaks("\"high\"", "\"higher\"", "partition.axis.criticality", "did you mean `high`?");
    breaks("period = \"1 ms\"", "period = \"50 us\"", monitor, "100 µs");
    breaks("model = \"m\"\nperiod", "period", monitor, "without a `model`");
}

#[test]
fn a_channel_that_falls_silent_is_remarked() {
    let channel = "[[channel]]\nname = \"found\"\nfrom = \"vision\"\nto = \"axis\"\nsignals = [{ \
                   name = \"x\", type = \"f64\" }]\n[campaign]";
    let said = remarks(&changed("[campaign]", channel));
    assert!(
        said.contains("while it is shed for `axis`, nothing comes by channel `found`"),
        "{said}"
    );
}

#[test]
fn a_plan_says_who_is_watched_and_what_is_done() {
    let site = accept(&changed("#A", "after = 3\non_missed_cycle = \"restart\""));
    let said = plan(&site, &machine(4)).unwrap();
    let lines: Vec<_> = said.monitored.iter().map(ToString::to_string).collect();
    let axis = "watch partition `axis` (high): after 3 overruns within 1 s throttle `vision` to 10 \
                %, until 1 s of calm; after 3 releases later than 100 µs within 1 s report it; \
                after 3 missed cycles within 1 s restart its program";
    assert_eq!(lines[0], axis);
    assert!(lines[1].starts_with("watch partition `vision` (low): after an overrun report it;"));
    let slow = quietcore_site::Machine { fifo: false, ..machine(4) };
    let degraded = plan(&site, &slow).unwrap().degraded;
    assert!(degraded.iter().any(|it| it.what == "the monitor has no real-time priority"));
}
