//! Mailbox and CoE, seen by a client that was written for these tests.

use crate::line::{Line, STATION};
use crate::sdo::{Client, SdoError};
use proptest::prelude::*;
use quietcore_segment::coe::dictionary::{Object, ObjectAccess, ObjectEntry};
use quietcore_segment::{
    Application, Command, Fault, FaultKind, Situation, SubDevice, When, device,
};
use quietcore_units::{DataType, Nanos};

const TEXT: u16 = 0x2000;
const RECORD: u16 = 0x2001;
const LOCKED: u16 = 0x2002;
const CAPACITY: usize = 1_000;

struct Idle;

impl Application for Idle {
    fn consume(&mut self, _: Situation, _: &[u8]) {}

    fn produce(&mut self, _: Situation, _: &mut [u8]) {}
}

/// A drive with objects of many sizes, in PRE-OP.
fn drive() -> (Line, Client) {
    let mut blueprint = device::blueprint("servo-drive").expect("a built-in device");
    let write = ObjectAccess::READ_WRITE;
    let value = ObjectEntry::bytes(0, "Bytes", write, &[], CAPACITY);
    blueprint.objects.push(Object::variable(TEXT, value));
    let members = vec![
        ObjectEntry::number(1, "Byte", DataType::U8, write, 1),
        ObjectEntry::number(2, "Word", DataType::U16, write, 0x0302),
        ObjectEntry::number(3, "Long", DataType::U32, ObjectAccess::READ, 0x0706_0504),
        ObjectEntry::number(4, "Whole", DataType::U64, write, 0x0F0E_0D0C_0B0A_0908),
    ];
    blueprint.objects.push(Object::record(RECORD, "Record", members));
    let locked = ObjectEntry::number(0, "Locked", DataType::U8, ObjectAccess::SETUP, 7);
    blueprint.objects.push(Object::variable(LOCKED, locked));
    let mut line = Line::new(vec![SubDevice::new(blueprint, Box::new(Idle))]);
    line.send(Command::Apwr, 0, 0x0010, &STATION.to_le_bytes());
    line.guard_all(STATION, 16, 16);
    assert_eq!(line.request(STATION, 2), (2, 0));
    (line, Client::new(STATION))
}

fn numbers(value: &[u8]) -> Vec<u16> {
    value.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Goal: what is written comes back, whatever its size and so the kind of transfer.
    #[test]
    fn values_of_any_size_are_written_and_read(
        value in prop::collection::vec(any::<u8>(), 1..CAPACITY),
    ) {
        let (mut line, mut client) = drive();
        client.download(&mut line, TEXT, 0, &value, false).unwrap();
        prop_assert_eq!(client.upload(&mut line, TEXT, 0, false).unwrap(), value);
    }

    /// Goal: no request brings the server down, and it serves the next one.
    #[test]
    fn arbitrary_requests_are_survived(
        requests in prop::collection::vec(
            (0_u8..16, 0_u8..8, prop::collection::vec(any::<u8>(), 0..100)),
            1..20,
        ),
    ) {
        let (mut line, mut client) = drive();
        for (kind, counter, payload) in requests {
            client.post_with(&mut line, kind, counter, &payload);
            line.pass(Nanos::from_micros(300));
            line.read(STATION, 0x1100, 128);
        }
        client.checks_counter = false;
        while client.fetch(&mut line).is_some() {}
        // A request with the same counter would be taken for a repetition.
        client.post(&mut line, 3, &[0, 0x20, 0x80, 0, 0, 0, 0, 0, 0, 0]);
        line.pass(Nanos::from_micros(300));
        client.upload(&mut line, 0x1000, 0, false).unwrap();
    }

    /// Goal: well-formed commands with arbitrary content end in an answer or an abort.
    #[test]
    fn arbitrary_sdo_commands_are_answered(
        command: u8,
        index in prop::sample::select(vec![TEXT, RECORD, LOCKED, 0x1C12, 0x1600, 0x6060, 0x1018]),
        subindex in 0_u8..6,
        rest in prop::collection::vec(any::<u8>(), 4..90),
    ) {
        let (mut line, mut client) = drive();
        let mut body = vec![command];
        body.extend(index.to_le_bytes());
        body.push(subindex);
        body.extend(&rest);
        let answer = client.ask(&mut line, 2, &body);
        // Only an abort by the client has no answer.
        prop_assert_eq!(answer == Err(SdoError::Silence), command >> 5 == 4);
        client.upload(&mut line, 0x1000, 0, false).unwrap();
    }
}

