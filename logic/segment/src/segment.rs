//! A line of SubDevices, and the walk of a frame through it.
//!
//! ```text
//! process(frame, now)
//!   1. time: what was due in the devices, plants in step with it
//!   2. faults of this frame
//!   3. inputs produced, where the frame reads process data
//!   4. each datagram through all devices in their order
//!   5. outputs consumed, requests noted, plants told the new actuators
//! ```
//!
//! Nothing here allocates. The work is proportional to datagrams × devices.

use quietcore_units::Nanos;

use crate::application::Surroundings;
use crate::faults::{Chance, Faults};
use crate::frame::{Command, Datagram, Walk};
use crate::subdevice::SubDevice;
use crate::trouble::Effects;

/// The largest EtherCAT datagram has 2047 bytes.
const SCRATCH_BYTES: usize = 2048;
/// Instants of several devices that differ by less than this count as one.
const TOGETHER_NS: u64 = 1_000;
/// The most instants that are gone through for one frame; what was due beyond happens at its
/// arrival.
const INSTANTS_MAX: usize = 1_000;
/// Bit of the source address by which answers are told from requests.
const LOCALLY_ADMINISTERED: u8 = 0x02;

/// Properties of a segment as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Start of the generator from which faults with a chance are drawn.
    pub seed: u64,
    /// Time from one SubDevice to the next, in one direction.
    pub hop_delay: Nanos,
}

impl Default for Options {
    /// Seed 1; 500 ns a hop, half of what an ESC with two Ethernet ports and its cables take.
    fn default() -> Self {
        Self { seed: 1, hop_delay: Nanos::new(500) }
    }
}

/// The fate of a frame that was processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It goes back as it is now.
    Deliver,
    /// It does not go back: lost by a fault, no SubDevice reached, or no EtherCAT frame.
    Lost,
    /// It goes back this much later.
    Late(Nanos),
    /// It goes back and was damaged on the way; an Ethernet controller would drop it.
    Corrupted,
    /// It goes back twice.
    Duplicate,
}

/// Counts of what a segment has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// EtherCAT frames that entered the line.
    pub frames: u64,
    /// Datagrams in all frames.
    pub datagrams: u64,
    /// Frames that were not EtherCAT.
    pub foreign: u64,
}

/// A simulated segment with its SubDevices, plants and faults.
pub struct Segment {
    pub(crate) subdevices: Vec<SubDevice>,
    /// The two addresses that each SubDevice answers to.
    stations: Vec<[u16; 2]>,
    /// When something is due in each SubDevice by itself.
    due_ns: Vec<u64>,
    surroundings: Vec<Box<dyn Surroundings>>,
    pub(crate) faults: Faults,
    pub(crate) chance: Chance,
    options: Options,
    pub(crate) counters: Counters,
    now_ns: u64,
    /// SubDevices may have been changed from outside.
    is_touched: bool,
    /// Number of SubDevices that a frame reaches.
    reach: usize,
    scratch: Box<[u8]>,
}

impl Segment {
    /// A segment of these SubDevices, in the order in which frames reach them.
    pub fn new(subdevices: Vec<SubDevice>, options: Options) -> Self {
        let mut segment = Self {
            stations: subdevices.iter().map(|device| device.esc.addresses()).collect(),
            due_ns: vec![u64::MAX; subdevices.len()],
            surroundings: Vec::new(),
            faults: Faults::default(),
            chance: Chance::new(options.seed),
            counters: Counters::default(),
            now_ns: 0,
            is_touched: false,
            reach: 0,
            scratch: vec![0; SCRATCH_BYTES].into_boxed_slice(),
            options,
            subdevices,
        };
        segment.set_reach(segment.subdevices.len());
        segment
    }

    /// Wires something that moves with the segment's time to its devices.
    pub fn surround(&mut self, surroundings: Box<dyn Surroundings>) {
        self.surroundings.push(surroundings);
    }

    /// Lets a frame pass through all SubDevices at the time `now` and answers it in place.
    ///
    /// `frame` is an Ethernet frame from its destination address on, without check sequence. Its
    /// length stays. `now` is on any clock that never goes back; DC times follow it. Nothing is
    /// allocated.
    pub fn process(&mut self, frame: &mut [u8], now: Nanos) -> Delivery {
        let Some(walk) = Walk::new(frame) else {
            self.counters.foreign += 1;
            return Delivery::Lost;
        };
        self.advance(now);
        let effects = self.apply_faults(Nanos::new(self.now_ns));
        self.update_reach(effects.reach);
        self.counters.frames += 1;
        if self.reach == 0 {
            return Delivery::Lost;
        }
        self.pass(frame, walk, &effects);
        self.settle();
        frame[6] |= LOCALLY_ADMINISTERED;
        self.deliver(frame, &effects)
    }

