//! Brings one SubDevice to OP, whatever happened to it.
//!
//! ```text
//! Look ─ in OP ───────────────────────────────────────────────────────────────► done
//!  │ ├── in SAFE-OP, first attempt ───────────────────────────────┐
//!  │ └── any other state ──► INIT                                 │
//!  │ no answer                │                                   │
//!  ▼                          ▼                                   ▼
//! Position ─► Identity ─► Assign: INIT ─► mailbox ─► PRE-OP ─► SAFE-OP ─► OP ─► done
//!  │ nobody     │ another device             start-up values ┘  process data, clock
//!  ▼            ▼
//! absent      foreign
//! ```
//!
//! A SubDevice that lost its power has forgotten its address. It is found by its position, and must
//! be the same product before it is given the address and everything else that was read back from
//! it after the bring-up; its serial number may be another, so that a broken device can be
//! replaced. Its clock is set from the reference clock's time in the same cycle.

use quietcore_units::Nanos;

use super::{Sight, watch};
use crate::alarm::Alarms;
use crate::cycle::Cycle;
use crate::frame::Request;
use crate::frame::register;
use crate::mailbox::{Progress, Transfer};
use crate::state::{AlState, AlStatus};
use crate::subdevice::SubDevice;

/// Time that a change of state may take. The standard's own limits are below (ETG.1020, 9.1.2).
const STATE_PATIENCE: Nanos = Nanos::from_secs(10);
/// Time for which an error may still be seen after it was acknowledged.
const ERROR_GRACE: Nanos = Nanos::from_millis(50);
/// Time that the whole may take without a step forward.
const STEP_PATIENCE: Nanos = Nanos::from_secs(2);
/// Time for which SYNC0 stays off at least, so that it begins after it was set up.
const SYNC_DELAY: Nanos = Nanos::from_millis(20);
/// Which write of those that set up the SYNC signals is the one of their start.
const START_OF_SYNC: usize = 1;
/// Words of the SII that identify a product: vendor, product, revision.
const IDENTITY_WORDS: [u16; 3] = [0x08, 0x0A, 0x0C];

/// The end of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    InOp(AlStatus),
    Absent,
    Foreign { vendor: u32, product: u32 },
    Failed { wanted: AlState, code: u16 },
}

/// Groups of registers that are written one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Mailbox,
    Process,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Look,
    Position,
    SiiOwner,
    SiiCommand { number: usize },
    SiiWait { number: usize },
    SiiData { number: usize },
    Assign,
    Ask { state: AlState, acknowledge: bool },
    Await(AlState),
    Write { stage: Stage, number: usize },
    StartUp { number: usize, begun: bool },
    ReadClock,
    Offset { offset: u64 },
    Delay,
    Sync { number: usize },
}

impl Phase {
    /// Asks for a state where there is no error.
    fn ask(state: AlState) -> Self {
        Self::Ask { state, acknowledge: false }
    }
}

/// A recovery on its way.
#[derive(Debug)]
pub(super) struct Recovery {
    subdevice: usize,
    /// Set up everything, even if the SubDevice seems to know it.
    thorough: bool,
    phase: Phase,
    since: Nanos,
    found: [u32; IDENTITY_WORDS.len()],
    /// The state on the way to which it is.
    wanted: AlState,
    /// When SYNC0 begins, by the reference clock.
    sync_start: Nanos,
}

impl Recovery {
    pub(super) fn new(subdevice: usize, thorough: bool, now: Nanos) -> Self {
        Self {
            subdevice,
            thorough,
            phase: Phase::Look,
            since: now,
            found: [0; IDENTITY_WORDS.len()],
            wanted: AlState::Op,
            sync_start: Nanos::ZERO,
        }
    }

    pub(super) fn subdevice(&self) -> usize {
        self.subdevice
    }

