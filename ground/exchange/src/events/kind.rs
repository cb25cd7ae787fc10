//! The kinds of events, and the words they are made of.

use crate::commands::{Target, WhyRejected};
use crate::events::short_text::ShortText;

/// Words that say what there is to say about a kind.
pub const WORDS: usize = 4;

/// A kind of event, with its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Happening {
    /// The first cycle is about to come.
    Started,
    /// A job was not done at its deadline.
    Overrun {
        /// Release to completion, in ns.
        response_ns: u64,
        /// Overruns in a row, this one included.
        in_a_row: u64,
    },
    /// A job took longer than its watchdog time.
    WatchdogHit {
        /// The time the job took until then, in ns.
        elapsed_ns: u64,
        /// The task of the program's own kernel that was under way at its end, by its number in the
        /// exchange.
        during: Option<u32>,
    },
    /// The program crashed, by a signal or an exception of the processor.
    Fault {
        /// The signal that said so.
        signal: u32,
        /// The address it could not reach.
        address: u64,
        /// The instruction that was about to do it, counted from where the program was loaded;
        /// `in_library` that of the program which had called into the library, 0 where that is not
        /// known.
        instruction: u64,
        /// `true` if it happened in a library that the program had called.
        in_library: bool,
        /// The task of the program's own kernel whose stack overflowed, if that was it.
        overflowed: Option<u32>,
    },
    /// The program did not return from a step, which was cancelled.
    Looped {
        /// The instruction at which it was, as of a [`Fault`](Self::Fault).
        instruction: u64,
        /// `true` if it was in a library that the program had called.
        in_library: bool,
    },
    /// The watchdog put the partition in fault.
    WatchdogExpired {
        /// Cycles in a row beyond the watchdog time; 1 where one was far beyond it.
        cycles: u64,
        /// The time that the last of them took, in ns.
        elapsed_ns: u64,
        /// As for a hit.
        during: Option<u32>,
    },
    /// A job that was not done at the next release ended its task, as its overrun policy says.
    StoppedByOverrun {
        /// Release to completion, in ns.
        response_ns: u64,
    },
    /// The program says that something is wrong with itself: its error status is set.
    ModelError {
        /// The status in its own words.
        status: ShortText,
    },
    /// A build is loaded and ready in the slot that is free.
    Staged {
        /// The generation of the staged build.
        generation: u32,
    },
    /// A build can't be loaded; the partition's remarks say why.
    StageRefused {
        /// Its generation; 0 where the order for it could not be read.
        generation: u32,
    },
    /// A new build runs.
    Swapped {
        /// The generation of the build that runs now.
        generation: u32,
        /// Cycles that were lost between the old and the new one.
        gap_cycles: u64,
        /// Release latency of its first cycle, in ns.
        release_ns: u64,
    },
    /// The build before it runs again.
    Reverted {
        /// The generation that runs now.
        generation: u32,
        /// Cycles that were lost between the two.
        gap_cycles: u64,
    },
    /// A group of commands was not applied.
    CommandRejected {
        /// The ticket of the group.
        ticket: u32,
        /// The first command of it that could not be applied, counted from 0.
        index: u32,
        /// The reason of the refusal.
        why: WhyRejected,
    },
    /// A variable is held from now on.
    ForceApplied {
        /// The forced bits of the data.
        target: Target,
        /// The value that they are held at.
        value: u64,
    },
    /// A variable is no longer held.
    ForceReleased {
        /// The bits that were let go.
        target: Target,
    },
    /// All variables are no longer held.
    ForcesReleased {
        /// Forces that ended with it.
        count: u64,
    },
    /// The fieldbus gives no answer any more.
    FieldbusLost {
        /// Frames in a row that did not come back.
        frames: u64,
    },
    /// The fieldbus answers again.
    FieldbusRecovered {
        /// Time without exchange of process data, in ns.
        outage_ns: u64,
    },
    /// Fewer SubDevices took part in a frame than should have.
    WorkingCounter {
        /// The first that did not, if it could be told.
        subdevice: Option<u32>,
        /// The counter as it should be.
        expected: u32,
        /// The counter as it was.
        found: u32,
    },
    /// A SubDevice changed its state.
    AlState {
        /// Position on the line, from 0.
        subdevice: u32,
        /// The state it has, in the fieldbus's own coding, with the error bit.
        state: u32,
        /// The AL status code that the SubDevice shows.
        code: u32,
    },
    /// A SubDevice sent an emergency message.
    Emergency {
        /// Position on the line, from 0.
        subdevice: u32,
        /// The error code of the emergency message.
        code: u32,
        /// The error register, object 0x1001.
        register: u32,
        /// The five bytes that its maker defines, the first lowest.
        data: u64,
    },
    /// A SubDevice does not answer.
    SubDeviceAbsent {
        /// Position on the line, from 0.
        subdevice: u32,
    },
    /// Another device stands where a SubDevice was.
    SubDeviceForeign {
        /// Position on the line, from 0.
        subdevice: u32,
        /// Vendor of the device that is there.
        vendor: u32,
        /// Product code of the device that was found.
        product: u32,
    },
    /// A SubDevice is in OP again.
    SubDeviceRecovered {
        /// Position on the line, from 0.
        subdevice: u32,
    },
    /// A SubDevice could not be brought to a state; it is tried again.
    SubDeviceNotRecovered {
        /// Position on the line, from 0.
        subdevice: u32,
        /// The state that it did not reach, in the fieldbus's own coding.
        wanted: u32,
        /// The AL status code that the SubDevice shows.
        code: u32,
    },
    /// Error counters of a SubDevice have moved.
    ErrorCounters {
        /// Position on the line, from 0.
        subdevice: u32,
        /// Frames that were damaged when they arrived, all ports together.
        invalid_frames: u32,
        /// Losses of a link, all ports together.
        lost_links: u32,
    },
    /// A kernel with tasks of its own found an error in what the program asked of it.
    KernelError {
        /// The task that was running, where one was: its number among the kernel's tasks.
        task: Option<u32>,
        /// The status by its number in OSEK.
        status: u8,
        /// In which service, likewise; 0 for none.
        service: u8,
    },
    /// A new build waits for a job of the event's task to end.
    SwapWaits {
        /// The generation of the waiting build.
        generation: u32,
    },
    /// No cycle is run from now on, until it goes on. It was asked to.
    Paused,
    /// Cycles are run again.
    Resumed {
        /// Time without a cycle, in ns.
        pause_ns: u64,
    },
    /// A build crashed in its `initialize`, before its first step.
    InitializeCrashed {
        /// The generation of the build.
        generation: u32,
        /// The signal, as of a [`Fault`](Self::Fault).
        signal: u32,
        /// The address it could not reach.
        address: u64,
        /// The instruction, as of a [`Fault`](Self::Fault).
        instruction: u64,
        /// `true` if it happened in a library that the program had called.
        in_library: bool,
    },
    /// The `initialize` of a build did not return and was cancelled.
    InitializeLooped {
        /// The generation of the build.
        generation: u32,
        /// The longest that it may take, in ns.
        limit_ns: u64,
        /// The instruction at which it was, as of a [`Fault`](Self::Fault).
        instruction: u64,
        /// `true` if it was in a library that the program had called.
        in_library: bool,
    },
    /// The partition tells something that this program does not know.
    Unknown {
        /// The number of the kind.
        kind: u32,
        /// The words of the event, which this version can't read.
        words: [u64; WORDS],
    },
}

