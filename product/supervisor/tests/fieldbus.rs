//! A program and its fieldbus, from the start.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use site::Site;

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "fast-control-loop"

[partition.vcr]
cpus = [0]

[partition.program]
model = "slow"
period = "5 ms"
policy = "other"

[fieldbus.ec0]
partition = "axis"
interface = "sim"
cycle = "5 ms"

[[fieldbus.ec0.subdevice]]
name = "head"
device = "coupler"

[[fieldbus.ec0.subdevice]]
name = "valves"
device = "analog-output-4"
"#;

/// Goal: however long a program takes to load, the watchdogs of the SubDevices don't expire before
/// its first cycle.
/// Method: `initialize` takes 300 ms, the watchdog 100 ms; a SubDevice that left OP would be told.
#[test]
fn a_program_that_is_slow_to_initialize_finds_its_fieldbus_in_op() {
    let site = Site::up(SITE, "slow");
    site.wait_for_value("slow_DW.total", |total| total > 50.0);
    let events = site.client().events(0).unwrap();
    let told: Vec<_> = events.iter().map(|event| (&event.kind, &event.text)).collect();
    let troubles = ["al-state", "working-counter", "subdevice-lost", "subdevice-recovered"];
    assert!(!told.iter().any(|(kind, _)| troubles.contains(&kind.as_str())), "{told:#?}");
}