    /// Gives the cycle the next datagram. Returns whether there is one, which is always.
    pub(super) fn ask(
        &mut self,
        sight: Sight,
        cycle: &mut Cycle,
        subdevice: &mut SubDevice,
        transfer: &mut Transfer,
    ) -> bool {
        self.skip(sight.now, subdevice);
        let station = subdevice.address;
        let (request, data) = match self.phase {
            Phase::StartUp { number, begun } => {
                let Some(mailbox) = &mut subdevice.mailbox else { return false };
                if !begun && let Some(value) = subdevice.start_up.get(number) {
                    // The length was checked before the bring-up.
                    let _ = transfer.download(value.object, &value.data, mailbox);
                    self.phase = Phase::StartUp { number, begun: true };
                }
                let request = transfer.request(station, mailbox);
                cycle.take_along(request, |data| transfer.fill(mailbox, data));
                return true;
            }
            Phase::Position
            | Phase::SiiOwner
            | Phase::SiiCommand { .. }
            | Phase::SiiWait { .. }
            | Phase::SiiData { .. }
            | Phase::Assign => self.by_position(subdevice),
            Phase::ReadClock | Phase::Offset { .. } | Phase::Delay | Phase::Sync { .. } => {
                let Some(datagram) = self.clock(sight, subdevice) else { return false };
                datagram
            }
            Phase::Look | Phase::Await(_) => {
                let bytes = register::AL_STATUS_BYTES;
                (Request::read(station, register::AL_STATUS, bytes), Data::none())
            }
            Phase::Ask { state, acknowledge } => {
                // A device without a processor shows in its status what was written, the
                // acknowledgement too; so that is written only where there is something.
                let bit = if acknowledge { register::AL_ERROR } else { 0 };
                let request = Request::write(station, register::AL_CONTROL, 2);
                (request, Data::of(&[state.number() | bit, 0]))
            }
            Phase::Write { stage, number } => {
                let Some((address, data)) = write(subdevice, stage, number) else { return false };
                (Request::write(station, address, data.bytes as u16), data)
            }
        };
        cycle.take_along(request, |place| data.copy_into(place));
        true
    }

    /// The datagrams to a SubDevice that has no address.
    fn by_position(&self, subdevice: &SubDevice) -> (Request, Data) {
        let position = subdevice.position;
        match self.phase {
            Phase::SiiOwner => {
                (Request::write_at(position, register::SII_OWNER, 1), Data::of(&[0]))
            }
            Phase::SiiCommand { number } => {
                let mut command = [0; 6];
                command[..2].copy_from_slice(&register::SII_READ.to_le_bytes());
                command[2..4].copy_from_slice(&IDENTITY_WORDS[number].to_le_bytes());
                (Request::write_at(position, register::SII_CONTROL, 6), Data::of(&command))
            }
            Phase::SiiWait { .. } => {
                (Request::read_at(position, register::SII_CONTROL, 2), Data::none())
            }
            Phase::SiiData { .. } => {
                (Request::read_at(position, register::SII_DATA, 4), Data::none())
            }
            Phase::Assign => (
                Request::write_at(position, register::STATION_ADDRESS, 2),
                Data::of(&subdevice.address.to_le_bytes()),
            ),
            _ => (Request::read_at(position, register::STATION_ADDRESS, 2), Data::none()),
        }
    }

    /// Returns the datagram that sets the clock; `None` where there is no SYNC signal to set up.
    fn clock(&mut self, sight: Sight, subdevice: &SubDevice) -> Option<(Request, Data)> {
        let station = subdevice.address;
        let datagram = match self.phase {
            Phase::Offset { offset } => (
                Request::write(station, register::SYSTEM_TIME_OFFSET, 8),
                Data::of(&offset.to_le_bytes()),
            ),
            Phase::Delay => {
                let delay_ns = subdevice.clock.map_or(0, |clock| clock.delay_ns);
                let request = Request::write(station, register::SYSTEM_TIME_DELAY, 4);
                (request, Data::of(&delay_ns.to_le_bytes()))
            }
            Phase::Sync { number } => {
                if number == START_OF_SYNC {
                    self.sync_start = sync_start(subdevice, sight.dc_time.unwrap_or_default());
                }
                let (address, data) = sync_write(subdevice, number, self.sync_start.get())?;
                (Request::write(station, address, data.bytes as u16), data)
            }
            _ => (Request::read(station, register::SYSTEM_TIME, 24), Data::none()),
        };
        Some(datagram)
    }

