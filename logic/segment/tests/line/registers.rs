//! Controllers as a MainDevice meets them: addressing, working counters, SII, states, watchdogs.

use crate::line::{AL_STATUS, Line, STATION, frame};
use crate::sdo::Client;
use proptest::prelude::*;
use quietcore_segment::{AlState, Command};
use quietcore_units::Nanos;

/// One without clock and with 4 FMMUs, one with clock and 8.
const MIXED: [&str; 3] = ["coupler", "digital-output-8", "servo-drive"];
const SECOND: u16 = STATION + 1;
const DRIVE: u16 = STATION + 2;

#[test]
fn a_broadcast_counts_those_that_have_the_register() {
    let mut line = Line::of(&MIXED);
    let everywhere = line.send(Command::Brd, 0, 0x0000, &[0]);
    assert_eq!((everywhere.counter, everywhere.position), (3, 3));
    assert_eq!(everywhere.data, [0x11 | 0x12], "types are combined by or");
    assert_eq!(line.send(Command::Bwr, 0, 0x0630, &[0; 16]).counter, 3);
    assert_eq!(line.send(Command::Bwr, 0, 0x0640, &[0; 16]).counter, 2);
    assert_eq!(line.send(Command::Bwr, 0, 0x0680, &[0; 16]).counter, 0);
    assert_eq!(line.send(Command::Bwr, 0, 0x0600, &[0; 256]).counter, 3);
    assert_eq!(line.send(Command::Brd, 0, 0x0910, &[0; 8]).counter, 2, "clocks");
    assert_eq!(line.send(Command::Bwr, 0, 0x092C, &[0; 4]).counter, 0, "read only");
    assert_eq!(line.send(Command::Brd, 0, 0x00A0, &[0; 4]).counter, 0, "nothing is there");
}

#[test]
fn positions_are_counted_up_by_each_subdevice() {
    let mut line = Line::of(&MIXED);
    let second = line.send(Command::Aprd, 0xFFFF, 0x0000, &[0]);
    assert_eq!((second.counter, second.position, second.data), (1, 2, vec![0x12]));
    let none = line.send(Command::Aprd, 1, 0x0000, &[0x55]);
    assert_eq!((none.counter, none.position, none.data), (0, 4, vec![0x55]));
}

#[test]
fn reading_and_writing_at_once_counts_three_and_exchanges() {
    let mut line = Line::addressed(&MIXED);
    line.write(SECOND, 0x0F80, &[1, 2, 3]);
    let answer = line.send(Command::Fprw, SECOND, 0x0F80, &[7, 8, 9]);
    assert_eq!((answer.counter, answer.data), (3, vec![1, 2, 3]));
    assert_eq!(line.read(SECOND, 0x0F80, 3).data, [7, 8, 9]);
    let all = line.send(Command::Brw, 0, 0x0F80, &[0x10, 0, 0]);
    assert_eq!(all.counter, 9);
}

#[test]
fn a_multiple_write_reads_from_one_and_writes_to_the_others() {
    let mut line = Line::addressed(&MIXED);
    line.write(STATION, 0x0F80, &[0xAA]);
    assert_eq!(line.send(Command::Frmw, STATION, 0x0F80, &[0]).counter, 3);
    assert_eq!(line.read(SECOND, 0x0F80, 1).data, [0xAA]);
    assert_eq!(line.read(DRIVE, 0x0F80, 1).data, [0xAA]);
    line.write(SECOND, 0x0F80, &[0xBB]);
    assert_eq!(line.send(Command::Armw, 0xFFFF, 0x0F80, &[0]).counter, 3);
    assert_eq!(line.read(DRIVE, 0x0F80, 1).data, [0xBB]);
    assert_eq!(line.read(STATION, 0x0F80, 1).data, [0], "what the frame brought to it");
}

#[test]
fn answers_are_told_from_requests_by_their_source() {
    let mut line = Line::of(&MIXED);
    let mut frame = frame(Command::Brd, 0, 0, 0, &[0]);
    line.segment.process(&mut frame, Nanos::from_millis(2));
    assert_eq!(frame[6..12], [0x12, 0x10, 0x10, 0x10, 0x10, 0x10]);
    assert_eq!(frame.len(), 60);
}

