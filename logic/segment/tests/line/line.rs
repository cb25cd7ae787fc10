//! A MainDevice that sends one datagram at a time, to look at a segment from close by.

use quietcore_segment::{Command, Delivery, Options, Segment, SubDevice};
use quietcore_units::Nanos;

/// The station address of the first SubDevice; the others follow.
pub(crate) const STATION: u16 = 0x1000;
/// AL control, status and status code.
pub(crate) const AL_CONTROL: u16 = 0x0120;
pub(crate) const AL_STATUS: u16 = 0x0130;
pub(crate) const AL_STATUS_CODE: u16 = 0x0134;

/// A segment and the time of its MainDevice.
pub(crate) struct Line {
    pub(crate) segment: Segment,
    pub(crate) now: Nanos,
    /// The fate of the last frame.
    pub(crate) delivery: Delivery,
    index: u8,
}

/// A datagram as it came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) data: Vec<u8>,
    pub(crate) counter: u16,
    pub(crate) position: u16,
    pub(crate) events: u16,
}

impl Line {
    /// A line of these devices.
    pub(crate) fn of(names: &[&str]) -> Self {
        let build = |name: &&str| SubDevice::by_name(name).expect("a built-in device");
        Self::new(names.iter().map(build).collect())
    }

    pub(crate) fn new(devices: Vec<SubDevice>) -> Self {
        Self {
            segment: Segment::new(devices, Options::default()),
            now: Nanos::from_millis(1),
            delivery: Delivery::Deliver,
            index: 0,
        }
    }

    /// A line whose devices have station addresses.
    pub(crate) fn addressed(names: &[&str]) -> Self {
        let mut line = Self::of(names);
        for place in 0..names.len() as u16 {
            let address = (STATION + place).to_le_bytes();
            let answer = line.send(Command::Apwr, place.wrapping_neg(), 0x0010, &address);
            assert_eq!(answer.counter, 1);
        }
        line
    }

    /// Lets `time` go by.
    pub(crate) fn pass(&mut self, time: Nanos) {
        self.now += time;
    }

    /// Sends a datagram 20 µs after the last one.
    pub(crate) fn send(
        &mut self,
        command: Command,
        address: u16,
        register: u16,
        data: &[u8],
    ) -> Answer {
        let mut frame = frame(command, self.index, address, register, data);
        self.index = self.index.wrapping_add(1);
        self.pass(Nanos::from_micros(20));
        self.delivery = self.segment.process(&mut frame, self.now);
        let end = 26 + data.len();
        Answer {
            data: frame[26..end].to_vec(),
            counter: u16::from_le_bytes([frame[end], frame[end + 1]]),
            position: u16::from_le_bytes([frame[18], frame[19]]),
            events: u16::from_le_bytes([frame[24], frame[25]]),
        }
    }

    /// FPRD of some bytes.
    pub(crate) fn read(&mut self, address: u16, register: u16, bytes: usize) -> Answer {
        self.send(Command::Fprd, address, register, &vec![0; bytes])
    }

    /// FPRD of two bytes, as a number.
    pub(crate) fn word(&mut self, address: u16, register: u16) -> u16 {
        let answer = self.read(address, register, 2);
        assert_eq!(answer.counter, 1, "{register:#06x} is there");
        u16::from_le_bytes([answer.data[0], answer.data[1]])
    }

    /// Writes by station address (FPWR).
    pub(crate) fn write(&mut self, address: u16, register: u16, data: &[u8]) -> u16 {
        self.send(Command::Fpwr, address, register, data).counter
    }

    /// Sends a logical datagram.
    pub(crate) fn logical(&mut self, command: Command, address: u32, data: &[u8]) -> Answer {
        self.send(command, address as u16, (address >> 16) as u16, data)
    }

    /// Sets up FMMU `number`: logical start and bits, physical start and bit, type.
    pub(crate) fn map(
        &mut self,
        address: u16,
        number: u16,
        logical: (u32, u16, u8, u8),
        physical: (u16, u8),
        kind: u8,
    ) {
        let mut registers = [0; 16];
        registers[..4].copy_from_slice(&logical.0.to_le_bytes());
        registers[4..6].copy_from_slice(&logical.1.to_le_bytes());
        registers[6..8].copy_from_slice(&[logical.2, logical.3]);
        registers[8..10].copy_from_slice(&physical.0.to_le_bytes());
        registers[10..13].copy_from_slice(&[physical.1, kind, 1]);
        assert_eq!(self.write(address, 0x0600 + 16 * number, &registers), 1);
    }

    /// Sets up SyncManager `number`.
    pub(crate) fn guard(
        &mut self,
        address: u16,
        number: u16,
        start: u16,
        length: u16,
        control: u8,
    ) {
        let [a, b] = start.to_le_bytes();
        let [c, d] = length.to_le_bytes();
        let registers = [a, b, c, d, control, 0, u8::from(length > 0), 0];
        assert_eq!(self.write(address, 0x0800 + 8 * number, &registers), 1);
    }

    /// Sets up the SyncManagers of the built-in devices with mailbox.
    pub(crate) fn guard_all(&mut self, address: u16, outputs: u16, inputs: u16) {
        self.guard(address, 0, 0x1000, 128, 0x26);
        self.guard(address, 1, 0x1100, 128, 0x22);
        self.guard(address, 2, 0x1400, outputs, 0x64);
        self.guard(address, 3, 0x1600, inputs, 0x20);
    }

    /// Asks for an AL state, waits, and returns status and status code.
    pub(crate) fn request(&mut self, address: u16, state: u8) -> (u16, u16) {
        assert_eq!(self.write(address, AL_CONTROL, &[state, 0]), 1);
        self.pass(Nanos::from_millis(1));
        (self.word(address, AL_STATUS), self.word(address, AL_STATUS_CODE))
    }
}

/// A frame with one datagram, padded to the least length of Ethernet.
pub(crate) fn frame(
    command: Command,
    index: u8,
    address: u16,
    register: u16,
    data: &[u8],
) -> Vec<u8> {
    let mut frame = vec![0xFF; 6];
    frame.extend([0x10; 6]);
    frame.extend([0x88, 0xA4]);
    frame.extend((0x1000 | (12 + data.len() as u16)).to_le_bytes());
    frame.extend([command as u8, index]);
    frame.extend(address.to_le_bytes());
    frame.extend(register.to_le_bytes());
    frame.extend((data.len() as u16).to_le_bytes());
    frame.extend([0, 0]);
    frame.extend(data);
    frame.extend([0, 0]);
    if frame.len() < 60 {
        frame.resize(60, 0);
    }
    frame
}