    /// Lets time pass without a frame: watchdogs expire, plants move.
    pub fn advance(&mut self, now: Nanos) {
        let now_ns = now.get().max(self.now_ns);
        if std::mem::take(&mut self.is_touched) {
            self.refresh_all();
        }
        for _ in 0..INSTANTS_MAX {
            let earliest = self.due_ns.iter().copied().min().unwrap_or(u64::MAX);
            if earliest > now_ns {
                break;
            }
            self.happen(earliest.saturating_add(TOGETHER_NS).min(now_ns));
        }
        self.now_ns = now_ns;
        if self.due_ns.iter().any(|due| *due <= now_ns) {
            self.happen(now_ns);
        } else {
            self.move_surroundings(now_ns);
        }
    }

    /// Does what is due in the devices by one instant.
    fn happen(&mut self, instant_ns: u64) {
        self.move_surroundings(instant_ns);
        for (subdevice, due_ns) in self.subdevices.iter_mut().zip(&mut self.due_ns) {
            if *due_ns > instant_ns {
                continue;
            }
            subdevice.advance(instant_ns);
            // Always later, so that the time goes on whatever a clock makes of it.
            let next = subdevice.next_event_ns().unwrap_or(u64::MAX);
            *due_ns = next.max(instant_ns.saturating_add(1));
        }
        self.move_surroundings(instant_ns);
    }

    fn move_surroundings(&mut self, now_ns: u64) {
        for surroundings in &mut self.surroundings {
            surroundings.advance(Nanos::new(now_ns), &mut self.subdevices);
        }
    }

    /// The SubDevices, in the order in which frames reach them.
    pub fn subdevices(&self) -> &[SubDevice] {
        &self.subdevices
    }

    /// The same, to be changed from outside of the fieldbus.
    pub fn subdevices_mut(&mut self) -> &mut [SubDevice] {
        self.is_touched = true;
        &mut self.subdevices
    }

    /// Returns the faults, to add some.
    pub fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// Returns the counts so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Follows cables, power and closed ports.
    fn update_reach(&mut self, limit: usize) {
        let closed = self.subdevices[..limit]
            .iter()
            .position(|subdevice| subdevice.esc.is_port1_closed())
            .map_or(limit, |position| position + 1);
        if closed != self.reach {
            self.set_reach(closed);
        }
    }

    fn set_reach(&mut self, reach: usize) {
        let before = std::mem::replace(&mut self.reach, reach);
        if reach < before && reach > 0 {
            self.subdevices[reach - 1].esc.count_lost_link(1);
            self.subdevices[reach].esc.count_lost_link(0);
        }
        let hop_ns = self.options.hop_delay.get();
        for (position, subdevice) in self.subdevices.iter_mut().enumerate() {
            let behind = reach.saturating_sub(position + 1) as u64;
            subdevice.esc.set_link((behind > 0).then(|| 2 * behind * hop_ns));
        }
    }

    /// When a frame that arrives now reaches a SubDevice.
    fn arrival_ns(&self, position: usize) -> u64 {
        self.now_ns.saturating_add(position as u64 * self.options.hop_delay.get())
    }

    fn pass(&mut self, frame: &mut [u8], mut walk: Walk, effects: &Effects) {
        let mut prepared = false;
        while let Some(datagram) = walk.next(frame) {
            self.counters.datagrams += 1;
            let Some(command) = datagram.command else {
                continue;
            };
            let address = datagram.address(frame);
            if !prepared && touches_process_data(command, address) {
                for subdevice in &mut self.subdevices[..self.reach] {
                    subdevice.prepare(self.now_ns);
                }
                prepared = true;
            }
            match command {
                Command::Nop => {}
                Command::Aprd | Command::Apwr | Command::Aprw => {
                    self.pass_to_position(frame, &datagram, command, address, effects);
                }
                _ => self.pass_to_all(frame, &datagram, command, address, effects),
            }
        }
    }

    fn pass_to_position(
        &mut self,
        frame: &mut [u8],
        datagram: &Datagram,
        command: Command,
        address: u32,
        effects: &Effects,
    ) {
        // Each SubDevice adds one, and the one that sees zero is meant.
        let position = usize::from((address as u16).wrapping_neg());
        if position < self.reach {
            self.execute(position, frame, datagram, Role::of(command), address, effects);
        }
        let passed = (address as u16).wrapping_add(self.reach as u16);
        datagram.set_position(frame, passed);
    }