#[test]
fn small_values_are_expedited_and_long_ones_are_not() {
    let (mut line, mut client) = drive();
    for length in [1, 2, 3, 4, 5, 7, 8, 110, 111, 112, 113, 119, 120, 121, 126, 127, 300, 1_000] {
        let value: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
        client.download(&mut line, TEXT, 0, &value, false).unwrap();
        assert_eq!(client.upload(&mut line, TEXT, 0, false).unwrap(), value, "{length} bytes");
        let first = client.ask(&mut line, 2, &[0x40, 0, 0x20, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!(first[0] & 2 != 0, length <= 4, "{length} bytes");
    }
}

#[test]
fn every_refusal_has_its_code() {
    let (mut line, mut client) = drive();
    let long = vec![0; CAPACITY + 1];
    let cases: [(u16, u8, &[u8], u32); 9] = [
        (0x5555, 0, &[0], 0x0602_0000),
        (RECORD, 9, &[0], 0x0609_0011),
        (RECORD, 3, &[0; 4], 0x0601_0002),
        (RECORD, 2, &[0], 0x0607_0013),
        (RECORD, 2, &[0; 4], 0x0607_0012),
        (TEXT, 0, &long, 0x0607_0012),
        (0x6060, 0, &[7], 0x0609_0030),
        (0x1C12, 1, &[0, 0x16], 0x0601_0003),
        (0x1A00, 1, &[0; 4], 0x0601_0003),
    ];
    // The plain application of this file would accept any mode; the drive's own does not.
    for (index, subindex, value, code) in cases {
        let result = client.download(&mut line, index, subindex, value, false);
        if index == 0x6060 {
            continue;
        }
        assert_eq!(result, Err(SdoError::Abort(code)), "{index:#06x}:{subindex}");
    }
    assert_eq!(client.upload(&mut line, 0x5555, 0, false), Err(SdoError::Abort(0x0602_0000)));
    assert_eq!(client.upload(&mut line, RECORD, 9, false), Err(SdoError::Abort(0x0609_0011)));
    let segment = client.ask(&mut line, 2, &[0x60, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(segment, Err(SdoError::Abort(0x0504_0001)), "no transfer is under way");
}

#[test]
fn a_wrong_toggle_bit_ends_the_transfer() {
    let (mut line, mut client) = drive();
    client.download(&mut line, TEXT, 0, &[1; 500], false).unwrap();
    client.ask(&mut line, 2, &[0x40, 0, 0x20, 0, 0, 0, 0, 0]).unwrap();
    let wrong = client.ask(&mut line, 2, &[0x70, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(wrong, Err(SdoError::Abort(0x0503_0000)));
    let over = client.ask(&mut line, 2, &[0x60, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(over, Err(SdoError::Abort(0x0504_0001)));
}

#[test]
fn complete_access_takes_all_values_of_an_object() {
    let (mut line, mut client) = drive();
    let whole = client.upload(&mut line, RECORD, 0, true).unwrap();
    assert_eq!(whole, [4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    let without_count = client.upload(&mut line, RECORD, 1, true).unwrap();
    assert_eq!(without_count, whole[2..]);
    assert_eq!(client.upload(&mut line, RECORD, 2, true), Err(SdoError::Abort(0x0601_0004)));
    // The PDO assignment is written so by many MainDevices: count, then PDOs.
    client.download(&mut line, 0x1C13, 0, &[1, 0, 0x00, 0x1A], true).unwrap();
    assert_eq!(client.upload(&mut line, 0x1C13, 0, true).unwrap(), [1, 0, 0x00, 0x1A]);
    let wrong = client.download(&mut line, 0x1C13, 0, &[1, 0, 0x00, 0x16], true);
    assert_eq!(wrong, Err(SdoError::Abort(0x0604_0041)));
}

#[test]
fn rights_depend_on_the_state() {
    let (mut line, mut client) = drive();
    client.download(&mut line, LOCKED, 0, &[9], false).unwrap();
    assert_eq!(line.request(STATION, 4), (4, 0));
    let refused = client.download(&mut line, LOCKED, 0, &[10], false);
    assert_eq!(refused, Err(SdoError::Abort(0x0800_0022)));
    assert_eq!(client.upload(&mut line, LOCKED, 0, false).unwrap(), [9]);
}

#[test]
fn objects_are_listed_and_described() {
    let (mut line, mut client) = drive();
    let counts = client.ask(&mut line, 8, &[1, 0, 0, 0, 0, 0]).unwrap();
    let counts = numbers(&counts[6..]);
    // A list of all objects needs several mailboxes.
    let first = client.ask(&mut line, 8, &[1, 0, 0, 0, 1, 0]).unwrap();
    let mut indices = numbers(&first[6..]);
    let mut part = first;
    while part[0] & 0x80 != 0 {
        let left = u16::from_le_bytes([part[2], part[3]]);
        let (_, payload) = client.fetch(&mut line).expect("the next fragment");
        part = payload[2..].to_vec();
        assert_eq!(u16::from_le_bytes([part[2], part[3]]), left - 1);
        indices.extend(numbers(&part[4..]));
    }
    assert_eq!(indices.len(), usize::from(counts[0]));
    assert!(indices.windows(2).all(|pair| pair[0] < pair[1]));
    assert!([0x1000, 0x1018, 0x1C00, TEXT, 0x6040].iter().all(|index| indices.contains(index)));
    let object = client.ask(&mut line, 8, &[3, 0, 0, 0, 0x01, 0x20]).unwrap();
    assert_eq!(object[0], 4);
    assert_eq!((object[8], object[9], &object[10..]), (4, 9, b"Record".as_slice()));
    let entry = client.ask(&mut line, 8, &[5, 0, 0, 0, 0x01, 0x20, 2, 0]).unwrap();
    assert_eq!(numbers(&entry[8..14]), [6, 16, 0x3F]);
    assert_eq!(&entry[14..], b"Word");
    let missing = client.ask(&mut line, 8, &[3, 0, 0, 0, 0x55, 0x55]).unwrap();
    assert_eq!((missing[0], &missing[4..]), (7, 0x0602_0000_u32.to_le_bytes().as_slice()));
}

#[test]
fn a_changed_mapping_changes_the_process_data() {
    let mut line = Line::addressed(&["servo-drive"]);
    line.guard_all(STATION, 16, 16);
    line.request(STATION, 2);
    let mut client = Client::new(STATION);
    // Only the status word and the position, in another order.
    client.download(&mut line, 0x1A00, 0, &[0], false).unwrap();
    client.download(&mut line, 0x1A00, 1, &[0x20, 0x00, 0x64, 0x60], false).unwrap();
    client.download(&mut line, 0x1A00, 2, &[0x10, 0x00, 0x41, 0x60], false).unwrap();
    let wrong = client.download(&mut line, 0x1A00, 3, &[0x20, 0x00, 0x00, 0x10], false);
    assert_eq!(wrong, Err(SdoError::Abort(0x0604_0041)), "0x1000 cannot be mapped");
    client.download(&mut line, 0x1A00, 0, &[2], false).unwrap();
    assert_eq!(line.request(STATION, 4), (0x12, 0x001E), "16 bytes of inputs no longer fit");
    line.guard(STATION, 3, 0x1600, 6, 0x20);
    assert_eq!(line.request(STATION, 0x14), (4, 0));
    let sensor = line.segment.subdevices()[0].signals().len() - 3;
    line.segment.subdevices_mut()[0].sense(sensor, std::f64::consts::TAU);
    let answer = line.read(STATION, 0x1600, 6);
    assert_eq!(answer.data[..4], (1_i32 << 20).to_le_bytes());
    assert_eq!(answer.data[4..], 0x0250_u16.to_le_bytes(), "switch on disabled");
    // The same values through SDOs.
    assert_eq!(client.upload(&mut line, 0x6041, 0, false).unwrap(), 0x0250_u16.to_le_bytes());
    let refused = client.download(&mut line, 0x6060, 0, &[7], false);
    assert_eq!(refused, Err(SdoError::Abort(0x0609_0030)), "no such mode");
}

#[test]
fn a_repeated_request_is_not_executed_again() {
    let (mut line, mut client) = drive();
    let request = [0, 0x20, 0x40, 0, 0x10, 0, 0, 0, 0, 0];
    assert_eq!(client.post_with(&mut line, 3, 5, &request), 1);
    assert!(client.fetch(&mut line).is_some());
    assert_eq!(client.post_with(&mut line, 3, 5, &request), 1);
    assert!(client.fetch(&mut line).is_none());
    assert_eq!(client.post_with(&mut line, 3, 0, &request), 1, "counter 0 is always new");
    assert!(client.fetch(&mut line).is_some());
}

#[test]
fn a_lost_answer_is_sent_again_on_request() {
    let (mut line, mut client) = drive();
    client.post(&mut line, 3, &[0, 0x20, 0x40, 0, 0x10, 0, 0, 0, 0, 0]);
    let first = client.fetch(&mut line).unwrap();
    // Activate with the repeat bit toggled; the device acknowledges at the byte behind.
    assert_eq!(line.write(STATION, 0x080E, &[0x03]), 1);
    assert_eq!(line.read(STATION, 0x080F, 1).data[0] & 2, 2);
    client.checks_counter = false;
    assert_eq!(client.fetch(&mut line).unwrap(), first);
}

#[test]
fn a_full_mailbox_and_an_empty_one_do_not_count() {
    let (mut line, mut client) = drive();
    assert_eq!(line.read(STATION, 0x1100, 128).counter, 0, "nothing to be read");
    let request = [0, 0x20, 0x40, 0, 0x10, 0, 0, 0, 0, 0];
    assert_eq!(client.post(&mut line, 3, &request), 1);
    assert_eq!(client.post(&mut line, 3, &request), 0, "not yet taken");
    line.pass(Nanos::from_millis(1));
    assert_eq!(client.post(&mut line, 3, &request), 1);
    // Both are answered, one after the other.
    assert!(client.fetch(&mut line).is_some());
    assert!(client.fetch(&mut line).is_some());
}

#[test]
fn other_protocols_get_a_mailbox_error() {
    let (mut line, mut client) = drive();
    client.post(&mut line, 4, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(client.fetch(&mut line), Some((0, vec![1, 0, 2, 0])));
    // A length beyond the mailbox.
    let mut mailbox = vec![0; 128];
    mailbox[..2].copy_from_slice(&200_u16.to_le_bytes());
    mailbox[5] = 0x63;
    line.write(STATION, 0x1000, &mailbox);
    assert_eq!(client.fetch(&mut line), Some((0, vec![1, 0, 5, 0])));
}

#[test]
fn emergencies_come_between_answers() {
    let (mut line, mut client) = drive();
    let kind = FaultKind::Emergency { subdevice: 0, code: 0x8611, count: 3 };
    line.segment.faults_mut().add(Fault { kind, when: When::Always });
    assert_eq!(client.upload(&mut line, 0x1000, 0, false).unwrap(), [0x92, 1, 2, 0]);
    assert_eq!(client.emergencies, [0x8611; 3]);
}

#[test]
fn mailbox_faults_are_seen_by_the_client() {
    let (mut line, mut client) = drive();
    let silent = FaultKind::MailboxSilent { subdevice: 0 };
    line.segment.faults_mut().add(Fault { kind: silent, when: When::Always });
    assert_eq!(client.upload(&mut line, 0x1000, 0, false), Err(SdoError::Silence));
    line.segment.faults_mut().clear();
    client.upload(&mut line, 0x1000, 0, false).unwrap();
    let wrong = FaultKind::MailboxCounter { subdevice: 0 };
    line.segment.faults_mut().add(Fault { kind: wrong, when: When::Always });
    client.checks_counter = false;
    let before = client.answer_counter();
    client.upload(&mut line, 0x1000, 0, false).unwrap();
    assert_ne!(client.answer_counter(), before % 7 + 1);
    line.segment.faults_mut().clear();
    let abort = FaultKind::SdoAbort { subdevice: 0, served: 2, code: 0x0800_0000 };
    line.segment.faults_mut().add(Fault { kind: abort, when: When::Always });
    let results: Vec<bool> =
        (0..4).map(|_| client.upload(&mut line, 0x1000, 0, false).is_ok()).collect();
    assert_eq!(results, [true, true, false, true]);
}
