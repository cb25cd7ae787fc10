//! The routines of an OSEK kernel that are measured, and the ways in which an interrupt is brought.
//!
//! One type of each, from the process or the guest that measures over the record to its page.

/// The ten routines of scordino2020, and the empty measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Routine {
    /// Two readings of the clock with nothing in between.
    Empty,
    /// A task activates a higher one, until that one runs.
    Act,
    /// A task activates a lower one, until the call returns.
    Actl,
    /// `DisableAllInterrupts`
    Intdisable,
    /// `EnableAllInterrupts`
    Intenable,
    /// An interrupt, until its ISR of category 1 runs.
    Isrentry,
    /// An interrupt, until its ISR of category 2 runs.
    Isr2entry,
    /// The end of an ISR of category 1, until the interrupted task goes on.
    Isrexit,
    /// The end of an ISR of category 2, until the task that it activated runs.
    Istentry,
    /// The end of a task that an ISR activated, until the interrupted task goes on.
    Istexit,
    /// The end of a task, until a lower one that is ready runs.
    Terml,
}

impl Routine {
    /// All routines, the empty measurement first, then in the order of the paper.
    pub const ALL: [Self; 11] = [
        Self::Empty,
        Self::Act,
        Self::Actl,
        Self::Intdisable,
        Self::Intenable,
        Self::Isrentry,
        Self::Isr2entry,
        Self::Isrexit,
        Self::Istentry,
        Self::Istexit,
        Self::Terml,
    ];

    /// Returns the name, as the paper has it; `terml` is printed there as `term1`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Act => "act",
            Self::Actl => "actl",
            Self::Intdisable => "intdisable",
            Self::Intenable => "intenable",
            Self::Isrentry => "isrentry",
            Self::Isr2entry => "isr2entry",
            Self::Isrexit => "isrexit",
            Self::Istentry => "istentry",
            Self::Istexit => "istexit",
            Self::Terml => "terml",
        }
    }

    /// Returns the begin and the end of the measurement, in words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Empty => "two readings of the clock with nothing in between",
            Self::Act => {
                "before ActivateTask of a higher task, to the first statement of that task"
            }
            Self::Actl => "before ActivateTask of a lower task, to after the call",
            Self::Intdisable => "before DisableAllInterrupts, to after the call",
            Self::Intenable => "before EnableAllInterrupts, to after the call",
            Self::Isrentry => {
                "before the interrupt, to the first statement of an ISR of category 1"
            }
            Self::Isr2entry => {
                "before the interrupt, to the first statement of an ISR of category 2"
            }
            Self::Isrexit => {
                "last statement of an ISR of category 1, to the next one of the interrupted task"
            }
            Self::Istentry => {
                "last statement of an ISR of category 2, to the first one of the task that it \
                 activated"
            }
            Self::Istexit => {
                "last statement of a task that an ISR activated, to the next one of the \
                 interrupted task"
            }
            Self::Terml => {
                "before TerminateTask, to the first statement of a lower task that is ready"
            }
        }
    }

    /// Returns `true` if an interrupt is part of it, which can be brought in two ways.
    pub const fn has_interrupt(self) -> bool {
        matches!(
            self,
            Self::Isrentry | Self::Isr2entry | Self::Isrexit | Self::Istentry | Self::Istexit
        )
    }
}

/// The way in which an interrupt was brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Trigger {
    /// By an instruction of the interrupted task itself, as `INT n` does without a hypervisor.
    Software,
    /// By a signal of the operating system to the interrupted thread.
    Signal,
    /// By the processor's local controller, which is told to interrupt its own processor.
    Lapic,
    /// By the timer of that controller, set to an instant that has passed.
    Timer,
    /// By a doorbell of the virtual machine: KVM makes an interrupt of a write to it, by an event
    /// file and without its process.
    Doorbell,
}

impl Trigger {
    /// All ways; those that leave the program come last.
    pub const ALL: [Self; 5] =
        [Self::Software, Self::Signal, Self::Lapic, Self::Timer, Self::Doorbell];

    /// Describes the way in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Software => {
                "through the port's virtual interrupt controller alone, as INT n does without a \
                 hypervisor"
            }
            Self::Signal => {
                "a system call sends a signal to the own thread, and it is delivered; an exit \
                 holds the system call that returns from it"
            }
            Self::Lapic => "the local interrupt controller is told to interrupt its own processor",
            Self::Timer => "the local controller's timer is set to an instant that has passed",
            Self::Doorbell => {
                "a write to a doorbell leaves the guest for KVM, which raises the interrupt by an \
                 event file"
            }
        }
    }

    /// Returns the word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::Signal => "signal",
            Self::Lapic => "lapic",
            Self::Timer => "timer",
            Self::Doorbell => "doorbell",
        }
    }
}
