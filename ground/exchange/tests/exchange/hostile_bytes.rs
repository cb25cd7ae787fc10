//! Reads bytes that a stranger chose, in all ways that there are; shared with the fuzz targets.
//!
//! Each function must come to an end, whatever the bytes are, without a panic and without leaving
//! the memory.

use std::sync::atomic::{AtomicU64, Ordering};

use quietcore_exchange::channel::{ENTRY_LIMIT, QUEUE_MESSAGE_BYTES_MAX};
use quietcore_exchange::primitive::{self, queue};
use quietcore_exchange::{
    Assignment, COMMANDS_PER_CYCLE, Command, CommandConsumer, DataRange, FORCE_LIMIT, Limits,
    OutcomeReader, Region, Slot, SnapshotBuffers, TRACE_VARIABLES_MAX, TraceStep, View,
};
use quietcore_units::Nanos;

use crate::memory::{Memory, SMALL, entries};

/// Rounds of reading; a reader that goes on for ever fails by its time. Miri needs but a few.
const ROUNDS: usize = if cfg!(miri) { 8 } else { 100 };
/// Bins of a histogram that are read: all of them are read in the same way.
const BINS: usize = if cfg!(miri) { 8 } else { quietcore_exchange::bins::BIN_COUNT };

/// Lays `bytes` over an exchange and calls every reader of what can be attached to. The first byte
/// chooses the part that they are laid over: the header, or one of the parts behind it.
pub(crate) fn attach_to(bytes: &[u8]) {
    let Some((place, bytes)) = bytes.split_first() else {
        return;
    };
    let memory = Memory::of_shape(&SMALL);
    memory.initialise(&SMALL).expect("a possible shape");
    let layout = SMALL.layout().expect("a possible shape");
    let places = [
        // Behind magic, version, and hash, which a stranger gets right.
        24,
        12,
        layout.tasks.offset,
        layout.tasks.offset + 128,
        layout.control.offset,
        layout.inputs.offset,
        layout.outputs.offset,
        layout.commands.offset,
        layout.commands.offset + 4096,
        layout.events.offset,
        layout.events.offset + 4096,
        layout.traces.offset,
        layout.traces.offset + 640,
        layout.traces.offset + 1280,
        layout.forces.offset,
        layout.retain.offset,
        layout.retain.offset + 4096,
    ];
    memory.poke(places[usize::from(*place) % places.len()], bytes);
    if let Ok(view) = memory.view() {
        read_all(&view);
    }
    if let Ok(region) = memory.attach() {
        write_all(&region);
        read_all(&region.view());
    }
}

fn read_all(view: &View<'_>) {
    for task in view.tasks() {
        let mut bins = vec![0; BINS];
        let mut buffers = SnapshotBuffers { release: &mut bins, ..Default::default() };
        let _ = (task.snapshot(&mut buffers), task.counters(), task.scan_counters());
        let _ = (task.state(), task.error_number(), task.spikes().count(), task.slots().count());
    }
    let mut bytes = [0; 64];
    let ranges = [DataRange { offset: 4000, bytes: 32 }, DataRange { offset: 1, bytes: 32 }];
    let _ = view.read_data(&ranges, &mut bytes, 3);
    let _ = view.inputs().map(|image| image.read(&mut bytes));
    let _ = view.outputs().map(|image| image.read(&mut bytes));
    let outcomes = view.outcomes();
    for ticket in [0, 1, 255, 256, u32::MAX] {
        let _ = outcomes.as_ref().and_then(|outcomes| outcomes.outcome(ticket));
    }
    for writer in 0..=view.task_count() {
        let readers = [view.events(writer), view.events_from_now(writer)];
        for mut reader in readers.into_iter().flatten() {
            for _ in 0..ROUNDS {
                let _ = reader.next_event().map(|event| event.to_string());
            }
        }
    }
    if let Some(mut trace) = view.trace(0) {
        let mut values = [0; TRACE_VARIABLES_MAX];
        let steps = (0..ROUNDS).map(|_| trace.step(&mut values));
        let configured = steps.filter(|step| *step == TraceStep::Configured).count();
        assert!(configured <= 1, "nobody changes it meanwhile");
        assert!(trace.configuration().places().len() <= TRACE_VARIABLES_MAX);
    }
    let mut forces = [Assignment::default(); FORCE_LIMIT];
    let _ = view.forces().map(|list| list.read(&mut forces));
    let _ = view.retain().map(|retain| retain.read(&mut bytes));
}

