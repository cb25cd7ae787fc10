//! Goal: whatever is sent, a segment answers in bounded time, keeps the length and never panics.
//! And it allocates nothing.

use crate::line::{Line, STATION, frame};
use crate::sdo::Client;
use proptest::prelude::*;
use quietcore_segment::{Command, Fault, FaultKind, When};
use quietcore_units::Nanos;

const NAMES: [&str; 6] = [
    "coupler",
    "digital-input-8",
    "digital-output-8",
    "analog-input-4",
    "analog-output-4",
    "servo-drive",
];

/// Datagrams that look at the places where something happens.
fn datagrams() -> impl Strategy<Value = (u8, u16, u16, Vec<u8>)> {
    let register = prop_oneof![
        any::<u16>(),
        0x0000_u16..0x0140,
        0x0500_u16..0x0510,
        0x0600_u16..0x0680,
        0x0800_u16..0x0840,
        0x0900_u16..0x09D0,
        0x0FF0_u16..0x1800,
    ];
    let address = prop_oneof![any::<u16>(), STATION..STATION + 6, 0_u16..3, 0xFFF9_u16..0xFFFF];
    (0_u8..17, address, register, prop::collection::vec(any::<u8>(), 0..200))
}

fn frame_of(datagrams: &[(u8, u16, u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (place, (command, address, register, data)) in datagrams.iter().enumerate() {
        let more = if place + 1 < datagrams.len() { 0x8000 } else { 0 };
        body.extend([*command, place as u8]);
        body.extend(address.to_le_bytes());
        body.extend(register.to_le_bytes());
        body.extend((data.len() as u16 | more).to_le_bytes());
        body.extend([0, 0]);
        body.extend(data);
        body.extend([0, 0]);
    }
    let mut frame = vec![0x10; 12];
    frame.extend([0x88, 0xA4]);
    frame.extend((0x1000 | (body.len() as u16 & 0x07FF)).to_le_bytes());
    frame.extend(body);
    frame
}

proptest! {
    #[test]
    fn any_bytes_are_survived(
        mut frame in prop::collection::vec(any::<u8>(), 0..300),
        ethercat: bool,
        now: u64,
    ) {
        let mut line = Line::of(&NAMES);
        if ethercat && frame.len() >= 16 {
            frame[12..14].copy_from_slice(&[0x88, 0xA4]);
            frame[15] = 0x10 | (frame[15] & 7);
        }
        let length = frame.len();
        line.segment.process(&mut frame, Nanos::new(now));
        prop_assert_eq!(frame.len(), length);
    }

    #[test]
    fn any_datagrams_at_any_times_are_survived(
        frames in prop::collection::vec(
            (prop::collection::vec(datagrams(), 1..6), prop_oneof![0_u64..1_000_000, any::<u64>()]),
            1..30,
        ),
    ) {
        let mut line = Line::addressed(&NAMES);
        for place in 3..6 {
            line.guard_all(STATION + place, 8, 8);
            line.request(STATION + place, 2);
        }
        for (datagrams, pause) in frames {
            let mut frame = frame_of(&datagrams);
            let length = frame.len();
            line.now = Nanos::new(line.now.get().saturating_add(pause));
            line.segment.process(&mut frame, line.now);
            prop_assert_eq!(frame.len(), length);
        }
    }
}

/// A line in OP with everything mapped, and a client for the drive.
fn in_op() -> (Line, Client) {
    let mut line = Line::addressed(&NAMES);
    let sizes = [(0, 0), (0, 1), (1, 0), (0, 8), (8, 0), (16, 16)];
    let mut logical = 0;
    for (place, (outputs, inputs)) in (0..).zip(sizes) {
        let address = STATION + place;
        let simple = place < 3;
        if simple {
            let control = if outputs > 0 { 0x44 } else { 0x00 };
            line.guard(address, 0, 0x1000, outputs.max(inputs), control);
        } else {
            line.guard_all(address, outputs, inputs);
        }
        let (out_at, in_at) = if simple { (0x1000, 0x1000) } else { (0x1400, 0x1600) };
        if outputs > 0 {
            line.map(address, 0, (logical, outputs, 0, 7), (out_at, 0), 2);
            logical += u32::from(outputs);
        }
        if inputs > 0 {
            line.map(address, 1, (logical, inputs, 0, 7), (in_at, 0), 1);
            logical += u32::from(inputs);
        }
        for state in [2, 4, 8] {
            assert_eq!(line.request(address, state), (u16::from(state), 0), "{address:#06x}");
        }
        for earlier in STATION..address {
            line.write(earlier, 0x0420, &[0, 0]);
        }
    }
    (line, Client::new(STATION + 5))
}

/// Goal: nothing is allocated while frames pass, for process data, clocks, mailboxes or faults.
#[test]
fn a_frame_allocates_nothing() {
    let (mut line, mut client) = in_op();
    let mut frames: Vec<Vec<u8>> = vec![
        frame(Command::Lrw, 0, 0, 0, &[0; 50]),
        frame(Command::Frmw, 1, STATION, 0x0910, &[0; 8]),
        frame(Command::Brd, 2, 0, 0x0130, &[0; 2]),
        frame(Command::Fprd, 3, STATION + 5, 0x1600, &[0; 16]),
        frame(Command::Fprd, 4, STATION + 5, 0x1100, &[0; 128]),
    ];
    let when = When::Chance { parts_per_million: 300_000 };
    for kind in [
        FaultKind::LoseFrame,
        FaultKind::CorruptFrame,
        FaultKind::AlStateStuck { subdevice: 3 },
        FaultKind::Emergency { subdevice: 5, code: 1, count: 2 },
    ] {
        line.segment.faults_mut().add(Fault { kind, when });
    }
    // An SDO request among them; the client's own buffers are made beforehand.
    let mut request = vec![0; 128];
    request[..6].copy_from_slice(&[10, 0, 0, 0, 0, 0x13]);
    request[6..10].copy_from_slice(&[0, 0x20, 0x40, 0x08]);
    request[10] = 0x10;
    frames.push(frame(Command::Fpwr, 5, STATION + 5, 0x1000, &request));
    let mut now = line.now;
    let segment = &mut line.segment;
    let allocated = allocation_counter::measure(|| {
        for _ in 0..200 {
            for frame in &mut frames {
                now += Nanos::from_micros(100);
                segment.process(frame, now);
            }
        }
    });
    assert_eq!(allocated.count_total, 0);
    line.now = now;
    line.segment.faults_mut().clear();
    while client.fetch(&mut line).is_some() {}
    client.post_with(&mut line, 3, 0, &[0, 0x20, 0x40, 0x08, 0x10, 0, 0, 0, 0, 0]);
    assert!(client.fetch(&mut line).is_some(), "and it still works");
}