fn pack(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn unpack(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// A task that there may be, as a number; zero where there is none.
fn pack_task(task: Option<u32>) -> u64 {
    task.map_or(0, |task| u64::from(task) + 1)
}

fn unpack_task(word: u64) -> Option<u32> {
    word.checked_sub(1).map(|task| task as u32)
}

/// The words of a target, with a value for it.
fn pack_target(target: &Target, value: u64) -> [u64; WORDS] {
    [pack(target.offset, u32::from(target.bytes)), target.mask, value, 0]
}

fn unpack_target(place: u64, mask: u64) -> Target {
    let (offset, bytes) = unpack(place);
    Target { offset, bytes: bytes as u8, mask }
}

impl Happening {
    /// The number of the kind, and its words.
    pub(super) fn encode(&self) -> (u32, [u64; WORDS]) {
        match *self {
            Self::Started => (1, [0; WORDS]),
            Self::Overrun { response_ns, in_a_row } => (2, [response_ns, in_a_row, 0, 0]),
            Self::WatchdogHit { elapsed_ns, during } => (3, [elapsed_ns, 0, 0, pack_task(during)]),
            Self::Fault { signal, address, instruction, in_library, overflowed } => {
                let signal = pack(signal, in_library.into());
                (4, [signal, address, instruction, pack_task(overflowed)])
            }
            Self::ModelError { status } => (5, status.words),
            Self::Swapped { generation, gap_cycles, release_ns } => {
                (6, [u64::from(generation), gap_cycles, release_ns, 0])
            }
            Self::Reverted { generation, gap_cycles } => (7, [generation.into(), gap_cycles, 0, 0]),
            Self::CommandRejected { ticket, index, why } => {
                (8, [pack(ticket, index), u64::from(why.code()), 0, 0])
            }
            Self::ForceApplied { target, value } => (9, pack_target(&target, value)),
            Self::ForceReleased { target } => (10, pack_target(&target, 0)),
            Self::ForcesReleased { count } => (11, [count, 0, 0, 0]),
            Self::FieldbusLost { frames } => (12, [frames, 0, 0, 0]),
            Self::FieldbusRecovered { outage_ns } => (13, [outage_ns, 0, 0, 0]),
            Self::WorkingCounter { subdevice, expected, found } => {
                let known = u32::from(subdevice.is_some());
                (14, [pack(subdevice.unwrap_or(0), known), pack(expected, found), 0, 0])
            }
            Self::AlState { subdevice, state, code } => {
                (15, [u64::from(subdevice), pack(state, code), 0, 0])
            }
            Self::Emergency { subdevice, code, register, data } => {
                (16, [u64::from(subdevice), pack(code, register), data, 0])
            }
            // 17 to 19 had other meanings, so they are not given again.
            Self::Looped { instruction, in_library } => {
                (20, [instruction, in_library.into(), 0, 0])
            }
            Self::WatchdogExpired { cycles, elapsed_ns, during } => {
                (21, [cycles, elapsed_ns, 0, pack_task(during)])
            }
            Self::StoppedByOverrun { response_ns } => (22, [response_ns, 0, 0, 0]),
            Self::Staged { generation } => (23, [u64::from(generation), 0, 0, 0]),
            Self::StageRefused { generation } => (24, [u64::from(generation), 0, 0, 0]),
            Self::SubDeviceAbsent { subdevice } => (25, [u64::from(subdevice), 0, 0, 0]),
            Self::SubDeviceForeign { subdevice, vendor, product } => {
                (26, [u64::from(subdevice), pack(vendor, product), 0, 0])
            }
            Self::SubDeviceRecovered { subdevice } => (27, [u64::from(subdevice), 0, 0, 0]),
            Self::SubDeviceNotRecovered { subdevice, wanted, code } => {
                (28, [u64::from(subdevice), pack(wanted, code), 0, 0])
            }
            Self::ErrorCounters { subdevice, invalid_frames, lost_links } => {
                (29, [u64::from(subdevice), pack(invalid_frames, lost_links), 0, 0])
            }
            Self::KernelError { task, status, service } => {
                let known = u32::from(task.is_some());
                let what = pack(u32::from(status), u32::from(service));
                (30, [pack(task.unwrap_or(0), known), what, 0, 0])
            }
            Self::SwapWaits { generation } => (31, [u64::from(generation), 0, 0, 0]),
            Self::Paused => (32, [0; WORDS]),
            Self::Resumed { pause_ns } => (33, [pause_ns, 0, 0, 0]),
            Self::InitializeCrashed { generation, signal, address, instruction, in_library } => {
                (34, [pack(generation, signal), address, instruction, in_library.into()])
            }
            Self::InitializeLooped { generation, limit_ns, instruction, in_library } => {
                (35, [generation.into(), limit_ns, instruction, in_library.into()])
            }
            Self::Unknown { kind, words } => (kind, words),
        }
    }

    /// Decodes an event; a number of a later version becomes `Unknown`.
    pub(super) fn decode(kind: u32, words: [u64; WORDS]) -> Self {
        let [first, second, third, fourth] = words;
        match kind {
            1 => Self::Started,
            2 => Self::Overrun { response_ns: first, in_a_row: second },
            3 => Self::WatchdogHit { elapsed_ns: first, during: unpack_task(fourth) },
            4 => Self::Fault {
                signal: first as u32,
                address: second,
                instruction: third,
                in_library: first >> 32 != 0,
                overflowed: unpack_task(fourth),
            },
            5 => Self::ModelError { status: ShortText { words } },
            6 => Self::Swapped { generation: first as u32, gap_cycles: second, release_ns: third },
            7 => Self::Reverted { generation: first as u32, gap_cycles: second },
            8 => {
                let (ticket, index) = unpack(first);
                let why = WhyRejected::from_code(second as u16);
                Self::CommandRejected { ticket, index, why }
            }
            9 => Self::ForceApplied { target: unpack_target(first, second), value: third },
            10 => Self::ForceReleased { target: unpack_target(first, second) },
            11 => Self::ForcesReleased { count: first },
            12 => Self::FieldbusLost { frames: first },
            13 => Self::FieldbusRecovered { outage_ns: first },
            14 => Self::decode_working_counter(first, second),
            15 => {
                let (state, code) = unpack(second);
                Self::AlState { subdevice: first as u32, state, code }
            }
            16 => {
                let (code, register) = unpack(second);
                Self::Emergency { subdevice: first as u32, code, register, data: third }
            }
            20 => Self::Looped { instruction: first, in_library: second != 0 },
            21 => {
                let during = unpack_task(fourth);
                Self::WatchdogExpired { cycles: first, elapsed_ns: second, during }
            }
            22 => Self::StoppedByOverrun { response_ns: first },
            23 => Self::Staged { generation: first as u32 },
            24 => Self::StageRefused { generation: first as u32 },
            25 => Self::SubDeviceAbsent { subdevice: first as u32 },
            26 => {
                let (vendor, product) = unpack(second);
                Self::SubDeviceForeign { subdevice: first as u32, vendor, product }
            }
            27 => Self::SubDeviceRecovered { subdevice: first as u32 },
            28 => {
                let (wanted, code) = unpack(second);
                Self::SubDeviceNotRecovered { subdevice: first as u32, wanted, code }
            }
            29 => {
                let (invalid_frames, lost_links) = unpack(second);
                Self::ErrorCounters { subdevice: first as u32, invalid_frames, lost_links }
            }
            30 => Self::decode_kernel_error(first, second),
            31 => Self::SwapWaits { generation: first as u32 },
            32 => Self::Paused,
            33 => Self::Resumed { pause_ns: first },
            34 => Self::decode_initialize_crashed(words),
            35 => Self::decode_initialize_looped(words),
            kind => Self::Unknown { kind, words },
        }
    }

    fn decode_initialize_crashed([first, address, instruction, last]: [u64; WORDS]) -> Self {
        let ((generation, signal), in_library) = (unpack(first), last != 0);
        Self::InitializeCrashed { generation, signal, address, instruction, in_library }
    }

    fn decode_initialize_looped([first, limit_ns, instruction, last]: [u64; WORDS]) -> Self {
        let (generation, in_library) = (first as u32, last != 0);
        Self::InitializeLooped { generation, limit_ns, instruction, in_library }
    }

    fn decode_working_counter(first: u64, second: u64) -> Self {
        let (subdevice, known) = unpack(first);
        let (expected, found) = unpack(second);
        Self::WorkingCounter { subdevice: (known != 0).then_some(subdevice), expected, found }
    }

    fn decode_kernel_error(first: u64, second: u64) -> Self {
        let (task, known) = unpack(first);
        let (status, service) = unpack(second);
        let task = (known != 0).then_some(task);
        Self::KernelError { task, status: status as u8, service: service as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 512 }))]

        /// Whatever stands in the ring becomes an event, which can be shown and told again.
        #[test]
        fn every_word_is_an_event(kind in 0_u32..40, words in any::<[u64; WORDS]>()) {
            let what = Happening::decode(kind, words);
            let is_unknown = matches!(what, Happening::Unknown { .. });
            let has_no_words = what.to_string().starts_with("event ");
            prop_assert_eq!(has_no_words, is_unknown, "{}", what);
            prop_assert_eq!(is_unknown, !matches!(kind, 1..=16 | 20..=35), "{}", kind);
            let (again, words) = what.encode();
            prop_assert_eq!((again, Happening::decode(again, words)), (kind, what));
        }
    }
}
