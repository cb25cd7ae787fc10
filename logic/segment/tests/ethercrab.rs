//! An unrelated MainDevice, `ethercrab`, brings segments to OP in this process, without sockets.
//!
//! The segment's time is simulated: it advances by a fixed step with each look at the send queue.

mod bus;

use bus::{Bus, MAX_FRAME, devices, storage, with_room};
use ethercrab::subdevice_group::{CycleInfo, DcConfiguration};
use ethercrab::{
    DcSync, MainDevice, MainDeviceConfig, PduStorage, RegisterAddress, SubDeviceGroup,
    SubDeviceIdentity,
};
use quietcore_segment::device::{DriveState, VENDOR, command};
use quietcore_segment::{AlState, Segment};
use std::time::Duration;

const SMALL: [&str; 6] = [
    "coupler",
    "digital-input-8",
    "digital-output-8",
    "analog-input-4",
    "analog-output-4",
    "servo-drive",
];

fn configuration(static_sync: u32) -> MainDeviceConfig {
    MainDeviceConfig { dc_static_sync_iterations: static_sync, ..MainDeviceConfig::default() }
}

fn assert_all_in_op(segment: &Segment) {
    for (position, subdevice) in segment.subdevices().iter().enumerate() {
        let code = subdevice.status_code();
        assert_eq!(subdevice.state(), AlState::Op, "{position} {} {code:#06x}", subdevice.name());
    }
}

#[test]
fn one_of_each_kind_comes_to_op_and_exchanges_process_data() {
    with_room(|| {
        storage!(tx, rx, pdu_loop);
        let main_device = MainDevice::new(pdu_loop, bus::timeouts(), configuration(100));
        let mut bus = Bus::new(tx, rx, devices(&SMALL));
        let group = bus
            .drive(main_device.init_single_group::<8, 128>(|| 0))
            .expect("all SubDevices reach PRE-OP");
        let identities: Vec<SubDeviceIdentity> =
            group.iter(&main_device).map(|subdevice| subdevice.identity()).collect();
        for (place, identity) in identities.iter().enumerate() {
            assert_eq!((identity.vendor_id, identity.product_id), (VENDOR, place as u32 + 1));
        }
        let group = bus.drive(group.into_op(&main_device)).expect("all SubDevices reach OP");
        assert_all_in_op(&bus.segment);

        // Outputs go to the physical side, the physical side to the inputs.
        for channel in 0..8 {
            let value = f64::from(u8::from(channel % 3 == 0));
            bus.segment.subdevices_mut()[1].sense(channel, value);
        }
        bus.segment.subdevices_mut()[3].sense(2, -5.0);
        {
            let outputs = group.subdevice(&main_device, 2).expect("the third SubDevice");
            outputs.outputs_raw_mut()[0] = 0b1010_0001;
            let analog = group.subdevice(&main_device, 4).expect("the fifth SubDevice");
            analog.outputs_raw_mut()[2..4].copy_from_slice(&16_384_i16.to_le_bytes());
        }
        let mut expected = None;
        for _ in 0..3 {
            let response = bus.drive(group.tx_rx(&main_device)).expect("a cycle");
            // Two devices are read (+1), two written (+2), the drive both.
            expected = Some(response.working_counter);
        }
        assert_eq!(expected, Some(1 + 2 + 1 + 2 + 3));
        let switches = group.subdevice(&main_device, 1).expect("the second SubDevice");
        assert_eq!(switches.inputs_raw()[0], 0b0100_1001);
        let voltages = group.subdevice(&main_device, 3).expect("the fourth SubDevice");
        assert_eq!(voltages.inputs_raw()[4..6], (-16_384_i16).to_le_bytes());
        let devices = bus.segment.subdevices();
        assert_eq!((devices[2].actuator(0), devices[2].actuator(1)), (1.0, 0.0));
        assert!((devices[4].actuator(1) - 5.0).abs() < 0.001, "{}", devices[4].actuator(1));
    });
}

#[test]
fn the_drive_is_enabled_by_control_words() {
    with_room(|| {
        storage!(tx, rx, pdu_loop);
        let main_device = MainDevice::new(pdu_loop, bus::timeouts(), configuration(10));
        let mut bus = Bus::new(tx, rx, devices(&["coupler", "servo-drive"]));
        let group = bus.drive(main_device.init_single_group::<2, 64>(|| 0)).expect("PRE-OP");
        let group = bus.drive(group.into_op(&main_device)).expect("OP");
        let mut seen = Vec::new();
        for word in [command::SHUTDOWN, command::SWITCH_ON, command::ENABLE_OPERATION] {
            {
                let drive = group.subdevice(&main_device, 1).expect("the drive");
                let mut outputs = drive.outputs_raw_mut();
                outputs[0..2].copy_from_slice(&word.to_le_bytes());
                outputs[2] = 10;
                outputs[12..14].copy_from_slice(&500_i16.to_le_bytes());
            }
            for _ in 0..2 {
                bus.drive(group.tx_rx(&main_device)).expect("a cycle");
            }
            let drive = group.subdevice(&main_device, 1).expect("the drive");
            let status = u16::from_le_bytes([drive.inputs_raw()[0], drive.inputs_raw()[1]]);
            seen.extend(DriveState::from_status_word(status));
        }
        let expected =
            [DriveState::ReadyToSwitchOn, DriveState::SwitchedOn, DriveState::OperationEnabled];
        assert_eq!(seen, expected);
        // Half of the rated torque of 2.4 Nm.
        assert!((bus.segment.subdevices()[1].actuator(0) - 1.2).abs() < 1e-9);
    });
}

