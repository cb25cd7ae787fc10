//! A client for SDOs, written after ETG.1000.6 without a look at the server.

use crate::line::Line;
use quietcore_units::Nanos;

const RECEIVE: u16 = 0x1000;
const SEND: u16 = 0x1100;
const BYTES: usize = 128;
/// Mailbox header, CoE header.
const HEADERS: usize = 8;
/// Number of looks at the mailbox for an answer.
const PATIENCE: usize = 50;

/// A transfer that was aborted, with its code, or that got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SdoError {
    Abort(u32),
    Silence,
}

/// The mailbox of one device.
pub(crate) struct Client {
    pub(crate) address: u16,
    counter: u8,
    /// The counter of the last answer.
    answer_counter: u8,
    /// `true` if the counters of answers are checked.
    pub(crate) checks_counter: bool,
    /// Emergencies that came in between, by code.
    pub(crate) emergencies: Vec<u16>,
}

impl Client {
    pub(crate) fn new(address: u16) -> Self {
        Self {
            address,
            counter: 0,
            answer_counter: 0,
            checks_counter: true,
            emergencies: Vec::new(),
        }
    }

    /// The counter of the last answer.
    pub(crate) fn answer_counter(&self) -> u8 {
        self.answer_counter
    }

    /// Sends a mailbox of some type with this payload.
    pub(crate) fn post(&mut self, line: &mut Line, kind: u8, payload: &[u8]) -> u16 {
        self.counter = self.counter % 7 + 1;
        let counter = self.counter;
        self.post_with(line, kind, counter, payload)
    }

    pub(crate) fn post_with(
        &mut self,
        line: &mut Line,
        kind: u8,
        counter: u8,
        payload: &[u8],
    ) -> u16 {
        let mut mailbox = vec![0; BYTES];
        mailbox[..2].copy_from_slice(&(payload.len() as u16).to_le_bytes());
        mailbox[5] = kind | (counter << 4);
        mailbox[6..6 + payload.len()].copy_from_slice(payload);
        line.write(self.address, RECEIVE, &mailbox)
    }

    /// Fetches the next mailbox: its type and payload.
    pub(crate) fn fetch(&mut self, line: &mut Line) -> Option<(u8, Vec<u8>)> {
        for _ in 0..PATIENCE {
            line.pass(Nanos::from_micros(50));
            if line.read(self.address, 0x080D, 1).data[0] & 0x08 == 0 {
                continue;
            }
            let answer = line.read(self.address, SEND, BYTES);
            assert_eq!(answer.counter, 1);
            let length = usize::from(u16::from_le_bytes([answer.data[0], answer.data[1]]));
            let counter = answer.data[5] >> 4;
            if self.checks_counter && self.answer_counter != 0 {
                assert_eq!(counter, self.answer_counter % 7 + 1, "counter of the answer");
            }
            self.answer_counter = counter;
            return Some((answer.data[5] & 0x0F, answer.data[6..6 + length].to_vec()));
        }
        None
    }

    /// One CoE request and its answer, both from the command on.
    pub(crate) fn ask(
        &mut self,
        line: &mut Line,
        service: u16,
        body: &[u8],
    ) -> Result<Vec<u8>, SdoError> {
        let mut payload = (service << 12).to_le_bytes().to_vec();
        payload.extend(body);
        assert_eq!(self.post(line, 3, &payload), 1, "the mailbox is free");
        loop {
            let (kind, answer) = self.fetch(line).ok_or(SdoError::Silence)?;
            assert_eq!(kind, 3, "{answer:02x?}");
            match u16::from_le_bytes([answer[0], answer[1]]) >> 12 {
                1 => self.emergencies.push(u16::from_le_bytes([answer[2], answer[3]])),
                2 if answer[2] == 0x80 => {
                    let code = answer[6..10].try_into().expect("four bytes");
                    return Err(SdoError::Abort(u32::from_le_bytes(code)));
                }
                3 | 8 => return Ok(answer[2..].to_vec()),
                other => panic!("service {other}"),
            }
        }
    }

    /// Reads an object, by whatever kind of transfer the server chooses.
    pub(crate) fn upload(
        &mut self,
        line: &mut Line,
        index: u16,
        subindex: u8,
        complete: bool,
    ) -> Result<Vec<u8>, SdoError> {
        let [low, high] = index.to_le_bytes();
        let flag = u8::from(complete) << 4;
        let first = self.ask(line, 2, &[0x40 | flag, low, high, subindex, 0, 0, 0, 0])?;
        assert_eq!(first[1..4], [low, high, subindex]);
        if first[0] & 0x02 != 0 {
            let bytes = 4 - usize::from((first[0] >> 2) & 3);
            return Ok(first[4..4 + bytes].to_vec());
        }
        let size = u32::from_le_bytes(first[4..8].try_into().expect("four bytes")) as usize;
        let mut value = first[8..].to_vec();
        let mut toggle = 0;
        while value.len() < size {
            let segment = self.ask(line, 2, &[0x60 | toggle, 0, 0, 0, 0, 0, 0, 0])?;
            assert_eq!(segment[0] & 0x10, toggle, "toggle bit");
            let unused = if segment.len() == 8 { usize::from((segment[0] >> 1) & 7) } else { 0 };
            value.extend(&segment[1..segment.len() - unused]);
            assert_eq!(segment[0] & 1 != 0, value.len() >= size, "last segment");
            toggle ^= 0x10;
        }
        assert_eq!(value.len(), size);
        Ok(value)
    }

    /// Writes an object: expedited up to four bytes, else normal or in segments.
    pub(crate) fn download(
        &mut self,
        line: &mut Line,
        index: u16,
        subindex: u8,
        value: &[u8],
        complete: bool,
    ) -> Result<(), SdoError> {
        let [low, high] = index.to_le_bytes();
        let flag = u8::from(complete) << 4;
        if (1..=4).contains(&value.len()) {
            let command = 0x23 | flag | ((4 - value.len() as u8) << 2);
            let mut body = vec![command, low, high, subindex];
            body.extend(value);
            body.resize(8, 0);
            let answer = self.ask(line, 2, &body)?;
            assert_eq!(answer[..4], [0x60 | flag, low, high, subindex]);
            return Ok(());
        }
        let mut body = vec![0x21 | flag, low, high, subindex];
        body.extend((value.len() as u32).to_le_bytes());
        let first = value.len().min(BYTES - HEADERS - 8);
        body.extend(&value[..first]);
        let answer = self.ask(line, 2, &body)?;
        assert_eq!(answer[..4], [0x60 | flag, low, high, subindex]);
        let mut rest = &value[first..];
        let mut toggle = 0;
        while !rest.is_empty() {
            let now = rest.len().min(BYTES - HEADERS - 1);
            let last = u8::from(now == rest.len());
            let unused = 7_usize.saturating_sub(now) as u8;
            let mut body = vec![toggle | (unused << 1) | last];
            body.extend(&rest[..now]);
            body.resize(body.len().max(8), 0);
            let answer = self.ask(line, 2, &body)?;
            assert_eq!(answer[0], 0x20 | toggle);
            rest = &rest[now..];
            toggle ^= 0x10;
        }
        Ok(())
    }
}
