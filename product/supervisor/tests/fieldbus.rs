//! A program and its fieldbus, from the start.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_segment::{Options, Segment, SubDevice};
use quietcore_supervisor::control::{
    Applied, Change, ChangeKind, FieldbusState, Verb, WhyNoEffect,
};
use quietcore_wire::{PacketWire, Server};
use site::{PATIENCE, Site};

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
watchdog = "1 s"

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
/// A run in which the machine itself lets cycles out for half as long says nothing.
#[test]
fn a_program_that_is_slow_to_initialize_finds_its_fieldbus_in_op() {
    for _ in 0..5 {
        let site = Site::up(SITE, "slow");
        site.wait_for_value("slow_DW.total", |total| total > 50.0);
        let events = site.client().events(0).unwrap();
        let told: Vec<_> = events.iter().map(|event| (&event.kind, &event.text)).collect();
        let troubles = ["al-state", "working-counter", "subdevice-lost", "subdevice-recovered"];
        let has_trouble = told.iter().any(|(kind, _)| troubles.contains(&kind.as_str()));
        if !has_trouble {
            return;
        }
        let missed = site.client().list().unwrap().remove(0).missed_cycles;
        assert!(missed >= 10, "{told:#?}");
    }
    quietcore_skip::skip!("this machine stood still for 50 ms in each of five runs");
}

/// Goal: a set that the fieldbus undoes at once is not told as if it had an effect.
#[test]
fn a_set_of_what_the_fieldbus_writes_says_so() {
    let input = r#"
[[fieldbus.ec0.subdevice]]
name = "keys"
device = "analog-input-4"

[[fieldbus.ec0.map]]
variable = "counter_U.input"
entry = "keys.input_1"
"#;
    let site = Site::up(&format!("{}{input}", SITE.replace("\"slow\"", "\"counter\"")), "counter");
    let set = |variable: &str| Change {
        kind: ChangeKind::Set,
        variable: variable.to_owned(),
        value: Some("3".to_owned()),
        allow_nan: false,
    };
    let group = [set("counter_P.gain"), set("counter_U.input")];
    let applied = site.client().ask::<Applied>("axis", Verb::write(group.to_vec())).unwrap();
    let why: Vec<_> = applied.effects.iter().map(|effect| effect.without_effect).collect();
    assert_eq!(why, [None, Some(WhyNoEffect::WrittenByFieldbus)]);
    let force = Change { kind: ChangeKind::Force, ..set("counter_U.input") };
    let applied = site.client().ask::<Applied>("axis", Verb::write([force])).unwrap();
    assert_eq!(applied.effects[0].without_effect, None, "a force holds");
    site.wait_for_value("counter_Y.output", |value| value == 9.0);
}

