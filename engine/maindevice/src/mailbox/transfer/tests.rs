//! Transfers against a small device that answers as the standard says.

use super::super::Half;
use super::*;
use proptest::prelude::*;

const STATION: u16 = 0x1001;
const BYTES: u16 = 32;

fn mailbox() -> Mailbox {
    Mailbox::of(&[
        [0x00, 0x10, 32, 0, 0x26, 0, 1, 0],
        [0x80, 0x10, 32, 0, 0x22, 0, 1, 0],
        [0x00, 0x11, 6, 0, 0x24, 0, 1, 0],
    ])
    .unwrap()
}

/// A device with one object, which answers at once.
#[derive(Default)]
struct Device {
    value: Vec<u8>,
    /// Messages in its mailbox, in order.
    messages: std::collections::VecDeque<Vec<u8>>,
    /// Puts this before each answer.
    before: Option<Vec<u8>>,
    silent: bool,
    /// Has another emergency whenever a message was read.
    chatters: bool,
    /// Takes nothing, and says that there is room.
    refuses: bool,
    counters: Vec<u8>,
}

fn message(kind: u8, service: u16, body: &[u8]) -> Vec<u8> {
    let mut message = ((body.len() + 2) as u16).to_le_bytes().to_vec();
    message.extend([0, 0, 0, kind]);
    message.extend((service << 12).to_le_bytes());
    message.extend(body);
    message.resize(usize::from(BYTES), 0);
    message
}

fn emergency() -> Vec<u8> {
    message(3, 1, &[0x10, 0x82, 0x11, 1, 2, 3, 4, 5])
}

impl Device {
    fn take(&mut self, request: &[u8]) {
        self.counters.push(request[5] >> 4);
        self.messages.extend(self.before.clone());
        let body = &request[8..];
        let answer = match body[0] >> 5 {
            1 => self.begin_download(body),
            0 => {
                let bytes = usize::from(u16::from_le_bytes([request[0], request[1]])) - 3;
                let unused = if bytes == 7 { usize::from(body[0] >> 1 & 7) } else { 0 };
                self.value.extend(&body[1..1 + bytes - unused]);
                vec![0x20 | body[0] & 0x10, 0, 0, 0, 0, 0, 0, 0]
            }
            other => panic!("command {other}"),
        };
        if !self.silent {
            self.messages.push_back(message(3, 3, &answer));
        }
    }

    fn begin_download(&mut self, body: &[u8]) -> Vec<u8> {
        if body[1..3] != [0x20, 0x60] {
            let mut abort = vec![0x80, body[1], body[2], body[3]];
            abort.extend(0x0602_0000_u32.to_le_bytes());
            return abort;
        }
        self.value = if body[0] & 2 != 0 {
            body[4..8 - usize::from(body[0] >> 2 & 3)].to_vec()
        } else {
            let whole = u32::from_le_bytes(body[4..8].try_into().unwrap()) as usize;
            body[8..].iter().copied().take(whole.min(16)).collect()
        };
        vec![0x60, body[1], body[2], body[3], 0, 0, 0, 0]
    }

    /// Answers one datagram to it.
    fn answer(&mut self, request: Request, data: &[u8]) -> (Vec<u8>, u16) {
        match (request.address >> 16) as u16 {
            0x0805 => (vec![0], 1),
            0x080D => (vec![if self.messages.is_empty() { 0 } else { 8 }], 1),
            0x1000 if self.refuses => (data.to_vec(), 0),
            0x1000 => {
                self.take(data);
                (data.to_vec(), 1)
            }
            0x1080 if self.chatters => (emergency(), 1),
            0x1080 => match self.messages.pop_front() {
                Some(message) => (message, 1),
                None => (vec![0; 32], 0),
            },
            other => panic!("register {other:#x}"),
        }
    }
}

/// Runs a transfer to its end; returns how it ended and the emergencies told.
fn run(
    transfer: &mut Transfer,
    mailbox: &mut Mailbox,
    device: &mut Device,
    lose: impl Fn(usize) -> bool,
) -> (Progress, Vec<Emergency>) {
    let mut emergencies = Vec::new();
    for round in 0..5000 {
        let now = Nanos::from_millis(round as u64);
        let request = transfer.request(STATION, mailbox);
        let mut data = vec![0; usize::from(request.bytes)];
        transfer.fill(mailbox, &mut data);
        let answer = (!lose(round)).then(|| device.answer(request, &data));
        let answer = answer.as_ref().map(|(data, counter)| (&data[..], *counter));
        let mut tell = |emergency| emergencies.push(emergency);
        match transfer.answered(now, mailbox, answer, &mut tell) {
            Progress::More => {}
            ended => return (ended, emergencies),
        }
    }
    panic!("the transfer never ends");
}

fn object(index: u16) -> Object {
    Object { index, subindex: 0, complete: false }
}

fn download(index: u16, value: &[u8], mailbox: &mut Mailbox) -> Transfer {
    let mut transfer = Transfer::idle();
    transfer.download(object(index), value, mailbox).unwrap();
    transfer
}

#[test]
fn the_mailbox_is_found_in_the_registers() {
    let mailbox = mailbox();
    assert_eq!(mailbox.out, Half { manager: 0, address: 0x1000, bytes: 32 });
    assert_eq!(mailbox.back, Half { manager: 1, address: 0x1080, bytes: 32 });
    assert_eq!(Mailbox::of(&[[0x00, 0x10, 32, 0, 0x26, 0, 0, 0]]), None);
    assert_eq!(Mailbox::of(&[]), None);
}