    /// Leaves phases in which nothing is left to do.
    fn skip(&mut self, now: Nanos, subdevice: &SubDevice) {
        // Each phase leads forward, so this ends.
        loop {
            let next = match self.phase {
                Phase::Write { stage, number } if write(subdevice, stage, number).is_none() => {
                    match stage {
                        Stage::Mailbox => Phase::ask(AlState::PreOp),
                        Stage::Process if subdevice.clock.is_some() => Phase::ReadClock,
                        Stage::Process => Phase::ask(AlState::SafeOp),
                    }
                }
                Phase::StartUp { number, .. }
                    if subdevice.mailbox.is_none() || number >= subdevice.start_up.len() =>
                {
                    Phase::Write { stage: Stage::Process, number: 0 }
                }
                Phase::Sync { number } if sync_write(subdevice, number, 0).is_none() => {
                    Phase::ask(AlState::SafeOp)
                }
                _ => return,
            };
            self.enter(next, now);
        }
    }

    fn enter(&mut self, phase: Phase, now: Nanos) {
        if let Phase::Ask { state, .. } = phase {
            self.wanted = state;
        }
        self.phase = phase;
        self.since = now;
    }

    /// Takes the answer to the datagram; returns the end if this is it.
    pub(super) fn answered(
        &mut self,
        sight: Sight,
        answer: Option<(&[u8], u16)>,
        subdevice: &mut SubDevice,
        transfer: &mut Transfer,
        alarms: &mut Alarms,
    ) -> Option<Ended> {
        let now = sight.now;
        if let Phase::StartUp { number, .. } = self.phase {
            let position = subdevice.position;
            let mailbox = subdevice.mailbox.as_mut()?;
            let mut tell = |emergency| alarms.raise(watch::emergency(position, emergency));
            return match transfer.answered(now, mailbox, answer, &mut tell) {
                Progress::More => None,
                Progress::Done => {
                    self.enter(Phase::StartUp { number: number + 1, begun: false }, now);
                    None
                }
                Progress::Failed(_) => Some(self.failed(0)),
            };
        }
        let patience =
            if matches!(self.phase, Phase::Await(_)) { STATE_PATIENCE } else { STEP_PATIENCE };
        let late = now.saturating_sub(self.since) > patience;
        let Some((data, counter)) = answer else { return late.then(|| self.failed(0)) };
        if counter == 0 && !matches!(self.phase, Phase::Look) {
            return Some(Ended::Absent);
        }
        match self.next(sight, data, counter, subdevice) {
            Step::Again if late => {
                Some(self.failed(AlStatus::parse(data).map_or(0, |status| status.code)))
            }
            Step::Again => None,
            Step::To(phase) => {
                self.enter(phase, now);
                None
            }
            Step::End(ended) => Some(ended),
        }
    }

    fn failed(&self, code: u16) -> Ended {
        Ended::Failed { wanted: self.wanted, code }
    }