/// Returns the same site with another program behind an interface, slow enough for an emulated
/// machine.
fn elsewhere() -> String {
    let mut text = SITE.to_owned();
    for (from, to) in [
        ("\"slow\"", "\"counter\""),
        ("\"5 ms\"\npolicy", "\"20 ms\"\npolicy"),
        ("\"sim\"\ncycle = \"5 ms\"", "\"left\"\ncycle = \"20 ms\"\nlost = 50"),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text + r#"
[[fieldbus.ec0.map]]
variable = "counter_Y.output"
entry = "valves.output_1"
scale = 0.001
"#
}

/// Waits until the fieldbus is in OP and every SubDevice works: where a machine stands still for a
/// moment, the segment is brought up again.
fn in_op(site: &Site) -> FieldbusState {
    let end = Instant::now() + PATIENCE;
    loop {
        let list = site.client().list().expect("the site answers");
        let state = list.into_iter().find_map(|one| one.fieldbus).expect("it has a fieldbus");
        if state.state == "OP" && state.working_counter == state.working_counter_expected {
            return state;
        }
        assert!(Instant::now() < end, "not in OP in time: {state:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ends the segment's thread, whatever becomes of the site.
struct StopAtEnd<'run>(&'run AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Goal: a partition drives SubDevices that are behind a network interface.
/// Method: a pair of virtual interfaces; behind the other one a segment, which in the end has the
/// value that the program was told to put out.
#[test]
fn subdevices_behind_an_interface_get_the_programs_outputs() {
    quietcore_skip::own_network!();
    let line = ["coupler", "analog-output-4"].map(|name| SubDevice::by_name(name).unwrap());
    let wire = PacketWire::open("right").unwrap();
    let mut server = Server::new(wire, Segment::new(line.into(), Options::default()));
    let stop = AtomicBool::new(false);
    let served = thread::scope(|scope| {
        let server = scope.spawn(|| server.serve(|_| stop.load(Relaxed)).unwrap());
        let stopping = StopAtEnd(&stop);
        let site = Site::up(&elsewhere(), "counter");
        site.wait_for_value("counter_DW.total", |total| total > 50.0);
        site.change(ChangeKind::Force, "counter_Y.output", Some("1.5"));
        assert_eq!(in_op(&site).subdevices, 2);
        let cycles = site.value("counter_DW.total");
        site.wait_for_value("counter_DW.total", |total| total > cycles + 10.0);
        // Beside those of a guest with a card of its own, below.
        if let Some([all, emulated]) = exits_per_cycle(&site, 100.0) {
            println!("exits a cycle over the host: {all:.2}, to an emulated device {emulated:.2}");
        }
        drop(stopping);
        server.join().unwrap()
    });
    assert!(served.received > 60 && served.answered > 60, "{served:?}");
    let valves = server.segment_mut().subdevices()[1].outputs();
    assert_eq!(valves[..2], 1500_i16.to_le_bytes(), "1.5 in units of 0.001");
}

/// Goal: a SubDevice that is not built in is driven by what its ESI file says, and exchanges the
/// PDOs that were chosen.
/// Method: as above; the site file knows the terminal by its identity alone. First with all its
/// PDOs, then with the second one alone, for which the process data have another size.
#[test]
fn a_subdevice_with_an_esi_file_gets_the_programs_outputs() {
    quietcore_skip::own_network!();
    let folder = tempfile::tempdir().unwrap();
    let file = include_str!("../../../examples/esi/quietcore.xml");
    std::fs::write(folder.path().join("terminals.xml"), file).unwrap();
    let esi = format!("lost = 50\nesi = [\"{}\"]", folder.path().display());
    let known = "identity = { vendor = 0xb1c, product = 5 }";
    let text = elsewhere()
        .replace("lost = 50", &esi)
        .replace("device = \"analog-output-4\"", known)
        .replace("valves.output_1", "valves.Channel 2.Output 2");
    let chosen = text.replace(known, &format!("{known}\npdos = [0x1601]"));
    for (text, pdos) in [(text, 4), (chosen, 1)] {
        let line = ["coupler", "analog-output-4"].map(|name| SubDevice::by_name(name).unwrap());
        let wire = PacketWire::open("right").unwrap();
        let mut server = Server::new(wire, Segment::new(line.into(), Options::default()));
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let server = scope.spawn(|| server.serve(|_| stop.load(Relaxed)).unwrap());
            let stopping = StopAtEnd(&stop);
            let site = Site::up(&text, "counter");
            site.change(ChangeKind::Force, "counter_Y.output", Some("1.5"));
            assert_eq!(in_op(&site).subdevices, 2);
            let cycles = site.value("counter_DW.total");
            site.wait_for_value("counter_DW.total", |total| total > cycles + 10.0);
            drop(stopping);
            server.join().unwrap()
        });
        let valves = &server.segment_mut().subdevices()[1];
        assert_eq!(valves.object(0x1c12, 0), Some(&[pdos][..]), "PDOs that are assigned");
        assert_eq!(valves.outputs()[2..4], 1500_i16.to_le_bytes(), "1.5 in units of 0.001");
    }
}

/// Returns why no partition can run here at a real-time priority on CPU 1 beside others; `None` if
/// one can.
fn no_second_cpu() -> Option<&'static str> {
    let facts = quietcore_host::Facts::read_quickly().machine();
    let has_second = facts.online.iter().any(|cpu| cpu.get() == 1);
    match (has_second && facts.online.len() > 1, facts.fifo) {
        (false, _) => Some("there is one CPU"),
        (_, false) => Some("there is no real-time priority for this user"),
        (true, true) => None,
    }
}

/// Goal: a partition that waits for answers at a real-time priority does not keep its own frames
/// from arriving. What carries them over a virtual interface has ordinary priority, and a guest
/// waits without sleeping.
/// Method: as above, on a CPU of its own at FIFO 90; the segment is on the other ones.
#[test]
fn a_partition_at_a_real_time_priority_reaches_subdevices_behind_a_virtual_interface() {
    if let Some(why) = no_second_cpu() {
        return quietcore_skip::skip!("{why}");
    }
    quietcore_skip::own_network!();
    let line = ["coupler", "analog-output-4"].map(|name| SubDevice::by_name(name).unwrap());
    let wire = PacketWire::open("right").unwrap();
    let mut server = Server::new(wire, Segment::new(line.into(), Options::default()));
    let stop = AtomicBool::new(false);
    let text = elsewhere()
        .replace("cpus = [0]", "cpus = [1]")
        .replace("policy = \"other\"", "policy = \"fifo\"\npriority = 90");
    thread::scope(|scope| {
        let server = scope.spawn(|| server.serve(|_| stop.load(Relaxed)).unwrap());
        let stopping = StopAtEnd(&stop);
        let site = Site::up(&text, "counter");
        // It runs: all SubDevices were in OP. Whether each answer comes within its cycle afterwards
        // is a question of time, which an emulated machine doesn't answer.
        let cycles = site.value("counter_DW.total");
        site.wait_for_value("counter_DW.total", |total| total > cycles + 20.0);
        drop(stopping);
        server.join().unwrap()
    });
}

/// Returns the output of `tc` for an interface, with its counts.
fn queue_of_left() -> String {
    let mut order = Command::new("tc");
    let told = order.args(["-s", "qdisc", "show", "dev", "left"]).output();
    String::from_utf8_lossy(&told.expect("`tc` runs").stdout).into_owned()
}

/// Returns the bytes that went through the queue.
fn sent(queue: &str) -> u64 {
    let (_, sent) = queue.split_once("Sent ").expect("a count");
    sent.split(' ').next().and_then(|bytes| bytes.parse().ok()).expect("a number")
}

/// Goal: what a partition with a share of the network sends goes through the limit, and the
/// interface is what it was when the site is down.
/// Method: as above, with a share that is enough for one frame a cycle.
#[test]
fn a_partition_with_a_share_of_the_network_sends_through_its_limit() {
    quietcore_skip::own_network!();
    let kind = |queue: &str| queue.lines().next().unwrap_or_default().to_owned();
    let before = kind(&queue_of_left());
    let line = ["coupler", "analog-output-4"].map(|name| SubDevice::by_name(name).unwrap());
    let wire = PacketWire::open("right").unwrap();
    let mut server = Server::new(wire, Segment::new(line.into(), Options::default()));
    let stop = AtomicBool::new(false);
    let share = "cpus = [0]\nnetwork = { rate = \"10 Mbit/s\" }";
    thread::scope(|scope| {
        let server = scope.spawn(|| server.serve(|_| stop.load(Relaxed)).unwrap());
        let stopping = StopAtEnd(&stop);
        let site = Site::up(&elsewhere().replace("cpus = [0]", share), "counter");
        let first = queue_of_left();
        assert!(first.contains("tbf 5163: root") && first.contains("rate 10Mbit"), "{first}");
        let cycles = site.value("counter_DW.total");
        site.wait_for_value("counter_DW.total", |total| total > cycles + 10.0);
        let then = queue_of_left();
        // Each frame has at least 60 bytes.
        assert!(sent(&then) >= sent(&first) + 600, "{first}\n{then}");
        assert_eq!(in_op(&site).subdevices, 2);
        let events = site.client().events(0).unwrap();
        let text = "what `left` may send: `tbf rate 10000000bit burst 3072b`";
        assert!(events.iter().any(|event| event.text == text), "{events:#?}");
        drop(site);
        assert_eq!(kind(&queue_of_left()), before);
        drop(stopping);
        server.join().unwrap()
    });
}

/// Returns the network card that tests may give to a guest, by its PCI address, and the interface
/// at the other end of its cable; `None` where nobody says that they may.
fn card_for_tests() -> Option<(String, String)> {
    let told = std::env::var("QUIETCORE_TEST_CARD").ok()?;
    let (card, interface) = told.split_once(' ').expect("an address and an interface");
    Some((card.to_owned(), interface.to_owned()))
}

/// Returns the name of the driver that has a device of the bus.
fn driver_of(card: &str) -> Option<String> {
    let link = std::fs::read_link(format!("/sys/bus/pci/devices/{card}/driver")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// Counts of exits from all guests of this machine, by KVM: all, and those by which whoever
/// emulates a device is asked. `None` where nobody wants them, which mounts the kernel's folder for
/// them, or KVM tells none.
fn exits() -> Option<[u64; 2]> {
    std::env::var_os("QUIETCORE_COUNT_EXITS")?;
    let folder = std::path::Path::new("/sys/kernel/debug/kvm");
    if !folder.exists() {
        let mount = ["-t", "debugfs", "debugfs", "/sys/kernel/debug"];
        // Where it is refused, nothing is counted.
        let _ = Command::new("mount").args(mount).status();
    }
    let count = |name: &str| -> Option<u64> {
        std::fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    Some([count("exits")?, count("mmio_exits")?])
}

/// Lets the program run for these cycles. Returns the exits of guests meanwhile, a cycle: all, and
/// those to a device that is emulated.
fn exits_per_cycle(site: &Site, cycles: f64) -> Option<[f64; 2]> {
    let (begun, before) = (site.value("counter_DW.total"), exits()?);
    let ended = site.wait_for_value("counter_DW.total", |total| total >= begun + cycles);
    let after = exits()?;
    Some([0, 1].map(|index| (after[index] - before[index]) as f64 / (ended - begun)))
}

/// Goal: a guest that was given a network card brings a segment behind it to OP by its own driver,
/// and the host has the card back when the site is down.
/// Method: two cards with a cable between them. The host's driver has the first one before; behind
/// the other one is a segment, which in the end has the value that the program was told to put out.
#[test]
fn a_guest_drives_a_network_card_that_it_was_given() {
    let Some((card, interface)) = card_for_tests() else {
        return quietcore_skip::skip!(
            "no network card may be given to a guest; name one in QUIETCORE_TEST_CARD"
        );
    };
    let up = Command::new("ip").args(["link", "set", &interface, "up"]).status();
    assert!(up.expect("`ip` runs").success());
    let before = driver_of(&card).expect("the host has a driver for it");
    let line = ["coupler", "analog-output-4"].map(|name| SubDevice::by_name(name).unwrap());
    let wire = PacketWire::open(&interface).unwrap();
    let mut server = Server::new(wire, Segment::new(line.into(), Options::default()));
    let stop = AtomicBool::new(false);
    let served = thread::scope(|scope| {
        let server = scope.spawn(|| server.serve(|_| stop.load(Relaxed)).unwrap());
        let stopping = StopAtEnd(&stop);
        let site = Site::up(&elsewhere().replace("\"left\"", &format!("\"{card}\"")), "counter");
        assert_eq!(driver_of(&card).as_deref(), Some("vfio-pci"));
        let events = site.client().events(0).unwrap();
        let text = format!("driver of {card}: `vfio-pci`");
        assert!(events.iter().any(|event| event.text == text), "{events:#?}");
        site.wait_for_value("counter_DW.total", |total| total > 50.0);
        site.change(ChangeKind::Force, "counter_Y.output", Some("1.5"));
        assert_eq!(in_op(&site).subdevices, 2);
        if let Some([all, emulated]) = exits_per_cycle(&site, 100.0) {
            println!("exits a cycle with a card: {all:.2}, to an emulated device {emulated:.2}");
            assert!(emulated < 0.5, "no frame is an exit to QEMU: {emulated}");
        }
        drop(site);
        assert_eq!(driver_of(&card), Some(before), "the host has it back");
        drop(stopping);
        server.join().unwrap()
    });
    assert!(served.received > 60 && served.answered > 60, "{served:?}");
    let valves = server.segment_mut().subdevices()[1].outputs();
    assert_eq!(valves[..2], 1500_i16.to_le_bytes(), "1.5 in units of 0.001");
}