/// Reads the SII as MainDevices do: command, wait, data.
fn sii_read(line: &mut Line, address: u16, word: u16, bytes: usize) -> Vec<u8> {
    let [low, high] = word.to_le_bytes();
    assert_eq!(line.write(address, 0x0502, &[0, 1, low, high, 0, 0]), 1);
    assert_eq!(line.word(address, 0x0502) & 0x8100, 0x8100, "busy with reading");
    line.pass(Nanos::from_millis(1));
    assert_eq!(line.word(address, 0x0502) & 0xFF00, 0);
    line.read(address, 0x0508, bytes).data
}

#[test]
fn the_sii_is_read_in_chunks_of_four_or_eight_bytes() {
    let mut line = Line::addressed(&MIXED);
    assert_eq!(line.word(SECOND, 0x0502) & 0x40, 0, "the terminal reads four bytes");
    assert_eq!(sii_read(&mut line, SECOND, 8, 8)[..4], 0x0B1C_u32.to_le_bytes());
    assert_eq!(sii_read(&mut line, SECOND, 0x0A, 8)[..4], 3_u32.to_le_bytes());
    assert_eq!(line.word(DRIVE, 0x0502) & 0x40, 0x40, "the drive reads eight bytes");
    let identity = sii_read(&mut line, DRIVE, 8, 8);
    assert_eq!(identity[4..], 6_u32.to_le_bytes());
    assert_eq!(sii_read(&mut line, DRIVE, 0x7FFF, 8), [0xFF; 8], "beyond the memory");
}

#[test]
fn the_sii_is_written_when_that_is_enabled() {
    let mut line = Line::addressed(&MIXED);
    line.write(DRIVE, 0x0508, &[0xCD, 0xAB]);
    line.write(DRIVE, 0x0502, &[0, 2, 4, 0, 0, 0]);
    assert_eq!(line.word(DRIVE, 0x0502) & 0x4000, 0x4000, "writing was not enabled");
    line.write(DRIVE, 0x0502, &[1, 2, 4, 0, 0, 0]);
    line.write(DRIVE, 0x0502, &[0, 1, 4, 0, 0, 0]);
    line.pass(Nanos::from_micros(100));
    line.write(DRIVE, 0x0502, &[0, 1, 4, 0, 0, 0]);
    assert_eq!(line.word(DRIVE, 0x0502) & 0x2000, 0x2000, "the memory is still writing");
    line.pass(Nanos::from_millis(4));
    assert_eq!(sii_read(&mut line, DRIVE, 4, 2), [0xCD, 0xAB]);
    // The alias counts once the configuration is loaded again, if its checksum is right.
    line.write(DRIVE, 0x0502, &[0, 4, 0, 0, 0, 0]);
    line.pass(Nanos::from_millis(1));
    assert_eq!(line.word(DRIVE, 0x0012), 0);
    assert_eq!(line.word(DRIVE, 0x0502) & 0x0800, 0x0800, "checksum");
}

#[test]
fn an_unknown_command_of_the_sii_is_not_accepted() {
    let mut line = Line::addressed(&MIXED);
    line.write(DRIVE, 0x0502, &[0, 3, 4, 0, 0, 0]);
    assert_eq!(line.word(DRIVE, 0x0502) & 0xE000, 0x2000);
}

#[test]
fn an_alias_is_an_address_once_it_is_switched_on() {
    let mut device = quietcore_segment::SubDevice::by_name("servo-drive").unwrap();
    let mut content = device.sii().to_vec();
    content[8..10].copy_from_slice(&0x0ABC_u16.to_le_bytes());
    content[14] = checksum(&content[..14]);
    device.fit_sii(content);
    device.power_cycle(Nanos::ZERO);
    let mut line = Line::new(vec![device]);
    assert_eq!(line.read(0x0ABC, 0x0012, 2).counter, 0);
    line.send(Command::Bwr, 0, 0x0103, &[1]);
    assert_eq!(line.read(0x0ABC, 0x0012, 2).data, 0x0ABC_u16.to_le_bytes());
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xFF_u8, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| (crc << 1) ^ if crc & 0x80 == 0 { 0 } else { 7 })
    })
}