    fn pass_to_all(
        &mut self,
        frame: &mut [u8],
        datagram: &Datagram,
        command: Command,
        address: u32,
        effects: &Effects,
    ) {
        let wanted = address as u16;
        for position in 0..self.reach {
            let role = match command {
                Command::Fprd | Command::Fpwr | Command::Fprw => {
                    if !self.stations[position].contains(&wanted) {
                        continue;
                    }
                    Role::of(command)
                }
                Command::Frmw if self.stations[position].contains(&wanted) => Role::Read,
                Command::Armw if wanted.wrapping_add(position as u16) == 0 => Role::Read,
                Command::Frmw | Command::Armw => Role::Write,
                _ => Role::of(command),
            };
            self.execute(position, frame, datagram, role, address, effects);
        }
        if matches!(command, Command::Brd | Command::Bwr | Command::Brw | Command::Armw) {
            datagram.set_position(frame, wanted.wrapping_add(self.reach as u16));
        }
    }

    /// Lets one SubDevice act on a datagram.
    fn execute(
        &mut self,
        position: usize,
        frame: &mut [u8],
        datagram: &Datagram,
        role: Role,
        address: u32,
        effects: &Effects,
    ) {
        let now_ns = self.arrival_ns(position);
        let esc = &mut self.subdevices[position].esc;
        let data = &mut frame[datagram.data.clone()];
        let register = (address >> 16) as u16;
        let increment = match role {
            Role::Nothing => 0,
            Role::Read => u16::from(esc.read(register, data, now_ns)),
            Role::Write => u16::from(esc.write(register, data, now_ns)),
            Role::ReadWrite => esc.exchange(register, data, &mut self.scratch, now_ns),
            Role::Combine => u16::from(esc.combine(register, data, &mut self.scratch, now_ns)),
            Role::CombineWrite => {
                let sent = &mut self.scratch[..data.len()];
                sent.copy_from_slice(data);
                let written = esc.write(register, sent, now_ns);
                let read = esc.combine(register, data, &mut self.scratch, now_ns);
                u16::from(read) + 2 * u16::from(written)
            }
            Role::Logical { reads, writes } => {
                let reached = esc.logical(address, data, reads, writes, now_ns);
                let weight = if reads { 2 } else { 1 };
                u16::from(reached.read) + weight * u16::from(reached.written)
            }
        };
        let events = esc.wanted_events();
        if esc.attention.address {
            self.stations[position] = esc.addresses();
        }
        if events != 0 {
            datagram.add_events(frame, events);
        }
        if increment != 0 {
            let offset = effects.counter_offset(&self.faults, position, datagram.command);
            datagram.count(frame, increment.wrapping_add_signed(offset));
        }
    }

    /// Lets the SubDevices do what the frame asked for.
    fn settle(&mut self) {
        let mut consumed = false;
        for position in 0..self.reach {
            let now_ns = self.arrival_ns(position);
            let subdevice = &mut self.subdevices[position];
            if subdevice.settle(now_ns) {
                consumed = true;
                self.due_ns[position] = subdevice.next_event_ns().unwrap_or(u64::MAX);
                self.stations[position] = subdevice.esc.addresses();
            }
        }
        if consumed {
            self.move_surroundings(self.now_ns);
        }
    }

    /// Notes that something was changed in a SubDevice from outside of a frame.
    pub(crate) fn refresh(&mut self, position: usize) {
        let subdevice = &self.subdevices[position];
        self.due_ns[position] = subdevice.next_event_ns().unwrap_or(u64::MAX);
        self.stations[position] = subdevice.esc.addresses();
    }

    /// The same for all of them.
    pub(crate) fn refresh_all(&mut self) {
        for position in 0..self.subdevices.len() {
            self.refresh(position);
        }
    }
}

/// The role of one SubDevice in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Nothing,
    Read,
    Write,
    ReadWrite,
    Combine,
    CombineWrite,
    Logical { reads: bool, writes: bool },
}

impl Role {
    /// Returns the role of a SubDevice that a datagram is for.
    fn of(command: Command) -> Self {
        match command {
            Command::Nop => Self::Nothing,
            Command::Aprd | Command::Fprd | Command::Armw | Command::Frmw => Self::Read,
            Command::Apwr | Command::Fpwr | Command::Bwr => Self::Write,
            Command::Aprw | Command::Fprw => Self::ReadWrite,
            Command::Brd => Self::Combine,
            Command::Brw => Self::CombineWrite,
            Command::Lrd => Self::Logical { reads: true, writes: false },
            Command::Lwr => Self::Logical { reads: false, writes: true },
            Command::Lrw => Self::Logical { reads: true, writes: true },
        }
    }
}

/// Returns `true` if a datagram may read process data.
fn touches_process_data(command: Command, address: u32) -> bool {
    command.is_logical() || (address >> 16) as u16 >= crate::esc::registers::RAM
}
