//! From a silent wire to OP, against the simulated segment.

use quietcore_maindevice::{
    Alarm, BringUpError, Difference, Expectation, Fieldbus, Object, SdoError, StartUp,
    Synchronisation,
};
use quietcore_segment::{AlState, Fault, FaultKind, SubDevice, When};
use quietcore_units::Nanos;
use quietcore_wire::{Wire, WireError};

use crate::support::{
    ALL, CYCLE, Simulated, expectation, expected, in_op, run, step, wire, wire_of,
};

#[test]
fn one_of_each_kind_reaches_op_and_exchanges_its_data() {
    let mut fieldbus = in_op(&ALL);
    let states = fieldbus.wire().segment().subdevices().iter().map(SubDevice::state);
    assert!(states.clone().all(|state| state == AlState::Op), "{:?}", states.collect::<Vec<_>>());
    assert!(fieldbus.all_in_op());

    fieldbus.outputs_mut(2)[0] = 0b1010_0101;
    fieldbus.outputs_mut(4)[..2].copy_from_slice(&1234_i16.to_le_bytes());
    // Shutdown: a drive that is ready answers `ready to switch on`.
    fieldbus.outputs_mut(5)[..2].copy_from_slice(&0x0006_u16.to_le_bytes());
    let outcome = step(&mut fieldbus);
    // Inputs of 1, 3 and 5 count 1, outputs of 2, 4 and 5 count 2.
    assert_eq!((outcome.working_counter, outcome.expected), (9, 9));
    assert_eq!((outcome.present, outcome.al_states), (6, 8));
    run(&mut fieldbus, 10);
    let subdevices = fieldbus.wire().segment().subdevices();
    assert_eq!(subdevices[2].outputs(), [0b1010_0101]);
    assert_eq!(subdevices[4].outputs()[..2], 1234_i16.to_le_bytes());
    let status = u16::from_le_bytes([fieldbus.inputs(5)[0], fieldbus.inputs(5)[1]]);
    assert_eq!(status & 0x6F, 0x21, "statusword {status:#06x}");
    assert_eq!(fieldbus.take_alarm(), None);
}

#[test]
fn inputs_come_from_the_right_subdevice() {
    let mut fieldbus = in_op(&["coupler", "digital-input-8", "digital-input-8"]);
    for (subdevice, channel) in [(1, "input_1"), (2, "input_8")] {
        let device = &mut fieldbus.wire_mut().segment_mut().subdevices_mut()[subdevice];
        let signal = device.signal(quietcore_segment::SignalDirection::Sensor, channel).unwrap();
        device.sense(signal, 1.0);
    }
    run(&mut fieldbus, 3);
    assert_eq!(
        (fieldbus.inputs(0), fieldbus.inputs(1), fieldbus.inputs(2)),
        (&[][..], &[1][..], &[128][..])
    );
    assert!(fieldbus.inputs(3).is_empty());
}

/// Goal: the message alone is enough to put the cabinet right.
#[test]
fn a_wire_that_is_not_as_expected_is_told_with_all_differences() {
    let found = ["coupler", "digital-output-8", "digital-input-8"];
    let wanted = ["coupler", "digital-input-8", "digital-output-8", "servo-drive"];
    let error = Fieldbus::bring_up(wire(&found), &expectation(&wanted)).err().unwrap();
    let BringUpError::Different(differences) = &error else { panic!("{error}") };
    assert_eq!(differences.len(), 3);
    assert!(matches!(
        differences[0],
        Difference::Identity { position: 1, instead_at: Some(2), .. }
    ));
    assert!(matches!(
        differences[1],
        Difference::Identity { position: 2, instead_at: Some(1), .. }
    ));
    assert!(
        matches!(&differences[2], Difference::Missing { position: 3, name } if name == wanted[3])
    );
    let text = error.to_string();
    assert!(
        text.starts_with("the wire is not as the site says:\n  SubDevice 1 (`digital-input-8`)"),
        "{text}"
    );

    let error = Fieldbus::bring_up(wire(&found), &expectation(&found[..2])).err().unwrap();
    assert!(error.to_string().contains("SubDevice 2 is not expected"), "{error}");
}

/// Goal: a line as long as the simulator's longest works, in more than one frame a cycle.
#[test]
fn a_hundred_and_ninety_nine_drives_behind_a_coupler_reach_op() {
    let mut names = vec!["servo-drive"; 200];
    names[0] = "coupler";
    let mut fieldbus = in_op(&names);
    fieldbus.outputs_mut(199)[0] = 0x06;
    let outcome = step(&mut fieldbus);
    assert_eq!((outcome.working_counter, outcome.present), (199 * 3, 200));
    run(&mut fieldbus, 5);
    assert_eq!(fieldbus.inputs(199)[0] & 0x6F, 0x21);
    assert_eq!(fieldbus.inputs(198)[0] & 0x6F, 0x40);
}