#[test]
fn each_step_up_is_gated() {
    let mut line = Line::addressed(&MIXED);
    assert_eq!(line.request(DRIVE, 2), (0x11, 0x0016), "no mailbox");
    line.guard_all(DRIVE, 16, 16);
    assert_eq!(line.request(DRIVE, 2), (0x11, 0x0016), "not acknowledged");
    assert_eq!(line.request(DRIVE, 0x12), (2, 0));
    assert_eq!(line.request(DRIVE, 8), (0x12, 0x0011), "not from PRE-OP");
    line.guard(DRIVE, 2, 0x1400, 15, 0x64);
    assert_eq!(line.request(DRIVE, 0x14), (0x12, 0x001D), "outputs");
    line.guard(DRIVE, 2, 0x1400, 16, 0x64);
    line.guard(DRIVE, 3, 0x1600, 17, 0x20);
    assert_eq!(line.request(DRIVE, 0x14), (0x12, 0x001E), "inputs");
    line.guard(DRIVE, 3, 0x1600, 16, 0x20);
    assert_eq!(line.request(DRIVE, 0x14), (4, 0));
    assert_eq!(line.request(DRIVE, 5), (0x14, 0x0012), "no such state");
    assert_eq!(line.request(DRIVE, 0x18), (8, 0));
    assert_eq!(line.request(DRIVE, 2), (2, 0), "straight down");
    assert_eq!(line.request(DRIVE, 3), (0x12, 0x0011), "BOOT from INIT only");
    assert_eq!(line.request(DRIVE, 0x11), (1, 0));
    assert_eq!(line.request(DRIVE, 3), (0x11, 0x0013), "BOOT is not offered");
}

#[test]
fn a_device_without_processor_shows_what_was_asked_for() {
    let mut line = Line::addressed(&MIXED);
    line.write(SECOND, 0x0120, &[0x11, 0]);
    assert_eq!(line.word(SECOND, AL_STATUS), 0x11);
    assert_eq!(line.request(SECOND, 8), (8, 0), "any state at once");
}

/// A drive in OP whose outputs and inputs lie at logical address 0.
fn drive_in_op() -> Line {
    let mut line = Line::addressed(&MIXED);
    line.guard_all(DRIVE, 16, 16);
    line.request(DRIVE, 2);
    line.map(DRIVE, 0, (0, 16, 0, 7), (0x1400, 0), 2);
    line.map(DRIVE, 1, (0, 16, 0, 7), (0x1600, 0), 1);
    line.request(DRIVE, 4);
    assert_eq!(line.request(DRIVE, 8), (8, 0));
    line
}

#[test]
fn the_watchdog_takes_the_drive_out_of_op() {
    let mut line = drive_in_op();
    for _ in 0..10 {
        line.pass(Nanos::from_millis(90));
        assert_eq!(line.logical(Command::Lrw, 0, &[0; 16]).counter, 3);
        assert_eq!(line.word(DRIVE, AL_STATUS), 8);
    }
    line.pass(Nanos::from_millis(101));
    assert_eq!(line.word(DRIVE, AL_STATUS), 0x14);
    assert_eq!(line.word(DRIVE, 0x0134), 0x001B);
    assert_eq!(line.word(DRIVE, 0x0442), 1, "expiries are counted");
    assert_eq!(line.request(DRIVE, 0x18), (8, 0));
}

#[test]
fn the_watchdog_time_follows_its_registers() {
    let mut line = drive_in_op();
    line.write(DRIVE, 0x0420, &50_u16.to_le_bytes());
    line.logical(Command::Lwr, 0, &[0; 16]);
    line.pass(Nanos::from_millis(6));
    assert_eq!(line.word(DRIVE, AL_STATUS), 0x14);
    line.write(DRIVE, 0x0420, &[0, 0]);
    assert_eq!(line.request(DRIVE, 0x18), (8, 0));
    line.logical(Command::Lwr, 0, &[0; 16]);
    line.pass(Nanos::from_secs(100));
    assert_eq!(line.word(DRIVE, AL_STATUS), 8, "switched off");
}

