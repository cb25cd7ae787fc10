//! Faults of a segment, with their times and their chances.
//!
//! The list may be changed while the segment runs. Chances are drawn from a seeded generator, so
//! that a run can be repeated.
//!
//! A missing, additional or exchanged SubDevice is no fault here: build the segment so, or use
//! [`SubDevice::swap_identity`](crate::SubDevice::swap_identity).

use quietcore_units::Nanos;

use crate::frame::Command;

/// When a fault is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// As long as it is in the list.
    Always,
    /// For `count` frames from frame number `from` on, counted from zero.
    Frames {
        /// Number of the first frame, from 0.
        from: u64,
        /// Frames that it strikes, one after the other.
        count: u64,
    },
    /// From one time on and before another, on the segment's clock.
    Between {
        /// The first instant of the fault.
        from: Nanos,
        /// First instant after it.
        until: Nanos,
    },
    /// For one frame: the first from this time on.
    Next {
        /// The first instant of the fault.
        from: Nanos,
    },
    /// Drawn anew for each frame from the seeded generator.
    Chance {
        /// 0 never, 1 000 000 always.
        parts_per_million: u32,
    },
    /// The same, from one time on and before another.
    ChanceBetween {
        /// The first instant of the fault.
        from: Nanos,
        /// First instant after it.
        until: Nanos,
        /// 0 never, 1 000 000 always.
        parts_per_million: u32,
    },
}

/// The kind of fault. A SubDevice is named by its position in the line, from zero. "Once" means as
/// the fault begins to be at work; the others last as long as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The frame does not come back.
    LoseFrame,
    /// The frame comes back later by this much.
    DelayFrame(Nanos),
    /// One bit behind the Ethernet header is inverted on the way back.
    CorruptFrame,
    /// The frame comes back twice.
    DuplicateFrame,
    /// The SubDevice adds this to each working counter that it counts up.
    WorkingCounter {
        /// Position of the SubDevice.
        subdevice: usize,
        /// For this command; `None` for all.
        command: Option<Command>,
        /// The number that it adds.
        offset: i16,
    },
    /// The cable before this SubDevice is pulled: it and those behind it are not reached.
    Disconnect {
        /// Position of the first SubDevice that is cut off.
        subdevice: usize,
    },
    /// The SubDevice has no power, so it and those behind it are not reached. Afterwards it starts
    /// anew in INIT.
    PowerLoss {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// The SubDevice does not leave its AL state.
    AlStateStuck {
        /// Position of the SubDevice in the line.
        subdevice: usize,
    },
    /// Once: the SubDevice sets its error bit with this code, and drops to SAFE-OP when in OP.
    AlStateDrop {
        /// Position of the SubDevice.
        subdevice: usize,
        /// The AL status code that it shows.
        code: u16,
    },
    /// The SubDevice's mailbox accepts requests and never answers.
    MailboxSilent {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// The SubDevice's answers carry a wrong counter.
    MailboxCounter {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// Once: one of the next SDO requests is aborted.
    SdoAbort {
        /// Position of the SubDevice.
        subdevice: usize,
        /// Number of requests that are served before.
        served: u32,
        /// The abort code of its answers.
        code: u32,
    },
    /// Once: the SubDevice sends emergencies.
    Emergency {
        /// Position of the SubDevice.
        subdevice: usize,
        /// Error code (ETG.1000.6, 5.6.4).
        code: u16,
        /// Number of messages in a row, up to 16.
        count: u8,
    },
    /// The SII stays busy.
    SiiBusy {
        /// Position of the SubDevice.
        subdevice: usize,
    },
    /// Once: bits of a word in the SII are inverted.
    SiiCorrupt {
        /// Position of the SubDevice.
        subdevice: usize,
        /// Word address in the EEPROM.
        word: u16,
        /// The bits that are turned over.
        mask: u16,
    },
    /// Once: the oscillator of the SubDevice changes its error to this.
    ClockDrift {
        /// Position of the SubDevice.
        subdevice: usize,
        /// Parts per billion, up to half of 10⁹ in both directions.
        ppb: i32,
    },
    /// Once: the local clock of the SubDevice jumps.
    ClockStep {
        /// Position of the SubDevice.
        subdevice: usize,
        /// By how much, in nanoseconds.
        by_ns: i64,
    },
    /// The local clock of the SubDevice is off by a random time, drawn for each frame.
    ClockJitter {
        /// Position of the SubDevice.
        subdevice: usize,
        /// At most by this much, in both directions.
        up_to: Nanos,
    },
}

/// A fault and the time at which it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The frames or the time of the fault.
    pub when: When,
}

/// A fault in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) fault: Fault,
    /// It was at work for the last frame.
    was_active: bool,
    /// It was at work for some frame.
    has_struck: bool,
    /// The jitter that is in the clock now.
    pub(crate) jitter_ns: i64,
}

/// The relation of a fault to the present frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Idle,
    Begins,
    Lasts,
    /// It was at work for the frame before.
    Ends,
}

/// The faults of a segment.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    list: Vec<Listed>,
    /// The list was changed, so lasting effects must be looked at anew.
    pub(crate) is_changed: bool,
}

impl Faults {
    /// Adds a fault behind the others.
    pub fn add(&mut self, fault: Fault) {
        self.list.push(Listed { fault, was_active: false, has_struck: false, jitter_ns: 0 });
        self.is_changed = true;
    }

    /// Removes all faults: cables are plugged again, power is back.
    pub fn clear(&mut self) {
        self.list.clear();
        self.is_changed = true;
    }

    /// Removes the faults of one kind.
    pub fn remove(&mut self, kind: FaultKind) {
        self.list.retain(|listed| listed.fault.kind != kind);
        self.is_changed = true;
    }

    /// The faults in the order of their adding.
    pub fn list(&self) -> impl Iterator<Item = Fault> + '_ {
        self.list.iter().map(|listed| listed.fault)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> &mut Listed {
        &mut self.list[at]
    }

    pub(crate) fn get(&self, at: usize) -> Listed {
        self.list[at]
    }
}

impl Listed {
    /// Judges if it is at work for frame number `frame` at `now`.
    pub(crate) fn judge(&mut self, frame: u64, now: Nanos, chance: &mut Chance) -> Standing {
        let mut drawn = |parts: u32| chance.below(1_000_000) < u64::from(parts);
        let active = match self.fault.when {
            When::Always => true,
            When::Frames { from, count } => (from..from.saturating_add(count)).contains(&frame),
            When::Between { from, until } => (from..until).contains(&now),
            When::Next { from } => now >= from && !self.has_struck,
            When::Chance { parts_per_million } => drawn(parts_per_million),
            When::ChanceBetween { from, until, parts_per_million } => {
                (from..until).contains(&now) && drawn(parts_per_million)
            }
        };
        let by_chance = matches!(self.fault.when, When::Chance { .. } | When::ChanceBetween { .. });
        let standing = match (self.was_active, active) {
            (false, false) => Standing::Idle,
            (true, false) => Standing::Ends,
            // A chance that comes twice in a row is two events.
            (true, true) if by_chance => Standing::Begins,
            (true, true) => Standing::Lasts,
            (false, true) => Standing::Begins,
        };
        self.was_active = active;
        self.has_struck |= active;
        standing
    }

    /// Returns `true` if it is at work for the present frame.
    pub(crate) fn is_active(&self) -> bool {
        self.was_active
    }
}

/// A small generator (SplitMix64, public domain, S. Vigna): the same seed, the same run.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not zero; the bias is below 2⁻³² for the limits used here.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}
