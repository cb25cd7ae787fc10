//! The frames of a fieldbus on an interface whose rate is limited.

use std::process::Command;
use std::time::{Duration, Instant};

use quietcore_backend::fieldbus::wire::AnyWire;
use quietcore_backend::fieldbus::{BusJob, FieldbusJob, InterfaceJob};
use quietcore_settings::{Changed, Controls, LiveSettings, RequestedSettings, Store};
use quietcore_site::{Network, Traffic};
use quietcore_units::Nanos;
use quietcore_wire::{Wire as _, WireError};

/// Duration of each flood, long beside a standstill of the machine, in which nothing is sent.
const SENDING: Duration = Duration::from_secs(2);
/// Bytes of each frame.
const FRAME: [u8; 1000] = {
    let mut frame = [0xff; 1000];
    // EtherCAT's type.
    (frame[12], frame[13]) = (0x88, 0xa4);
    frame
};

fn job(limited: bool) -> FieldbusJob {
    FieldbusJob {
        interface: InterfaceJob::Network { name: "left".to_owned(), limited },
        bus: BusJob { cycle: Nanos::from_millis(1), lost_after: 1, subdevices: Vec::new() },
    }
}

/// Returns the bytes that have arrived at the other end.
fn arrived() -> u64 {
    let mut order = Command::new("ip");
    let told = order.args(["-json", "-stats", "link", "show", "dev", "right"]).output();
    let told = told.expect("`ip` runs").stdout;
    let links: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    links[0]["stats64"]["rx"]["bytes"].as_u64().expect("a count")
}

/// The outcome of a flood.
struct Flood {
    /// Bytes that the other end has counted.
    bytes: u64,
    /// Seconds in which it was sent.
    sending: f64,
    /// Seconds between the two readings of the bytes: a queue goes on to empty itself after the
    /// last frame, for as long as the second reading takes.
    counted: f64,
    /// Number of frames that the interface did not take.
    full: u32,
}

/// Sends as much as it can.
fn flood(limited: bool) -> Flood {
    let mut wire = AnyWire::open(&job(limited)).expect("the interface is there");
    let counting = Instant::now();
    let before = arrived();
    let begun = Instant::now();
    let mut full = 0;
    while begun.elapsed() < SENDING {
        match wire.send(&FRAME) {
            Ok(()) => {}
            Err(WireError::Full) => full += 1,
            Err(other) => panic!("{other}"),
        }
    }
    let sending = begun.elapsed().as_secs_f64();
    let bytes = arrived() - before;
    Flood { bytes, sending, counted: counting.elapsed().as_secs_f64(), full }
}

/// Goal: a partition can't send more than its share, however much it tries, and the limit is what
/// keeps it from that.
/// Method: an interface is flooded for a while: as it is; at 1 Mbit/s; and at 1 Mbit/s by somebody
/// who sends past the limit, as partitions without a share do.
#[test]
fn a_limited_fieldbus_sends_no_more_than_its_share() {
    quietcore_skip::own_network!();
    let free = flood(true).bytes;
    let folder = tempfile::tempdir().unwrap();
    let controls = Controls::new(LiveSettings::default(), Store::new(folder.path().join("it")));
    let share = Network::new("1 Mbit/s".parse().unwrap(), None);
    let traffic = vec![Traffic::new("press", "left", share)];
    let wanted = RequestedSettings { traffic, ..RequestedSettings::default() };
    let changed = Changed::begin(&wanted, "press", Some(&controls)).unwrap();
    let Flood { bytes: limited, sending, counted, full } = flood(true);
    let past = flood(false).bytes;
    assert_eq!(changed.end().1, Vec::<String>::new());
    eprintln!("{free} bytes without a limit, {limited} with one in {sending} s, {past} past it");
    // The burst of 3 KiB comes once; the rest is the rate.
    let most = 125_000.0 * counted * 1.2 + 3072.0 + 1514.0;
    assert!((limited as f64) < most, "{limited} bytes in {counted} s");
    // Somebody who floods has the whole share.
    assert!(limited as f64 > 125_000.0 * sending * 0.5, "{limited} bytes in {sending} s");
    assert!(full > 0, "what does not pass is told");
    assert!(free > 10 * limited && past > 10 * limited, "{free} and {past} against {limited}");
}