    /// Returns the step that follows an answer.
    fn next(&mut self, sight: Sight, data: &[u8], counter: u16, subdevice: &SubDevice) -> Step {
        let word = |at: usize| {
            let bytes = data.get(at..at + 2).unwrap_or(&[0, 0]);
            u16::from_le_bytes([bytes[0], bytes[1]])
        };
        match self.phase {
            Phase::Look if counter == 0 => Step::To(Phase::Position),
            Phase::Look => self.looked(AlStatus::parse(data)),
            Phase::Position if word(0) == 0 => Step::To(Phase::SiiOwner),
            Phase::Position if word(0) == subdevice.address => Step::To(Phase::Look),
            // Someone who has an address already: the line was closed around the missing one.
            Phase::Position => Step::End(Ended::Absent),
            Phase::SiiOwner => Step::To(Phase::SiiCommand { number: 0 }),
            Phase::SiiCommand { number } => Step::To(Phase::SiiWait { number }),
            Phase::SiiWait { .. } if word(0) & register::SII_BUSY != 0 => Step::Again,
            Phase::SiiWait { number } => Step::To(Phase::SiiData { number }),
            Phase::SiiData { number } => {
                self.found[number] = u32::from(word(2)) << 16 | u32::from(word(0));
                self.identified(number + 1, subdevice)
            }
            Phase::Assign => Step::To(Phase::ask(AlState::Init)),
            Phase::Ask { state, .. } => Step::To(Phase::Await(state)),
            Phase::Await(wanted) => match AlStatus::parse(data) {
                Some(status) if status.error => {
                    // At first it may still be the error that the request acknowledges.
                    let fresh = sight.now.saturating_sub(self.since) < ERROR_GRACE;
                    if fresh { Step::Again } else { Step::End(self.failed(status.code)) }
                }
                // A device may refuse OP as long as SYNC0 does not come.
                Some(status) if status.state == AlState::SafeOp && self.awaits_sync(sight) => {
                    Step::Again
                }
                Some(status) if status.state == wanted => Self::reached(status),
                _ => Step::Again,
            },
            Phase::Write { stage, number } => Step::To(Phase::Write { stage, number: number + 1 }),
            Phase::StartUp { .. } => Step::Again,
            Phase::ReadClock => read_clock(sight, data),
            Phase::Offset { .. } => Step::To(Phase::Delay),
            Phase::Delay => Step::To(Phase::Sync { number: 0 }),
            Phase::Sync { number } => Step::To(Phase::Sync { number: number + 1 }),
        }
    }

    fn looked(&self, status: Option<AlStatus>) -> Step {
        let Some(status) = status else { return Step::Again };
        let acknowledge = status.error && status.code != 0;
        let state = match status.state {
            AlState::Op if !status.error && !self.thorough => {
                return Step::End(Ended::InOp(status));
            }
            AlState::Op if !acknowledge && !self.thorough => AlState::Op,
            // It has its settings still; the way to OP is short.
            AlState::SafeOp if !self.thorough => AlState::SafeOp,
            _ => AlState::Init,
        };
        Step::To(Phase::Ask { state, acknowledge })
    }

    fn awaits_sync(&self, sight: Sight) -> bool {
        sight.dc_time.is_some_and(|time| time < self.sync_start)
    }

    fn identified(&self, number: usize, subdevice: &SubDevice) -> Step {
        if number < IDENTITY_WORDS.len() {
            return Step::To(Phase::SiiCommand { number });
        }
        let [vendor, product, revision] = self.found;
        let identity = subdevice.identity;
        let same = identity.vendor == vendor
            && identity.product == product
            && identity.revision.is_none_or(|known| known == revision);
        if same { Step::To(Phase::Assign) } else { Step::End(Ended::Foreign { vendor, product }) }
    }

    /// Returns the step that follows a state that was reached.
    fn reached(status: AlStatus) -> Step {
        match status.state {
            AlState::Init => Step::To(Phase::Write { stage: Stage::Mailbox, number: 0 }),
            AlState::PreOp => Step::To(Phase::StartUp { number: 0, begun: false }),
            AlState::SafeOp => Step::To(Phase::ask(AlState::Op)),
            AlState::Op => Step::End(Ended::InOp(status)),
            _ => Step::To(Phase::ask(AlState::Init)),
        }
    }
}

/// The step that follows an answer.
enum Step {
    Again,
    To(Phase),
    End(Ended),
}

/// Up to 16 bytes to be written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Data {
    content: [u8; 16],
    bytes: usize,
}

impl Data {
    fn none() -> Self {
        Self::default()
    }

    fn of(data: &[u8]) -> Self {
        let mut content = [0; 16];
        content[..data.len()].copy_from_slice(data);
        Self { content, bytes: data.len() }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.content[..self.bytes]
    }

