//! Questions to SubDevices before the first cycle, one at a time, each asked until it is answered.

use alloc::vec::Vec;

use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, Wire, WireError};

use crate::alarm::Alarms;
use crate::frame::register;
use crate::frame::{FrameBuffer, Request, index_of};
use crate::mailbox::{Emergency, Object, Progress, SdoError, Transfer};
use crate::state::AlStatus;
use crate::subdevice::SubDevice;

/// Number of times that a question is asked.
const ATTEMPTS: usize = 4;
/// Time that an answer is waited for.
const PATIENCE: Nanos = Nanos::from_millis(50);
/// The pause between two questions for the same thing.
const PAUSE: Nanos = Nanos::from_micros(100);

/// Asks over a wire.
pub(super) struct Talk<'wire, W> {
    wire: &'wire mut W,
    index: u8,
    received: [u8; FRAME_BYTES_MAX],
}

impl<'wire, W: Wire> Talk<'wire, W> {
    pub(super) fn new(wire: &'wire mut W) -> Self {
        Self { wire, index: 0x80, received: [0; FRAME_BYTES_MAX] }
    }

    /// Asks with these data, padded with zeros. `None` if no answer came.
    pub(super) fn ask(
        &mut self,
        request: Request,
        data: &[u8],
    ) -> Result<Option<(&[u8], u16)>, WireError> {
        let mut buffer = FrameBuffer::new();
        let Some(place) = buffer.push(request) else { return Ok(None) };
        let bytes = usize::from(request.bytes);
        buffer
            .data_mut(place, data.len().min(bytes))
            .copy_from_slice(&data[..data.len().min(bytes)]);
        for _ in 0..ATTEMPTS {
            self.index = self.index.wrapping_add(1);
            self.wire.send(buffer.finish(self.index))?;
            let until = self.wire.now() + PATIENCE;
            while let Some(length) = self.wire.receive(&mut self.received, until)? {
                let answer = &self.received[..length];
                let ours = index_of(answer) == Some(self.index)
                    && buffer.answer(answer, place, bytes).is_some();
                if ours {
                    return Ok(buffer.answer(&self.received, place, bytes));
                }
            }
        }
        Ok(None)
    }

    /// Reads a register of one SubDevice; empty if it does not answer.
    pub(super) fn read(
        &mut self,
        station: u16,
        register: u16,
        bytes: u16,
    ) -> Result<Vec<u8>, WireError> {
        let answer = self.ask(Request::read(station, register, bytes), &[])?;
        Ok(match answer {
            Some((data, 1..)) => data.to_vec(),
            _ => Vec::new(),
        })
    }

    /// Writes a register of one SubDevice; returns whether it took it.
    pub(super) fn write(
        &mut self,
        station: u16,
        register: u16,
        data: &[u8],
    ) -> Result<bool, WireError> {
        let answer = self.ask(Request::write(station, register, data.len() as u16), data)?;
        Ok(matches!(answer, Some((_, 1..))))
    }

    /// The AL states of the SubDevices at these addresses, in order; `None` for one that is silent.
    pub(super) fn states(
        &mut self,
        stations: impl Iterator<Item = u16>,
    ) -> Result<Vec<Option<AlStatus>>, WireError> {
        let mut states = Vec::new();
        for station in stations {
            let data = self.read(station, register::AL_STATUS, register::AL_STATUS_BYTES)?;
            states.push(AlStatus::parse(&data));
        }
        Ok(states)
    }

    /// Writes an object of a SubDevice. Emergencies become alarms.
    pub(super) fn download(
        &mut self,
        subdevice: &mut SubDevice,
        object: Object,
        data: &[u8],
        alarms: &mut Alarms,
    ) -> Result<Result<(), SdoError>, WireError> {
        let (station, position) = (subdevice.address, subdevice.position);
        let Some(mailbox) = &mut subdevice.mailbox else { return Ok(Err(SdoError::NoMailbox)) };
        let mut transfer = Transfer::idle();
        if let Err(error) = transfer.download(object, data, mailbox) {
            return Ok(Err(error));
        }
        loop {
            let request = transfer.request(station, mailbox);
            let mut message = alloc::vec![0; usize::from(request.bytes)];
            transfer.fill(mailbox, &mut message);
            let answer =
                self.ask(request, &message)?.map(|(data, counter)| (data.to_vec(), counter));
            let answer = answer.as_ref().map(|(data, counter)| (&data[..], *counter));
            let mut tell = |emergency: Emergency| {
                alarms.raise(crate::supervise::emergency(position, emergency));
            };
            match transfer.answered(self.wire.now(), mailbox, answer, &mut tell) {
                Progress::More => self.pause()?,
                Progress::Done => return Ok(Ok(())),
                Progress::Failed(error) => return Ok(Err(error)),
            }
        }
    }

    /// Waits a little; what arrives meanwhile belongs to nobody.
    fn pause(&mut self) -> Result<(), WireError> {
        let until = self.wire.now() + PAUSE;
        while self.wire.now() < until {
            self.wire.receive(&mut self.received, until)?;
        }
        Ok(())
    }
}
