//! The cycle against a wire whose far end is a few lines of a SubDevice.

use super::*;
use crate::frame::{Command, datagrams};
use quietcore_wire::fake::{FakeWire, Mishap};

const TIMEOUT: Nanos = Nanos::from_micros(500);

/// Adds to a working counter.
fn count(frame: &mut [u8], end: usize, by: u16) {
    let counter = u16::from_le_bytes([frame[end], frame[end + 1]]) + by;
    frame[end..end + 2].copy_from_slice(&counter.to_le_bytes());
}

/// Answers as two SubDevices of 2 bytes of inputs and 2 of outputs do: what is written is read one
/// higher, with the next frame.
fn line() -> impl FnMut(&mut [u8]) {
    let mut written = [0_u8; 4];
    move |frame: &mut [u8]| {
        frame[6] |= 2;
        let mut at = 16;
        let seen: Vec<_> =
            datagrams(frame).map(|one| (one.command, one.register, one.data.len())).collect();
        for (command, register, bytes) in seen {
            let (data, end) = (at + 10, at + 10 + bytes);
            match (command, register) {
                (14, 0x0910) => {
                    frame[data..end].copy_from_slice(&777_u64.to_le_bytes());
                    count(frame, end, 1);
                }
                (7, 0x0130) => {
                    frame[data] = 8;
                    count(frame, end, 2);
                }
                (12, 0) => {
                    for (place, value) in frame[data..data + 4].iter_mut().zip(written) {
                        *place = value.wrapping_add(1);
                    }
                    written.copy_from_slice(&frame[data + 4..data + 8]);
                    count(frame, end, 6);
                }
                (4, 0x0300) => {
                    frame[data] = 42;
                    count(frame, end, 1);
                }
                _ => {}
            }
            at = end + 2;
        }
    }
}

fn subdevices() -> [SubDevice; 2] {
    [SubDevice::fake(0, 0..2, 4..6), SubDevice::fake(1, 2..4, 6..8)]
}

fn run(cycle: &mut Cycle, wire: &mut impl Wire) -> CycleOutcome {
    let until = wire.now() + TIMEOUT;
    cycle.run(wire, until)
}

#[test]
fn outputs_go_out_and_inputs_come_in() {
    let (mut cycle, mut wire) = (Cycle::new(&subdevices(), Some(0x1000)), FakeWire::new(line()));
    cycle.image_mut()[4..].copy_from_slice(&[10, 20, 30, 40]);
    let outcome = run(&mut cycle, &mut wire);
    let expected = CycleOutcome {
        working_counter: 6,
        expected: 6,
        dc_time: Some(Nanos::new(777)),
        present: 2,
        al_states: 8,
        ..CycleOutcome::default()
    };
    assert_eq!(outcome, expected);
    assert!(outcome.is_complete());
    assert_eq!(cycle.image()[..4], [1; 4]);
    run(&mut cycle, &mut wire);
    assert_eq!(cycle.image(), [11, 21, 31, 41, 10, 20, 30, 40]);
    assert_eq!(wire.sent().len(), 2, "one frame a cycle");
}

#[test]
fn without_the_reference_clock_the_others_are_told_the_forecast() {
    let mut forecast = Forecast::default();
    assert_eq!(forecast.take(5_000), Some(Nanos::new(5_000)));
    assert_eq!(forecast.take(6_000), Some(Nanos::new(6_000)));
    assert_eq!(forecast.take(7_000), Some(Nanos::new(7_000)), "a clock as regular as that");
    assert_eq!(forecast.sent_ns(), 8_001);
    assert_eq!(forecast.take(8_001), None, "what went out came back");
    assert_eq!(forecast.take(9_001), None);
    assert_eq!(forecast.take(10_001), None);
    assert_eq!(forecast.take(11_005), Some(Nanos::new(11_005)));
    assert_eq!(forecast.sent_ns(), 12_011);
}

#[test]
fn a_lost_frame_costs_the_time_out_and_leaves_the_inputs() {
    let (mut cycle, mut wire) = (Cycle::new(&subdevices(), None), FakeWire::new(line()));
    wire.mishap(1, Mishap::Lose);
    run(&mut cycle, &mut wire);
    let (before, from) = (cycle.image().to_vec(), wire.now());
    let outcome = run(&mut cycle, &mut wire);
    assert!(outcome.lost() && !outcome.is_complete());
    assert_eq!((outcome.lost_frames, outcome.working_counter, outcome.dc_time), (1, 0, None));
    assert_eq!(cycle.image(), before);
    assert_eq!(wire.now(), from + TIMEOUT);
    assert!(run(&mut cycle, &mut wire).is_complete());
}

