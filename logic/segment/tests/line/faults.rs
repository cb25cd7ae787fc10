//! Faults as a MainDevice meets them.

use crate::line::{AL_STATUS, Line, STATION, frame};
use quietcore_segment::{AlState, Command, Delivery, Fault, FaultKind, Identity, When};
use quietcore_units::Nanos;

const NAMES: [&str; 3] = ["coupler", "digital-output-8", "servo-drive"];
const DRIVE: u16 = STATION + 2;

fn always(line: &mut Line, kind: FaultKind) {
    line.segment.faults_mut().add(Fault { kind, when: When::Always });
}

fn count(line: &mut Line) -> u16 {
    line.send(Command::Brd, 0, 0, &[0]).counter
}

#[test]
fn frames_are_lost_late_damaged_and_doubled() {
    for (kind, delivery) in [
        (FaultKind::LoseFrame, Delivery::Lost),
        (FaultKind::DelayFrame(Nanos::from_micros(30)), Delivery::Late(Nanos::from_micros(30))),
        (FaultKind::CorruptFrame, Delivery::Corrupted),
        (FaultKind::DuplicateFrame, Delivery::Duplicate),
    ] {
        let mut line = Line::of(&NAMES);
        let fault = Fault { kind, when: When::Frames { from: 2, count: 1 } };
        line.segment.faults_mut().add(fault);
        let seen: Vec<Delivery> = (0..4)
            .map(|_| {
                count(&mut line);
                line.delivery
            })
            .collect();
        let fine = Delivery::Deliver;
        assert_eq!(seen, [fine, fine, delivery, fine], "{kind:?}");
    }
}

#[test]
fn a_damaged_frame_differs_by_one_bit_and_is_counted() {
    let mut line = Line::addressed(&NAMES);
    for round in 0..20_u8 {
        let sent = frame(Command::Nop, round, 0, 0, &[0x5A; 30]);
        line.segment.faults_mut().add(Fault { kind: FaultKind::CorruptFrame, when: When::Always });
        let mut frame = sent.clone();
        line.pass(Nanos::from_micros(10));
        line.segment.process(&mut frame, line.now);
        frame[6] = sent[6];
        let bits: u32 = frame.iter().zip(&sent).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert_eq!(bits, 1);
        line.segment.faults_mut().clear();
    }
    let errors = [0, 1, 2].map(|place| line.read(STATION + place, 0x0300, 10).data);
    let counted = errors.iter().map(|own| u32::from(own[2])).sum::<u32>();
    assert!(counted > 5, "RX errors at the ports on the way back: {counted}");
    for (own, behind) in errors.iter().zip(&errors[1..]) {
        assert_eq!(own[9], behind[2], "what the next one has counted comes here as forwarded");
    }
    line.send(Command::Bwr, 0, 0x0300, &[0; 8]);
    assert_eq!(line.read(STATION, 0x0300, 8).data, [0; 8], "writing clears");
}

#[test]
fn chances_are_drawn_from_the_seed() {
    let losses = |seed| {
        let mut line = Line::of(&NAMES);
        line.segment = quietcore_segment::Segment::new(
            vec![quietcore_segment::SubDevice::by_name("coupler").unwrap()],
            quietcore_segment::Options { seed, ..quietcore_segment::Options::default() },
        );
        let when = When::Chance { parts_per_million: 100_000 };
        line.segment.faults_mut().add(Fault { kind: FaultKind::LoseFrame, when });
        let lost = (0..2_000).map(|_| {
            count(&mut line);
            line.delivery == Delivery::Lost
        });
        lost.collect::<Vec<bool>>()
    };
    let first = losses(7);
    assert_eq!(first, losses(7));
    assert_ne!(first, losses(8));
    let lost = first.iter().filter(|lost| **lost).count();
    assert!((140..260).contains(&lost), "{lost} of 2000 at a tenth");
}