#[test]
fn without_subdevices_it_is_said_so() {
    let error = Fieldbus::bring_up(wire(&[]), &Expectation::anything(CYCLE)).err().unwrap();
    assert_eq!(error, BringUpError::NoSubDevices);
}

#[test]
fn what_is_there_is_taken_where_nothing_is_expected() {
    let fieldbus = Fieldbus::bring_up(wire(&ALL), &Expectation::anything(CYCLE)).unwrap();
    assert_eq!(fieldbus.subdevices().len(), 6);
    assert!(fieldbus.all_in_op());
}

/// The drive's maximum torque, 0x6072: 16 bits. The name of the device, 0x1008, can't be written.
#[test]
fn start_up_values_are_written_and_refusals_named() {
    let object = |index| Object { index, subindex: 0, complete: false };
    let names = ["coupler", "servo-drive"];
    let mut expectation = expectation(&names);
    let subdevices = expectation.subdevices.as_mut().unwrap();
    subdevices[1].start_up.push(StartUp { object: object(0x6072), data: vec![0x34, 0x02] });
    let fieldbus = Fieldbus::bring_up(wire(&names), &expectation).unwrap();
    let drive = &fieldbus.wire().segment().subdevices()[1];
    assert_eq!(drive.object(0x6072, 0), Some(&[0x34, 0x02][..]));

    let subdevices = expectation.subdevices.as_mut().unwrap();
    subdevices[1].name = "axis".to_owned();
    subdevices[1].start_up.push(StartUp { object: object(0x1008), data: vec![1] });
    let error = Fieldbus::bring_up(wire(&names), &expectation).err().unwrap();
    let BringUpError::StartUp { position: 1, error: SdoError::Aborted(_), .. } = error else {
        panic!("{error}")
    };
    assert_eq!(
        error.to_string(),
        "SubDevice 1 (`axis`): start-up value 0x1008:00: the object can only be read (SDO abort \
         code 0x06010002)"
    );

    let subdevices = expectation.subdevices.as_mut().unwrap();
    subdevices[0].start_up.push(StartUp { object: object(0x6072), data: vec![1] });
    let error = Fieldbus::bring_up(wire(&names), &expectation).err().unwrap();
    let BringUpError::StartUp { position: 0, error: SdoError::NoMailbox, .. } = error else {
        panic!("{error}")
    };
}

/// Goal: the first message of `ethercrab` is no repetition of the last start-up value to a device.
/// Method: as many values as there are counters, and twice as many.
#[test]
fn any_number_of_start_up_values_is_written() {
    let object = Object { index: 0x6072, subindex: 0, complete: false };
    for count in 1..=14_u8 {
        let mut expectation = expectation(&["servo-drive"]);
        let start_up = &mut expectation.subdevices.as_mut().unwrap()[0].start_up;
        start_up.extend((1..=count).map(|value| StartUp { object, data: vec![value, 0] }));
        let fieldbus = Fieldbus::bring_up(wire(&["servo-drive"]), &expectation);
        let fieldbus = fieldbus.unwrap_or_else(|error| panic!("{count}: {error}"));
        let drive = &fieldbus.wire().segment().subdevices()[0];
        assert_eq!(drive.object(0x6072, 0), Some(&[count, 0][..]));
    }
}

/// Goal: process data are exchanged, whatever the EEPROM says about their SyncManagers.
#[test]
fn syncmanagers_that_carry_process_data_are_switched_on() {
    let mut blueprint = quietcore_segment::device::blueprint("analog-input-4").unwrap();
    blueprint.sync_managers.iter_mut().skip(2).for_each(|manager| manager.enable = 0);
    let wire = wire_of(vec![SubDevice::of_entries(blueprint)]);
    let mut fieldbus = Fieldbus::bring_up(wire, &expectation(&["analog-input-4"])).unwrap();
    assert!(fieldbus.all_in_op());
    let outcome = step(&mut fieldbus);
    assert_eq!((outcome.working_counter, outcome.expected), (1, 1));
}

#[test]
fn sync0_is_switched_on_where_it_is_asked_for() {
    let names = ["coupler", "servo-drive", "servo-drive"];
    let mut expectation = expectation(&names);
    expectation.sync0_shift = Nanos::from_micros(100);
    expectation.subdevices.as_mut().unwrap()[2].synchronisation = Synchronisation::Sync0;
    let mut fieldbus = Fieldbus::bring_up(wire(&names), &expectation).unwrap();
    let first = step(&mut fieldbus).dc_time.unwrap();
    let second = step(&mut fieldbus).dc_time.unwrap();
    let passed = (second - first).get();
    assert!(passed.abs_diff(CYCLE.get()) < 10_000, "{passed} ns in a cycle");
}

