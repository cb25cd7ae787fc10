//! Numbers over all channels, timeouts, waits, and channels that are refused.

use std::os::fd::IntoRawFd as _;
use std::string::ToString as _;
use std::vec::Vec;

use quietcore_exchange::channel::Entry;
use quietcore_exchange::com::ComStatus;
use quietcore_units::{Causes, Nanos};

use super::*;
use crate::process::job::ChannelEntry;

const ENTRIES: [ChannelEntry; 4] = [
    ChannelEntry::Group { members: 2, timeout: Nanos::from_millis(1) },
    ChannelEntry::Member { bytes: 8, initial: 7 },
    ChannelEntry::Member { bytes: 1, initial: 1 },
    ChannelEntry::Queue { message_bytes: 4, slots: 2 },
];

fn memory() -> ChannelMemory {
    ChannelMemory::create(&ENTRIES.map(Entry::from)).unwrap()
}

/// The queue stands between the members in the site file.
fn job(name: &str, memory: &ChannelMemory, sends: bool) -> ChannelJob {
    ChannelJob {
        name: name.to_string(),
        // Open for ever, as in a process that was started with it.
        descriptor: memory.file().unwrap().into_raw_fd(),
        device: None,
        sends,
        entries: ENTRIES.to_vec(),
        signals: Vec::from([1, 3, 2]),
    }
}

#[test]
fn signals_and_groups_are_numbered_over_all_channels() {
    let (there, back) = (memory(), memory());
    let one =
        Channels::open(&[job("there", &there, true), job("back", &back, false)], true).unwrap();
    let other =
        Channels::open(&[job("there", &there, false), job("back", &back, true)], true).unwrap();
    let (one, other) = (one.table(), other.table());
    assert_eq!(one.value_bytes(0), Some(8));
    assert_eq!((one.value_bytes(1), one.value_bytes(4)), (None, None), "queues");
    assert_eq!((one.value_bytes(5), one.value_bytes(6)), (Some(1), None));
    let mut value = 0;
    assert_eq!(one.receive_signal(3, &mut value), ComStatus::Ok);
    assert_eq!(value, 7, "the initial value");
    other.send_signal(3, 1000);
    other.send_signal(5, 0);
    assert_eq!(other.send_group(1), ComStatus::Ok);
    assert_eq!(other.send_group(0), ComStatus::NotOk, "the other direction");
    assert_eq!(one.receive_group(1), ComStatus::Ok);
    one.receive_signal(3, &mut value);
    assert_eq!(value, 1000);
    assert_eq!(one.send_message(1, &[1, 2]), ComStatus::Ok);
    let (mut buffer, mut bytes) = ([0; 4], 0);
    assert_eq!(other.receive_message(1, &mut buffer, &mut bytes), ComStatus::Ok);
    assert_eq!((bytes, &buffer[..2]), (2, &[1, 2][..]));
}

#[test]
fn a_value_is_waited_for_no_longer_than_the_limit() {
    let memory = memory();
    let sender = Channels::open(&[job("a", &memory, true)], true).unwrap().table();
    let table = Channels::open(&[job("a", &memory, false)], true).unwrap().table();
    let limit = Nanos::from_millis(2);
    let begun = Monotonic.now();
    assert_eq!(table.wait_group(0, limit), ComStatus::NothingNew);
    assert!(Monotonic.now() >= begun + limit);
    let waiting = std::thread::spawn(|| {
        let mut value = 0;
        (table.wait_signal(0, Nanos::from_secs(60), &mut value), value)
    });
    std::thread::sleep(std::time::Duration::from_millis(5));
    sender.send_signal(0, 33);
    sender.begin_cycle(Monotonic.now());
    sender.send_group(0);
    assert_eq!(waiting.join().unwrap(), (ComStatus::Ok, 33));
    let kernel = Channels::open(&[job("a", &memory, false)], false).unwrap().table();
    assert_eq!(kernel.wait_group(0, limit), ComStatus::NotOk, "it may not wait");
}

#[test]
fn timeouts_count_from_the_first_release() {
    let memory = memory();
    let table = Channels::open(&[job("late", &memory, false)], true).unwrap().table();
    table.begin(Nanos::from_secs(1000));
    assert_eq!(table.receive_group(0), ComStatus::Ok);
    table.begin_cycle(Nanos::from_secs(1000) + Nanos::from_millis(1));
    assert_eq!(table.receive_group(0), ComStatus::Timeout);
}

#[test]
fn a_channel_that_is_not_the_one_of_the_job_is_refused() {
    let memory = memory();
    let good = job("wrong", &memory, true);
    let mut wider = good.clone();
    wider.entries[2] = ChannelEntry::Member { bytes: 8, initial: 1 };
    let refused = |job| Causes(&Channels::open(&[job], true).unwrap_err()).to_string();
    let why = refused(wider);
    assert!(why.starts_with("channel `wrong`: it does not carry"), "{why}");
    let mut longer = good.clone();
    longer.entries.push(ENTRIES[3]);
    assert!(Channels::open(&[longer], true).is_err());
    for signals in [Vec::from([4]), Vec::from([0])] {
        assert!(Channels::open(&[ChannelJob { signals, ..good.clone() }], true).is_err());
    }
    let none = ChannelJob { descriptor: -1, ..good.clone() };
    assert!(refused(none).contains("can't be mapped"));
    assert!(Channels::open(&[good], true).is_ok());
}

#[test]
fn without_channels_there_are_no_numbers() {
    let table = Channels::open(&[], true).unwrap().table();
    assert_eq!(table.send_signal(0, 1), ComStatus::NotOk);
    assert_eq!(table.receive_group(0), ComStatus::NotOk);
}