#[test]
fn a_single_frame_is_lost_from_an_instant_on_and_a_share_of_them_for_a_while() {
    let lost_of = |when: fn(Nanos) -> When| {
        let mut line = Line::of(&NAMES);
        let when = when(line.now + Nanos::from_millis(10));
        line.segment.faults_mut().add(Fault { kind: FaultKind::LoseFrame, when });
        let each = (0..40).map(|_| {
            line.pass(Nanos::from_millis(1));
            count(&mut line);
            line.delivery == Delivery::Lost
        });
        let lost: Vec<bool> = each.collect();
        (lost.iter().position(|lost| *lost), lost.iter().filter(|lost| **lost).count())
    };
    let (first, count) = lost_of(|from| When::Next { from });
    assert_eq!(count, 1);
    assert!((8..=10).contains(&first.unwrap()), "{first:?}");
    let (first, count) = lost_of(|from| {
        let until = from + Nanos::from_millis(20);
        When::ChanceBetween { from, until, parts_per_million: 500_000 }
    });
    assert!(first.unwrap() >= 8 && (3..=18).contains(&count), "{count} from {first:?}");
}

#[test]
fn a_working_counter_is_falsified_for_one_device_and_command() {
    let mut line = Line::addressed(&NAMES);
    let command = Some(Command::Fprd);
    always(&mut line, FaultKind::WorkingCounter { subdevice: 2, command, offset: -1 });
    assert_eq!(line.read(DRIVE, 0, 1).counter, 0);
    assert_eq!(line.read(STATION, 0, 1).counter, 1);
    assert_eq!(count(&mut line), 3, "other commands are counted well");
}

#[test]
fn a_pulled_cable_hides_the_rest_and_is_counted() {
    let mut line = Line::addressed(&NAMES);
    let pulled = FaultKind::Disconnect { subdevice: 1 };
    always(&mut line, pulled);
    assert_eq!(count(&mut line), 1);
    assert_eq!(line.read(STATION, 0x0310, 4).data, [0, 1, 0, 0], "lost link at port 1");
    assert_eq!(line.word(STATION, 0x0110) & 0x0020, 0);
    line.segment.faults_mut().remove(pulled);
    assert_eq!(count(&mut line), 3);
    assert_eq!(line.read(STATION + 1, 0x0310, 4).data, [1, 0, 0, 0]);
    assert_eq!(line.read(DRIVE, 0, 1).counter, 1, "it kept its address");
    always(&mut line, FaultKind::Disconnect { subdevice: 0 });
    count(&mut line);
    assert_eq!(line.delivery, Delivery::Lost);
}

#[test]
fn a_device_without_power_starts_anew() {
    let mut line = Line::addressed(&NAMES);
    line.guard_all(DRIVE, 16, 16);
    line.request(DRIVE, 2);
    let fault = FaultKind::PowerLoss { subdevice: 2 };
    let until = line.now + Nanos::from_millis(20);
    let when = When::Between { from: line.now, until };
    line.segment.faults_mut().add(Fault { kind: fault, when });
    assert_eq!(count(&mut line), 2);
    line.pass(Nanos::from_millis(20));
    assert_eq!(count(&mut line), 3);
    assert_eq!(line.read(DRIVE, 0, 1).counter, 0, "the address is gone");
    assert_eq!(line.segment.subdevices()[2].state(), AlState::Init);
}

#[test]
fn a_power_cycle_from_outside_is_noticed() {
    let mut line = Line::addressed(&NAMES);
    let now = line.now;
    line.segment.subdevices_mut()[2].power_cycle(now);
    assert_eq!(line.read(DRIVE, 0, 1).counter, 0, "the address is gone");
}