#[test]
fn outputs_of_a_terminal_fall_when_frames_stay_away() {
    let mut line = Line::addressed(&MIXED);
    line.guard(SECOND, 0, 0x1000, 1, 0x44);
    line.map(SECOND, 0, (0x100, 1, 0, 7), (0x1000, 0), 2);
    line.request(SECOND, 8);
    assert_eq!(line.logical(Command::Lwr, 0x100, &[0xFF]).counter, 1);
    assert_eq!(line.segment.subdevices()[1].actuator(7), 1.0);
    line.segment.advance(line.now + Nanos::from_millis(101));
    assert_eq!(line.segment.subdevices()[1].actuator(7), 0.0);
    assert_eq!(line.segment.subdevices()[1].state(), AlState::Op);
}

#[test]
fn several_devices_share_a_byte_by_bits() {
    let mut line = Line::addressed(&["digital-output-8", "digital-output-8", "digital-input-8"]);
    for place in 0..2 {
        line.guard(STATION + place, 0, 0x1000, 1, 0x44);
        line.request(STATION + place, 8);
    }
    line.guard(DRIVE, 0, 0x1000, 1, 0x00);
    line.request(DRIVE, 8);
    // Low half to the first, high half to the upper pins of the second; the input's pins 2 to 5 to
    // the middle of the next byte.
    line.map(STATION, 0, (0x20, 1, 0, 3), (0x1000, 0), 2);
    line.map(STATION + 1, 0, (0x20, 1, 4, 7), (0x1000, 4), 2);
    line.map(DRIVE, 0, (0x21, 1, 2, 5), (0x1000, 1), 1);
    line.segment.subdevices_mut()[2].sense(1, 1.0);
    line.segment.subdevices_mut()[2].sense(4, 1.0);
    line.segment.subdevices_mut()[2].sense(7, 1.0);
    let answer = line.logical(Command::Lrw, 0x20, &[0b1010_0110, 0b1100_0011]);
    assert_eq!(answer.counter, 2 + 2 + 1);
    assert_eq!(answer.data, [0b1010_0110, 0b1110_0111], "the bits around stay");
    let pins = |line: &Line, device: usize| -> Vec<f64> {
        (0..8).map(|pin| line.segment.subdevices()[device].actuator(pin)).collect()
    };
    assert_eq!(pins(&line, 0), [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(pins(&line, 1), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn mapped_bits_cross_bytes_wherever_a_datagram_begins() {
    let mut line = Line::addressed(&["servo-drive"]);
    line.map(STATION, 0, (0x60, 3, 2, 6), (0x2000, 5), 3);
    let (written, mapped) = (0x00A5_C396_u32, 0x007F_FFFC_u32);
    assert_eq!(line.logical(Command::Lwr, 0x60, &written.to_le_bytes()[..3]).counter, 1);
    let physical = ((written & mapped) >> 2) << 5;
    assert_eq!(line.read(STATION, 0x2000, 4).data, physical.to_le_bytes());
    let read = (written & mapped).to_le_bytes();
    assert_eq!(line.logical(Command::Lrd, 0x60, &[0; 3]).data, read[..3]);
    assert_eq!(line.logical(Command::Lrd, 0x61, &[0; 2]).data, read[1..3]);
}

#[test]
fn a_mailbox_status_can_be_mapped() {
    let mut line = drive_in_op();
    // TwinCAT and others look at the full bit of SyncManager 1 that way.
    line.map(DRIVE, 2, (0x40, 1, 0, 0), (0x080D, 3), 1);
    assert_eq!(line.logical(Command::Lrd, 0x40, &[0]).data, [0]);
    let mut client = Client::new(DRIVE);
    client.post(&mut line, 3, &[0, 0x20, 0x40, 0, 0x10, 0, 0, 0, 0, 0]);
    line.pass(Nanos::from_millis(1));
    assert_eq!(line.logical(Command::Lrd, 0x40, &[0]).data, [1]);
}

#[test]
fn a_closed_port_hides_what_is_behind() {
    let mut line = Line::addressed(&MIXED);
    assert_eq!(line.word(STATION, 0x0110) & 0xFF30, 0x5A30);
    line.write(STATION, 0x0101, &[0x0C]);
    assert_eq!(line.send(Command::Brd, 0, 0, &[0]).counter, 1);
    assert_eq!(line.word(STATION, 0x0110) & 0xFF30, 0x5610);
    line.write(STATION, 0x0101, &[0x00]);
    assert_eq!(line.send(Command::Brd, 0, 0, &[0]).counter, 3);
}

#[test]
fn a_reset_needs_three_letters_in_their_order() {
    let mut line = Line::addressed(&MIXED);
    line.request(SECOND, 2);
    for byte in [b'R', b'S', b'E', b'S'] {
        line.write(SECOND, 0x0040, &[byte]);
    }
    assert_eq!(line.word(SECOND, AL_STATUS), 2, "wrong order");
    for byte in *b"RES" {
        line.write(SECOND, 0x0040, &[byte]);
    }
    assert_eq!(line.read(SECOND, 0x0000, 1).counter, 0, "the station address is gone");
    assert_eq!(line.send(Command::Aprd, 0xFFFF, AL_STATUS, &[0, 0]).data, [1, 0]);
}

#[test]
fn receive_times_tell_the_delays() {
    let mut line = Line::addressed(&["coupler", "servo-drive", "coupler"]);
    assert_eq!(line.send(Command::Bwr, 0, 0x0900, &[0; 4]).counter, 3);
    let mut loops = Vec::new();
    for place in 0..3 {
        let times = line.read(STATION + place, 0x0900, 8).data;
        let port = |at: usize| u32::from_le_bytes(times[at..at + 4].try_into().unwrap());
        loops.push(port(4).wrapping_sub(port(0)));
    }
    // Two more hops there and back than the next one; the last one has nothing behind.
    assert_eq!(loops[..2], [2_000, 1_000]);
}

#[test]
fn wanted_events_are_told_in_every_datagram() {
    let mut line = drive_in_op();
    line.write(DRIVE, 0x0200, &[0x08, 0]);
    line.read(DRIVE, AL_STATUS, 2);
    assert_eq!(line.read(DRIVE, 0x0000, 1).events, 0);
    line.request(DRIVE, 4);
    line.write(DRIVE, 0x0120, &[8, 0]);
    line.pass(Nanos::from_millis(1));
    assert_eq!(line.read(DRIVE, 0x0000, 1).events, 0x08);
    line.read(DRIVE, AL_STATUS, 2);
    assert_eq!(line.read(DRIVE, 0x0000, 1).events, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Goal: RAM that no SyncManager guards is just memory, up to its end.
    #[test]
    fn ram_keeps_what_is_written(
        address in 0x1000_u16..0x3100,
        data in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        let mut line = Line::addressed(&["servo-drive"]);
        let fits = usize::from(address) + data.len() <= 0x3000;
        prop_assert_eq!(line.write(STATION, address, &data), u16::from(fits));
        let answer = line.read(STATION, address, data.len());
        prop_assert_eq!(answer.counter, u16::from(fits));
        if fits {
            prop_assert_eq!(answer.data, data);
        }
    }

    /// Goal: whatever states are asked for, the device is in one that the diagram allows from where
    /// it was, and never in OP without its process data being set up.
    #[test]
    fn states_are_left_and_entered_by_the_diagram_only(
        requests in prop::collection::vec(0_u8..32, 1..40),
        set_up: bool,
    ) {
        let mut line = Line::addressed(&["servo-drive"]);
        if set_up {
            line.guard_all(STATION, 16, 16);
        }
        let mut before = AlState::Init;
        for request in requests {
            let (status, code) = line.request(STATION, request);
            let after = AlState::from_bits(status as u8).unwrap();
            prop_assert!(before.may_become(after), "{} to {}", before, after);
            prop_assert!(set_up || after == AlState::Init);
            prop_assert_eq!(status & 0x10 != 0, code != 0);
            before = after;
        }
    }
}