#[test]
fn the_number_of_a_message_is_never_that_of_the_one_before() {
    let mut mailbox = mailbox();
    let numbers: Vec<_> = (0..8).map(|_| mailbox.count()).collect();
    assert_eq!(numbers, [2, 3, 4, 5, 6, 7, 1, 2]);
}

fn any_answer() -> impl Strategy<Value = (Vec<u8>, u16)> {
    (prop::collection::vec(any::<u8>(), 0..40), 0_u16..3)
}

proptest! {
    #[test]
    fn values_of_all_lengths_are_written(
        value in prop::collection::vec(any::<u8>(), 0..200)
    ) {
        let (mut mailbox, mut device) = (mailbox(), Device::default());
        let mut transfer = download(0x6020, &value, &mut mailbox);
        let (ended, _) = run(&mut transfer, &mut mailbox, &mut device, |_| false);
        prop_assert_eq!(ended, Progress::Done);
        prop_assert_eq!(&device.value, &value);
        prop_assert!(device.counters.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn no_answer_makes_a_transfer_panic(
        answers in prop::collection::vec(any_answer(), 1..60)
    ) {
        let mut mailbox = mailbox();
        let mut transfer = download(0x6020, &[1; 100], &mut mailbox);
        for (data, counter) in answers {
            let request = transfer.request(STATION, &mailbox);
            transfer.fill(&mailbox, &mut vec![0; usize::from(request.bytes)]);
            let answer = Some((&data[..], counter));
            if transfer.answered(Nanos::ZERO, &mut mailbox, answer, &mut |_| {}) != Progress::More {
                break;
            }
        }
    }
}

/// Goal: an emergency is told and never taken for the answer.
/// Method: the device puts one before each of its answers, and one lies there from the start.
#[test]
fn emergencies_between_the_answers_are_told() {
    let (mut mailbox, value) = (mailbox(), vec![7; 60]);
    let mut device = Device { before: Some(emergency()), ..Device::default() };
    device.messages.push_back(emergency());
    let mut transfer = download(0x6020, &value, &mut mailbox);
    let (ended, emergencies) = run(&mut transfer, &mut mailbox, &mut device, |_| false);
    assert_eq!((ended, &device.value), (Progress::Done, &value));
    assert_eq!(emergencies.len(), 1 + device.counters.len());
    let expected = Emergency { code: 0x8210, register: 0x11, data: [1, 2, 3, 4, 5] };
    assert!(emergencies.iter().all(|emergency| *emergency == expected));
}

#[test]
fn a_refusal_carries_its_code() {
    let (mut mailbox, mut device) = (mailbox(), Device::default());
    let mut transfer = download(0x7000, &[1], &mut mailbox);
    let (ended, _) = run(&mut transfer, &mut mailbox, &mut device, |_| false);
    assert_eq!(ended, Progress::Failed(SdoError::Aborted(0x0602_0000)));
}

#[test]
fn a_device_that_never_answers_ends_the_transfer() {
    let (mut mailbox, mut device) = (mailbox(), Device { silent: true, ..Device::default() });
    let mut transfer = download(0x6020, &[1; 50], &mut mailbox);
    let (ended, _) = run(&mut transfer, &mut mailbox, &mut device, |_| false);
    assert_eq!(ended, Progress::Failed(SdoError::Silent));
    let mut transfer = download(0x6020, &[1; 50], &mut mailbox);
    let (ended, _) = run(&mut transfer, &mut mailbox, &mut Device::default(), |_| true);
    assert_eq!(ended, Progress::Failed(SdoError::Silent));
}

/// Goal: a device that always has something else to say, or takes a message and never has it, ends
/// the transfer.
/// Method: it has another emergency whenever one was read, or no room for what is written.
#[test]
fn a_device_that_chatters_ends_the_transfer() {
    let (mut mailbox, mut device) = (mailbox(), Device { chatters: true, ..Device::default() });
    device.messages.push_back(emergency());
    let mut transfer = download(0x6020, &[1; 50], &mut mailbox);
    let (ended, emergencies) = run(&mut transfer, &mut mailbox, &mut device, |_| false);
    assert_eq!(ended, Progress::Failed(SdoError::Silent));
    assert!(emergencies.len() > 100, "{}", emergencies.len());

    let mut device = Device { refuses: true, ..Device::default() };
    let mut transfer = download(0x6020, &[1; 50], &mut mailbox);
    let (ended, _) = run(&mut transfer, &mut mailbox, &mut device, |_| false);
    assert_eq!(ended, Progress::Failed(SdoError::Silent));
}

#[test]
fn a_lost_question_is_asked_again() {
    let (mut mailbox, mut device) = (mailbox(), Device::default());
    let mut transfer = download(0x6020, &[3; 50], &mut mailbox);
    // The first round asks whether the mailbox is empty, the second whether there is room.
    let (ended, _) = run(&mut transfer, &mut mailbox, &mut device, |round| round < 2);
    assert_eq!((ended, &device.value[..]), (Progress::Done, &[3; 50][..]));
}

#[test]
fn a_value_that_is_too_long_is_refused() {
    let refused = Transfer::idle().download(object(0x6020), &[0; 1025], &mut mailbox());
    assert_eq!(refused, Err(SdoError::TooLong));
}