#[test]
fn a_stuck_device_stays_in_its_state() {
    let mut line = Line::addressed(&NAMES);
    line.guard_all(DRIVE, 16, 16);
    always(&mut line, FaultKind::AlStateStuck { subdevice: 2 });
    assert_eq!(line.request(DRIVE, 2), (1, 0));
    line.pass(Nanos::from_secs(5));
    assert_eq!(line.word(DRIVE, AL_STATUS), 1);
    line.segment.faults_mut().clear();
    count(&mut line);
    line.pass(Nanos::from_millis(1));
    assert_eq!(line.word(DRIVE, AL_STATUS), 2, "the request is still there");
    always(&mut line, FaultKind::AlStateStuck { subdevice: 1 });
    assert_eq!(line.request(STATION + 1, 8), (1, 0), "one without processor, too");
}

#[test]
fn a_device_leaves_its_state_with_a_code() {
    let mut line = Line::addressed(&NAMES);
    line.guard_all(DRIVE, 16, 16);
    for state in [2, 4, 8] {
        line.request(DRIVE, state);
    }
    always(&mut line, FaultKind::AlStateDrop { subdevice: 2, code: 0x0050 });
    assert_eq!(line.word(DRIVE, AL_STATUS), 0x14);
    assert_eq!(line.word(DRIVE, 0x0134), 0x0050);
    assert_eq!(line.request(DRIVE, 0x18), (8, 0), "once");
}

#[test]
fn a_busy_sii_never_ends_and_a_damaged_one_is_noticed() {
    let mut line = Line::addressed(&NAMES);
    always(&mut line, FaultKind::SiiBusy { subdevice: 2 });
    line.pass(Nanos::from_secs(1));
    assert_eq!(line.word(DRIVE, 0x0502) & 0x8000, 0x8000);
    line.segment.faults_mut().clear();
    assert_eq!(line.word(DRIVE, 0x0502) & 0x8000, 0);
    always(&mut line, FaultKind::SiiCorrupt { subdevice: 2, word: 4, mask: 0x0100 });
    line.write(DRIVE, 0x0502, &[0, 4, 0, 0, 0, 0]);
    line.pass(Nanos::from_millis(1));
    assert_eq!(line.word(DRIVE, 0x0502) & 0x0800, 0x0800);
}

#[test]
fn another_device_in_the_place_shows_its_identity() {
    let mut line = Line::addressed(&NAMES);
    let identity = Identity { vendor: 9, product: 8, revision: 7, serial: 6 };
    line.segment.subdevices_mut()[2].swap_identity(identity);
    line.write(DRIVE, 0x0502, &[0, 1, 8, 0, 0, 0]);
    line.pass(Nanos::from_millis(1));
    assert_eq!(line.read(DRIVE, 0x0508, 8).data, [9, 0, 0, 0, 8, 0, 0, 0]);
}

#[test]
fn clocks_step_shake_and_drift() {
    let system_time = |line: &mut Line| {
        let data = line.read(DRIVE, 0x0910, 8).data;
        u64::from_le_bytes(data.try_into().unwrap())
    };
    let mut line = Line::addressed(&NAMES);
    let before = system_time(&mut line);
    always(&mut line, FaultKind::ClockStep { subdevice: 2, by_ns: 1_000_000 });
    let stepped = system_time(&mut line) - before;
    assert!((1_020_000..1_020_010).contains(&stepped), "{stepped}");
    always(&mut line, FaultKind::ClockDrift { subdevice: 2, ppb: 1_000_000 });
    let before = system_time(&mut line);
    line.pass(Nanos::from_secs(1));
    let second = system_time(&mut line) - before;
    assert!((1_001_020_000..1_001_020_100).contains(&second), "{second}");
    let up_to = Nanos::from_micros(50);
    always(&mut line, FaultKind::ClockJitter { subdevice: 2, up_to });
    let mut offsets = Vec::new();
    for _ in 0..50 {
        let at = line.now.get();
        offsets.push(system_time(&mut line) as i64 - at as i64);
    }
    let spread = offsets.iter().max().unwrap() - offsets.iter().min().unwrap();
    assert!((50_000..102_000).contains(&spread), "{spread}");
}