    fn copy_into(&self, place: &mut [u8]) {
        let bytes = self.bytes.min(place.len());
        place[..bytes].copy_from_slice(&self.content[..bytes]);
    }
}

/// The register and data of write `number` of a stage.
fn write(subdevice: &SubDevice, stage: Stage, number: usize) -> Option<(u16, Data)> {
    let mailbox_managers = if subdevice.mailbox.is_some() { 2 } else { 0 };
    let manager = |index: usize| {
        let mut manager = *subdevice.managers.get(index)?;
        // The status is the device's own.
        manager[usize::from(register::SYNC_MANAGER_STATUS)] = 0;
        manager[7] = 0;
        let address = register::SYNC_MANAGER + register::SYNC_MANAGER_BYTES * index as u16;
        Some((address, Data::of(&manager)))
    };
    match (stage, number) {
        (Stage::Mailbox, number) if number < mailbox_managers => manager(number),
        // Some devices load their settings from the SII on the way to PRE-OP (ETG.2010,
        // AssignToPd).
        (Stage::Mailbox, number) if number == mailbox_managers => {
            Some((register::SII_OWNER, Data::of(&[1])))
        }
        (Stage::Mailbox, _) => None,
        (Stage::Process, 0) => Some((register::SII_OWNER, Data::of(&[0]))),
        (Stage::Process, 1) if subdevice.watchdog.is_some() => {
            let steps = subdevice.watchdog.unwrap_or_default();
            Some((register::PROCESS_DATA_WATCHDOG, Data::of(&steps.to_le_bytes())))
        }
        (Stage::Process, number) => {
            let before = 1 + usize::from(subdevice.watchdog.is_some());
            let index = number - before + mailbox_managers;
            manager(index).or_else(|| {
                let index = index.checked_sub(subdevice.managers.len())?;
                let fmmu = subdevice.fmmus.get(index)?;
                let address = register::FMMU + register::FMMU_BYTES * index as u16;
                Some((address, Data::of(fmmu)))
            })
        }
    }
}

/// When SYNC0 begins that is set up at `dc_time`: far enough away to be set up in time, one
/// datagram a cycle, and on the grid of the first start, so that it pulses together with the
/// others.
fn sync_start(subdevice: &SubDevice, dc_time: Nanos) -> Nanos {
    let Some(sync) = subdevice.clock.and_then(|clock| clock.sync) else { return Nanos::ZERO };
    let period = Nanos::new(u64::from(sync.period_ns.max(1)));
    let from_ns = (dc_time + SYNC_DELAY.max(period * 16)).get();
    Nanos::new(from_ns - from_ns % period.get() + sync.start_ns % period.get())
}

/// The register and data of write `number` that sets up the SYNC signals, the first at `start_ns`.
pub(crate) fn sync_write(
    subdevice: &SubDevice,
    number: usize,
    start_ns: u64,
) -> Option<(u16, Data)> {
    let sync = subdevice.clock?.sync?;
    match number {
        0 => Some((register::SYNC_ACTIVATION, Data::of(&[0]))),
        1 => Some((register::SYNC_START, Data::of(&start_ns.to_le_bytes()))),
        2 => {
            let mut periods = [0; 8];
            periods[..4].copy_from_slice(&sync.period_ns.to_le_bytes());
            periods[4..].copy_from_slice(&sync.second_ns.to_le_bytes());
            Some((register::SYNC_PERIODS, Data::of(&periods)))
        }
        3 => Some((register::SYNC_ACTIVATION, Data::of(&[sync.activation]))),
        _ => None,
    }
}

/// From a SubDevice's system time and its present offset to the offset that it needs.
fn read_clock(sight: Sight, data: &[u8]) -> Step {
    let long = |at: usize| {
        let bytes = data.get(at..at + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let Some(dc_time) = sight.dc_time else { return Step::To(Phase::ask(AlState::SafeOp)) };
    let (Some(local), Some(offset)) = (long(0), long(16)) else { return Step::Again };
    let offset = offset.wrapping_add(dc_time.get()).wrapping_sub(local);
    Step::To(Phase::Offset { offset })
}