#[test]
fn a_late_frame_and_a_second_copy_are_strays() {
    let (mut cycle, mut wire) = (Cycle::new(&subdevices(), None), FakeWire::new(line()));
    wire.mishap(0, Mishap::Late(TIMEOUT));
    wire.mishap(1, Mishap::Twice);
    assert!(run(&mut cycle, &mut wire).lost());
    wire.advance(TIMEOUT);
    let outcome = run(&mut cycle, &mut wire);
    assert!(outcome.is_complete());
    assert_eq!(outcome.stray_frames, 1, "the late one");
    assert_eq!(run(&mut cycle, &mut wire).stray_frames, 1, "the second copy");
}

#[test]
fn a_wire_that_refuses_is_a_lost_frame() {
    let (mut cycle, mut wire) = (Cycle::new(&subdevices(), None), FakeWire::new(line()));
    wire.mishap(0, Mishap::Refuse(WireError::Down));
    let outcome = run(&mut cycle, &mut wire);
    assert_eq!((outcome.lost_frames, outcome.refusal), (1, Some(WireError::Down)));
}

#[test]
fn a_flood_of_other_frames_ends_the_cycle() {
    let (mut cycle, mut wire) = (Cycle::new(&subdevices(), None), FakeWire::new(line()));
    for _ in 0..STRAY_FRAMES_MAX {
        wire.inject(&[0; 60]);
    }
    let outcome = run(&mut cycle, &mut wire);
    assert_eq!((outcome.stray_frames, outcome.lost_frames), (STRAY_FRAMES_MAX, 1));
}

#[test]
fn a_passenger_travels_once_and_its_answer_is_taken_once() {
    let (mut cycle, mut wire) = (Cycle::new(&subdevices(), None), FakeWire::new(line()));
    assert_eq!(cycle.answer(), None);
    cycle.take_along(Request::read(0x1000, 0x0300, 20), |_| {});
    assert_eq!(cycle.answer(), None, "it has not travelled yet");
    wire.mishap(1, Mishap::Lose);
    assert!(run(&mut cycle, &mut wire).is_complete());
    let (data, counter) = cycle.answer().unwrap().unwrap();
    assert_eq!((data[0], data.len(), counter), (42, 20, 1));
    assert_eq!(cycle.answer(), None);
    cycle.take_along(Request::read(0x1000, 0x0300, 20), |_| {});
    run(&mut cycle, &mut wire);
    assert_eq!(cycle.answer(), Some(None), "lost with its frame");
    run(&mut cycle, &mut wire);
    let lengths: Vec<_> = wire.sent().iter().map(|frame| datagrams(frame).count()).collect();
    assert_eq!(lengths, [3, 3, 2]);
}

#[test]
fn a_passenger_that_fits_nowhere_gets_a_frame_of_its_own() {
    let (mut cycle, mut wire) = (Cycle::new(&subdevices(), None), FakeWire::new(line()));
    cycle.take_along(Request::read(0x1000, 0x1080, 1486), |_| {});
    assert!(run(&mut cycle, &mut wire).is_complete());
    assert_eq!(wire.sent().len(), 2);
    assert_eq!(cycle.answer().unwrap().unwrap().1, 0);
    run(&mut cycle, &mut wire);
    assert_eq!(wire.sent().len(), 3);
}

#[test]
fn much_process_data_travel_in_several_frames() {
    let parts: Vec<_> =
        (0..6).map(|n| SubDevice::fake(n as u16, 500 * n..500 * (n + 1), 0..0)).collect();
    let mut cycle = Cycle::new(&parts, None);
    let mut frames = 0;
    let mut wire = FakeWire::new(|frame: &mut [u8]| {
        frames += 1;
        let mut at = 16;
        let seen: Vec<_> = datagrams(frame).map(|one| (one.command, one.data.len())).collect();
        for (command, bytes) in seen {
            if command == Command::Lrw as u8 {
                frame[at + 10..at + 10 + bytes].fill(frames);
                count(frame, at + 10 + bytes, (bytes / 500) as u16);
            }
            at += bytes + 12;
        }
    });
    let outcome = run(&mut cycle, &mut wire);
    assert_eq!((outcome.working_counter, outcome.expected), (6, 6));
    assert_eq!(wire.sent().len(), 3);
    assert_eq!((cycle.image()[0], cycle.image()[1000], cycle.image()[2999]), (1, 2, 3));
}