fn write_all(region: &Region<'_>) {
    let now = Nanos::new(1);
    if let Some(mut image) = region.input_writer() {
        let bytes = vec![1; image.bytes()];
        image.write(1, now, &bytes);
    }
    if let Some(mut events) = region.event_writer(0) {
        events.tell(1, now, 0, quietcore_exchange::Happening::Started);
    }
    if let (Some(mut trace), Some(data)) = (region.trace_writer(0), region.data(Slot::A)) {
        for cycle in 0..3 {
            trace.sample(cycle, now, &data, region.active().generation);
        }
    }
    if let Some(mut retain) = region.retain_writer() {
        retain.write(1, 1, |packer| packer.push(&[1; 64]));
    }
    if let Some(mut host) = region.command_producer() {
        let _ = host.publish(&[Command::UnforceAll; 3], 1);
    }
}

/// Fills the command ring with `bytes` and takes commands. The first bytes choose how far the head
/// is ahead, and from where the ring is filled.
pub(crate) fn take_commands(bytes: &[u8]) {
    let [head, wild, place, entries @ ..] = bytes else {
        return;
    };
    const LIMITS: Limits = Limits { data_bytes: 4096, generation: 3 };
    const SLOTS: usize = 64;
    /// Outcomes lie in front of the ring.
    const RING: usize = 512;
    let words: Vec<AtomicU64> =
        (0..RING + queue::queue_words(SLOTS, 4)).map(|_| AtomicU64::new(0)).collect();
    let mut consumer = CommandConsumer::resume(&words).expect("there is room for a ring");
    let outcomes = OutcomeReader::new(&words).expect("there is room for outcomes");
    let first = RING + queue::HEADER_WORDS + usize::from(*place) % SLOTS * 4;
    primitive::words::store_bytes(&words[first..], entries);
    let wild = if *wild > 250 { u64::from(*wild) << 32 } else { 0 };
    words[RING].store(u64::from(*head) | wild, Ordering::Relaxed);
    let mut budget = COMMANDS_PER_CYCLE;
    let mut taken = 0;
    for _ in 0..ROUNDS {
        let Some(group) = consumer.take(budget, &LIMITS) else {
            budget = COMMANDS_PER_CYCLE;
            continue;
        };
        let ticket = group.ticket;
        if let Ok(commands) = group.commands {
            assert!(commands.len() <= budget);
            budget -= commands.len();
            taken += commands.len();
            for command in commands {
                check(command);
            }
        }
        consumer.answer(ticket, 1, Ok(()));
        assert!(outcomes.outcome(ticket).is_some());
    }
    assert!(taken <= SLOTS, "no entry is taken twice");
}

/// Asserts that a command that was accepted can be applied without a further look.
fn check(command: &Command) {
    if let Command::Set(Assignment { target, .. })
    | Command::Force(Assignment { target, .. })
    | Command::Unforce(target) = command
    {
        assert!(matches!(target.bytes, 1 | 2 | 4 | 8));
        assert!(u64::from(target.offset) + u64::from(target.bytes) <= 4096);
    }
}

/// Returns the indices of this many entries and one beyond them; under Miri some of each end.
fn indices(count: usize) -> impl Iterator<Item = usize> {
    let beyond = count.min(ENTRY_LIMIT);
    (0..=beyond).filter(move |index| !cfg!(miri) || *index < 8 || index + 1 >= beyond)
}

/// Lays `bytes` over a channel's header, table and cells, and uses every entry of what can be
/// attached to.
pub(crate) fn use_channel(bytes: &[u8]) {
    let Some((place, bytes)) = bytes.split_first() else {
        return;
    };
    let memory = Memory::new(4 * 4096);
    memory.make_channel(&entries()).expect("possible entries");
    let places = [24, 32, 4096, 4096 + 64, 2 * 4096, 2 * 4096 + 64, 2 * 4096 + 256];
    memory.poke(places[usize::from(*place) % places.len()], bytes);
    let now = Nanos::new(5);
    if let Ok(view) = memory.channel_view() {
        for index in indices(view.entry_count()) {
            let _ = view.signal_reader(index).map(|mut signal| signal.receive());
            let _ = view.group_reader(index).map(|mut group| group.receive());
        }
    }
    if let Ok(channel) = memory.channel() {
        let mut buffer = vec![0; usize::from(QUEUE_MESSAGE_BYTES_MAX)];
        for index in indices(channel.entry_count()) {
            if let Some(mut signal) = channel.signal_writer(index) {
                signal.send(now, 1);
            }
            if let Some(mut group) = channel.group_writer(index) {
                group.send(now);
            }
            let sender = channel.sender(index);
            let receiver = channel.receiver(index);
            if let (Some(mut sender), Some(mut receiver)) = (sender, receiver) {
                for _ in 0..ROUNDS {
                    let _ = (sender.send(now, &[1]), receiver.receive(&mut buffer));
                }
            }
        }
    }
}
