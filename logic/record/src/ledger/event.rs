//! The events of a CPU, as a trace tells them.

/// A thread, as the kernel names it in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Name of the thread, at most 15 bytes.
    pub name: String,
    /// Number of the thread; 0 is the idle thread.
    pub number: u32,
}

impl Thread {
    /// Returns `true` if this is the idle thread.
    pub fn is_idle(&self) -> bool {
        self.number == 0
    }
}

/// An interruption of a thread, which can be interrupted itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The interrupt of the local timer.
    Timer,
    /// Another interrupt, by its name.
    Interrupt(String),
    /// A softirq, by its name.
    Softirq(String),
    /// An interrupt that can't be masked.
    Nmi(String),
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// An interrupt or a softirq began.
    Entry(Frame),
    /// An interrupt or a softirq ended.
    Exit(Frame),
    /// Something ended that lasted this long; its begin is not told.
    Lasted(Frame, u64),
    /// A thread began to wait, or was displaced; another one runs.
    Switch {
        /// Number of the thread that ran.
        from: u32,
        /// Its priority in the kernel: below 100 are real-time priorities, 0 the highest.
        from_priority: i64,
        /// `true` if that thread could still run.
        still_runnable: bool,
        /// The thread that runs now.
        to: Thread,
        /// The priority of the one that runs now.
        priority: i64,
    },
    /// A thread was woken.
    Waking(u32),
    /// The running thread left the guest that it runs, for this reason.
    Left(String),
    /// It enters its guest.
    Entered,
    /// The running thread began a page fault.
    PageFault,
    /// The frequency of a CPU was changed; in kHz.
    Frequency(u64),
    /// The kernel's functions at the event before, innermost first.
    Stack(Vec<String>),
    /// Events were lost before this.
    Lost,
    /// Something that no cause follows from.
    Other,
}

impl Happening {
    /// Returns the thread that stopped to run and its priority, where this is a switch.
    pub(super) fn priority_of_left(&self) -> Option<(u32, i64)> {
        match self {
            Self::Switch { from, from_priority, .. } => Some((*from, *from_priority)),
            _ => None,
        }
    }
}

/// An event of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Instant on the clock of the trace, in ns.
    pub at_ns: u64,
    /// Number of the CPU.
    pub cpu: u32,
    /// The thread that ran then; `None` where the trace does not tell.
    pub running: Option<Thread>,
    /// The change that the event tells.
    pub happening: Happening,
}