#[test]
fn two_hundred_subdevices_come_to_op_and_exchange_process_data() {
    with_room(|| {
        storage!(tx, rx, pdu_loop);
        let names: Vec<&str> =
            std::iter::once("coupler").chain(SMALL.into_iter().cycle().skip(1)).take(200).collect();
        let main_device = MainDevice::new(pdu_loop, bus::timeouts(), configuration(10));
        let mut bus = Bus::new(tx, rx, devices(&names));
        let group: SubDeviceGroup<256, 4096> =
            bus.drive(main_device.init_single_group(|| 0)).expect("PRE-OP");
        assert_eq!(group.len(), 200);
        let group = bus.drive(group.into_op(&main_device)).expect("OP");
        assert_all_in_op(&bus.segment);
        let response = bus.drive(group.tx_rx(&main_device)).expect("a cycle");
        // Each kind but the coupler, by what it counts for in its process data.
        let expected: u16 = names
            .iter()
            .map(|name| match *name {
                "digital-input-8" | "analog-input-4" => 1,
                "digital-output-8" | "analog-output-4" => 2,
                "servo-drive" => 3,
                _ => 0,
            })
            .sum();
        // A SubDevice whose process data are split over two frames counts in both.
        let frames = (response.working_counter - expected) / 3;
        assert!(response.working_counter >= expected && frames < 4, "{}", response.working_counter);
    });
}

/// Goal: clocks with different oscillators are aligned by the MainDevice's own procedure, and SYNC0
/// drives the application.
#[test]
fn distributed_clocks_align_and_pulse() {
    with_room(|| {
        storage!(tx, rx, pdu_loop);
        let main_device = MainDevice::new(pdu_loop, bus::timeouts(), configuration(2_000));
        let mut bus = Bus::new(tx, rx, devices(&["coupler", "servo-drive", "servo-drive"]));
        bus.set_drift(2, -60_000);
        let mut group = bus.drive(main_device.init_single_group::<4, 128>(|| 0)).expect("PRE-OP");
        for mut subdevice in group.iter_mut(&main_device) {
            if subdevice.name() == "QC-SERVO" {
                subdevice.set_dc_sync(DcSync::Sync0);
            }
        }
        for (place, subdevice) in group.iter(&main_device).enumerate() {
            assert_eq!(subdevice.propagation_delay(), place as u32 * 500, "delay of {place}");
        }
        let group = bus.drive(group.into_pre_op_pdi(&main_device)).expect("PDI");
        for _ in 0..2_000 {
            bus.drive(group.tx_rx_sync_system_time(&main_device)).expect("a cycle");
            bus.pass(Duration::from_micros(900));
        }
        for subdevice in group.iter(&main_device) {
            let difference: u32 = bus
                .drive(subdevice.register_read(RegisterAddress::DcSystemTimeDifference))
                .expect("a register");
            assert!(difference & 0x7FFF_FFFF < 50, "{}: {difference:#x}", subdevice.name());
        }
        let configuration = DcConfiguration {
            start_delay: Duration::from_millis(10),
            sync0_period: Duration::from_millis(1),
            sync0_shift: Duration::from_micros(500),
        };
        let group = bus
            .drive(group.configure_dc_sync(&main_device, configuration))
            .expect("DC is configured");
        let group = bus.drive(group.into_safe_op(&main_device)).expect("SAFE-OP");
        let group = bus.drive(group.request_into_op(&main_device)).expect("OP is requested");
        let mut waits = Vec::new();
        for _ in 0..200 {
            let response = bus.drive(group.tx_rx_dc(&main_device)).expect("a cycle");
            let CycleInfo { next_cycle_wait, .. } = response.extra;
            waits.push(next_cycle_wait);
            bus.pass(next_cycle_wait);
        }
        assert_all_in_op(&bus.segment);
        assert!(waits.iter().all(|wait| *wait <= Duration::from_millis(1)));
    });
}

#[test]
fn objects_are_read_and_written() {
    with_room(|| {
        storage!(tx, rx, pdu_loop);
        let main_device = MainDevice::new(pdu_loop, bus::timeouts(), configuration(0));
        let mut bus = Bus::new(tx, rx, devices(&["servo-drive"]));
        let group = bus.drive(main_device.init_single_group::<2, 64>(|| 0)).expect("PRE-OP");
        let drive = group.subdevice(&main_device, 0).expect("the drive");
        let kind: u32 = bus.drive(drive.sdo_read(0x1000, 0)).expect("the device type");
        assert_eq!(kind, 0x0002_0192);
        bus.drive(drive.sdo_write(0x6065, 0, 1234_u32)).expect("the window is written");
        let window: u32 = bus.drive(drive.sdo_read(0x6065, 0)).expect("the window is read");
        assert_eq!(window, 1234);
        let name: [u8; 8] = bus.drive(drive.sdo_read(0x1008, 0)).expect("the name");
        assert_eq!(&name, b"QC-SERVO");
        let refused = bus.drive(drive.sdo_write(0x1000, 0, 1_u32)).unwrap_err();
        assert!(refused.to_string().contains("read"), "{refused}");
        let missing = bus.drive(drive.sdo_read::<u32>(0x5555, 0)).unwrap_err();
        assert!(missing.to_string().contains("exist"), "{missing}");
        let list = bus
            .drive(
                drive.sdo_info_object_description_list(ethercrab::ObjectDescriptionListQuery::All),
            )
            .expect("the list of objects")
            .expect("a mailbox");
        assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:04x?}");
        for index in [0x1018, 0x1600, 0x1C12, 0x6040, 0x6502] {
            assert!(list.contains(&index), "{index:#06x}");
        }
    });
}
