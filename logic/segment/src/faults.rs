//! What can be made to go wrong in a segment, when and how often.

use quietcore_units::Nanos;

/// When a fault is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// As long as it is in the list.
    Always,
    /// For `count` frames from frame number `from` on, counted from zero.
    Frames {
        /// First frame.
        from: u64,
        /// How many.
        count: u64,
    },
    /// From one time on and before another, on the segment's clock.
    Between {
        /// First instant.
        from: Nanos,
        /// First instant after it.
        until: Nanos,
    },
    /// Drawn anew for each frame from the seeded generator.
    Chance {
        /// 0 never, 1 000 000 always.
        parts_per_million: u32,
    },
}

/// What goes wrong. A SubDevice is named by its position in the line, from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The frame does not come back.
    LoseFrame,
    /// The frame comes back later by this much.
    DelayFrame(Nanos),
    /// One bit of the EtherCAT part of the frame is inverted on the way back.
    CorruptFrame,
    /// The frame comes back twice.
    DuplicateFrame,
    /// The SubDevice adds this to each working counter that it counts up.
    WorkingCounter {
        /// Which SubDevice.
        subdevice: usize,
        /// What it adds.
        offset: i16,
    },
    /// The cable before this SubDevice is pulled: it and those behind it are not reached.
    Disconnect {
        /// Which SubDevice.
        subdevice: usize,
    },
    /// The SubDevice loses power while the fault is at work; afterwards it starts anew in INIT.
    PowerLoss {
        /// Which SubDevice.
        subdevice: usize,
    },
    /// The SubDevice does not leave its AL state.
    AlStateStuck {
        /// Which SubDevice.
        subdevice: usize,
    },
    /// Once, as the fault begins: an SubDevice in OP drops to SAFE-OP with this AL status code.
    AlStateDrop {
        /// Which SubDevice.
        subdevice: usize,
        /// AL status code.
        code: u16,
    },
    /// The SubDevice's mailbox accepts requests and never answers.
    MailboxSilent {
        /// Which SubDevice.
        subdevice: usize,
    },
    /// Once, as the fault begins: the SubDevice sends emergencies.
    Emergency {
        /// Which SubDevice.
        subdevice: usize,
        /// Error code (ETG.1000.6, 5.6.4).
        code: u16,
        /// How many in a row.
        count: u8,
    },
    /// The SII stays busy.
    SiiBusy {
        /// Which SubDevice.
        subdevice: usize,
    },
}

/// One fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// When.
    pub when: When,
}

/// The faults of a segment; may be changed while it runs.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    list: Vec<Fault>,
}

impl Faults {
    /// Adds a fault.
    pub fn add(&mut self, fault: Fault) {
        self.list.push(fault);
    }

    /// Removes all faults: cables are plugged again, power is back.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// The faults in the order of their adding.
    pub fn list(&self) -> &[Fault] {
        &self.list
    }
}