/// Goal: SYNC0 begins with any cycle, at whatever time the SubDevices are brought up.
#[test]
fn sync0_begins_in_each_tenth_of_a_long_cycle() {
    let cycle = Nanos::from_millis(100);
    for tenth in 0..10 {
        let line = wire(&["servo-drive"]);
        let later = line.now() + Nanos::from_millis(10) * tenth;
        quietcore_clock::Clock::sleep_until(line.clock(), later);
        let mut expectation = Expectation { cycle, ..expectation(&["servo-drive"]) };
        expectation.subdevices.as_mut().unwrap()[0].synchronisation = Synchronisation::Sync0;
        let start = line.now();
        let fieldbus = Fieldbus::bring_up(line, &expectation).unwrap();
        let took = fieldbus.wire().now() - start;
        assert!(took < cycle * 12, "{tenth}: {took}");
    }
}

#[test]
fn sync0_without_a_clock_is_refused() {
    let mut wrong = expected(&["coupler", "digital-input-8"]);
    wrong[1].synchronisation = Synchronisation::Sync0;
    let line = ["coupler", "digital-input-8"];
    match Fieldbus::bring_up(wire(&line), &Expectation::anything(CYCLE).with(wrong)) {
        Ok(fieldbus) => assert!(fieldbus.subdevices()[1].has_clock()),
        Err(error) => {
            assert!(matches!(error, BringUpError::NoClock { position: 1, .. }), "{error}");
        }
    }
}

/// Goal: an emergency in a mailbox is survived and told. At the first of the two codes `ethercrab`
/// 0.7.1 panics; the second it takes for an answer without sense.
/// Method: the drive sends three of them at some frame of the bring-up, so that they lie before its
/// answers; at each twentieth frame in turn.
#[test]
fn emergencies_before_the_answers_are_survived_and_told() {
    let names = ["coupler", "servo-drive"];
    let bring_up = |from: u64, code| {
        let mut wire = wire(&names);
        let kind = FaultKind::Emergency { subdevice: 1, code, count: 3 };
        let when = When::Frames { from, count: 1_000_000 };
        wire.segment_mut().faults_mut().add(Fault { kind, when });
        Fieldbus::bring_up(wire, &expectation(&names)).unwrap()
    };
    let frames = bring_up(u64::MAX, 0).wire().segment().counters().frames;
    for wanted in [0x8240, 0x8210] {
        let mut told = 0;
        for from in (0..frames).step_by(20) {
            let alarms = run(&mut bring_up(from, wanted), 100);
            told += alarms.iter().filter(|alarm| is_emergency(alarm, wanted)).count();
        }
        // Before the mailbox is set up there is no place for an emergency.
        assert!(told > 50, "{told} emergencies {wanted:#x} told in {frames} frames");
    }
}

fn is_emergency(alarm: &Alarm, wanted: u16) -> bool {
    matches!(alarm, Alarm::Emergency { subdevice: 1, code, .. } if *code == wanted)
}

/// A wire on which the first FMMU of every SubDevice begins elsewhere when it is read back.
struct Lying(Simulated);

impl Wire for Lying {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        self.0.send(frame)
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        let received = self.0.receive(buffer, until)?;
        // FPRD of register 0x0600.
        if received.is_some() && buffer[16] == 4 && buffer[20..22] == [0x00, 0x06] {
            buffer[26..30].copy_from_slice(&0xFFFF_0000_u32.to_le_bytes());
        }
        Ok(received)
    }

    fn now(&self) -> Nanos {
        self.0.now()
    }
}

/// Goal: no answer makes the MainDevice take memory for an image of 4 GiB.
#[test]
fn process_data_beyond_the_image_are_refused() {
    let names = ["coupler", "digital-input-8"];
    let error = Fieldbus::bring_up(Lying(wire(&names)), &expectation(&names)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "SubDevice 1 (`digital-input-8`) says that its process data end at byte 4294901761; at \
         most 8192 are handled for all SubDevices together"
    );
}

#[test]
fn the_topology_is_that_of_a_line() {
    let fieldbus = in_op(&ALL[..3]);
    assert_eq!(
        fieldbus.topology().to_string(),
        "0 coupler at the MainDevice\n1 digital-input-8 at port 1 of 0\n2 digital-output-8 at port \
         1 of 1\n"
    );
}

#[test]
fn a_subdevice_that_does_not_leave_its_state_is_named() {
    let mut wire = wire(&ALL);
    let kind = FaultKind::AlStateStuck { subdevice: 3 };
    wire.segment_mut().faults_mut().add(Fault { kind, when: When::Always });
    let error = Fieldbus::bring_up(wire, &expectation(&ALL)).err().unwrap();
    let BringUpError::Failed { suspects, .. } = &error else { panic!("{error}") };
    assert!(suspects.iter().any(|(position, _)| *position == 3), "{error}");
    assert!(error.to_string().contains("SubDevice 3 is in INIT"), "{error}");
}
