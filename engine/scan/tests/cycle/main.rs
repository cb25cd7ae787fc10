//! The scan cycle of the leading task, with a program and a fieldbus that are fakes.
//!
//! Goal: the order of inputs, forces, step and outputs; groups whole; faults without outputs; swaps
//! that carry state; and no allocation. Method: the program doubles the number at 0 into the number
//! at 8 and counts at 16; the fieldbus has two bytes each way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod forces;
mod swap;

use std::cell::Cell;

use quietcore_exchange::{
    Assignment, COMMANDS_PER_CYCLE, Command, CommandProducer, EventWriter, Happening, Recorder,
    Region, Release, Shape, ShortText, Slot, Target, WhyRejected,
};
use quietcore_process::exchange::Exchange;
use quietcore_scan::change::Builds;
use quietcore_scan::fault::Fault;
use quietcore_scan::leader::{Done, Leader};
use quietcore_scan::mapping::{Kind, Mapping};
use quietcore_scan::program::{Build, Fieldbus, Program};
use quietcore_scan::shared::Shared;
use quietcore_scan::stage::{Carried, DataRange, Moved, Stage, Trigger};
use quietcore_scan::task::{Task, TaskSettings};
use quietcore_scan::watchdog::Watchdog;
use quietcore_units::{FaultReaction, Nanos};

const PERIOD: Nanos = Nanos::from_millis(1);
const INPUT: u32 = 0;
const OUTPUT: u32 = 8;
const COUNT: u32 = 16;

/// A misbehaviour of the program, instead of its work.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Good,
    Crashes,
    Complains,
}

struct Doubler<'a> {
    region: Region<'a>,
    slot: Slot,
    mood: &'a Cell<Mood>,
    /// The task whose job each step leaves in the middle.
    under_way: Cell<Option<u32>>,
    factor: i64,
}

impl Program for Doubler<'_> {
    fn step(&self, _: usize, _: u32) -> Result<(), Fault> {
        let data = self.region.writable_data(self.slot).unwrap();
        let read = |offset| data.read_value(offset, 8).unwrap().cast_signed();
        let write =
            |offset, value: i64| data.write_value(offset, 8, u64::MAX, value.cast_unsigned());
        write(OUTPUT, read(INPUT) * self.factor).unwrap();
        if self.mood.get() == Mood::Crashes {
            return Err(Fault::Crash {
                signal: 11,
                address: 0x40,
                instruction: 7,
                in_library: false,
                overflowed: None,
            });
        }
        write(COUNT, read(COUNT) + 1).unwrap();
        Ok(())
    }

    fn task_under_way(&self) -> Option<u32> {
        self.under_way.get()
    }

    fn error_status(&self) -> ShortText {
        ShortText::new(*b"too hot")
    }

    fn has_error(&self) -> bool {
        self.mood.get() == Mood::Complains
    }
}

#[derive(Default)]
struct Bus<'a> {
    inputs: &'a [Cell<u8>],
    now: [u8; 2],
    outputs: [u8; 2],
    sent: Option<&'a Cell<[u8; 2]>>,
}

impl Fieldbus for Bus<'_> {
    fn exchange(&mut self, _: u64, _: Nanos, _: &mut EventWriter<'_>) {
        for (now, input) in self.now.iter_mut().zip(self.inputs) {
            *now = input.get();
        }
        if let Some(sent) = self.sent {
            sent.set(self.outputs);
        }
    }

    fn inputs(&self) -> &[u8] {
        &self.now
    }

    fn outputs(&mut self) -> &mut [u8] {
        &mut self.outputs
    }
}

fn exchange() -> Exchange {
    let shape = Shape {
        input_bytes: 2,
        output_bytes: 2,
        data_bytes: 4096,
        retain_bytes: 64,
        command_slots: 128,
        event_slots: 64,
        trace_bytes: 4096,
        ..Shape::of_tasks(2)
    };
    Exchange::create(&shape).unwrap()
}

fn mapping(offset: u32) -> Mapping {
    Mapping {
        bit: 0,
        bits: 16,
        kind: Kind::Signed,
        offset,
        bytes: 8,
        variable: Kind::Signed,
        scale: 1.0,
        shift: 0.0,
    }
}

fn stage(generation: u32, slot: u8) -> Stage {
    Stage {
        generation,
        slot,
        data_bytes: 4096,
        on_probation: true,
        inputs: vec![mapping(INPUT)],
        outputs: vec![mapping(OUTPUT)],
        substitutes: vec![(0, -5.0)],
        triggers: vec![None, Some(Trigger { offset: COUNT, bytes: 1 })],
        retained: vec![DataRange { offset: COUNT, bytes: 8 }],
        ..Stage::default()
    }
}

/// A leading task over a fresh exchange, cycled by hand.
struct Rig<'a> {
    leader: Leader<'a, Bus<'a>>,
    commands: CommandProducer<'a>,
    shared: Shared,
    region: Region<'a>,
    cycle: u64,
}

impl<'a> Rig<'a> {
    fn new(
        exchange: &'a Exchange,
        bus: Bus<'a>,
        on_fault: FaultReaction,
        first: &Stage,
        probation: u64,
    ) -> Self {
        let region = exchange.region();
        let recorder = Recorder::new(region.task(0).unwrap(), PERIOD, 1);
        let settings = TaskSettings {
            index: 0,
            rate: 0,
            deadline: PERIOD,
            watchdog: Watchdog::new(PERIOD, 2),
            stop_beyond: None,
        };
        let events = region.event_writer(0).unwrap();
        let task = Task::new(settings, recorder, events, region.trace_writer(0));
        let shared = Shared::default();
        let leader = Leader::new(task, region, bus, on_fault, probation, first, &shared).unwrap();
        let commands = region.command_producer().unwrap();
        Self { leader, commands, shared, region, cycle: 0 }
    }

    /// Runs a cycle that takes `micros` microseconds.
    fn run_for<P: Program>(&mut self, builds: &Builds<'_, P>, micros: u64) -> Done {
        let due = Nanos::from_secs(1) + PERIOD * self.cycle;
        self.cycle += 1;
        let release = Release {
            due,
            started: due,
            wakeup_latency: Nanos::ZERO,
            margin: Nanos::ZERO,
            spin: Nanos::ZERO,
            cpu: 0,
        };
        let done =
            self.leader.cycle(&release, builds, &self.shared, || due + Nanos::from_micros(micros));
        self.leader.after(0);
        done
    }

    fn run<P: Program>(&mut self, builds: &Builds<'_, P>) -> Done {
        self.run_for(builds, 100)
    }

    fn run_times<P: Program>(&mut self, builds: &Builds<'_, P>, cycles: usize) {
        for _ in 0..cycles {
            self.run(builds);
        }
    }

    fn value(&self, slot: Slot, offset: u32) -> i64 {
        self.region.data(slot).unwrap().read_value(offset, 8).unwrap().cast_signed()
    }

    fn told(&self) -> Vec<Happening> {
        let mut reader = self.region.events(0).unwrap();
        std::iter::from_fn(|| reader.next_event()).map(|event| event.what).collect()
    }

    /// Returns the events so far, with the task that each is about.
    fn events(&self) -> Vec<(u32, Happening)> {
        let mut reader = self.region.events(0).unwrap();
        std::iter::from_fn(|| reader.next_event()).map(|event| (event.task, event.what)).collect()
    }

    fn publish(&mut self, commands: &[Command], generation: u32) -> u32 {
        self.commands.publish(commands, generation).unwrap()
    }

    fn outcome(&self, ticket: u32) -> Option<Result<(), WhyRejected>> {
        let outcome = self.region.outcomes().unwrap().outcome(ticket)?;
        Some(outcome.result.map_err(|(_, why)| why))
    }
}

fn assignment(offset: u32, value: i64) -> Assignment {
    Assignment { target: Target::whole(offset, 8), value: value.cast_unsigned() }
}

/// A program in slot A.
/// The build after the doubler, for the other slot.
fn tripler<'a>(region: Region<'a>, mood: &'a Cell<Mood>) -> Build<Doubler<'a>> {
    Build {
        stage: stage(2, 1),
        program: Doubler { region, slot: Slot::B, mood, under_way: Cell::new(None), factor: 3 },
    }
}

fn doubler<'a>(region: Region<'a>, mood: &'a Cell<Mood>) -> Build<Doubler<'a>> {
    Build {
        stage: stage(1, 0),
        program: Doubler { region, slot: Slot::A, mood, under_way: Cell::new(None), factor: 2 },
    }
}

#[test]
fn inputs_are_read_before_the_step_and_outputs_sent_with_the_next_frame() {
    let exchange = exchange();
    let (mood, sent) = (Cell::new(Mood::Good), Cell::new([0; 2]));
    let inputs = [Cell::new(21), Cell::new(0)];
    let build = doubler(exchange.region(), &mood);
    let bus = Bus { inputs: &inputs, sent: Some(&sent), ..Bus::default() };
    let mut rig = Rig::new(&exchange, bus, FaultReaction::Zero, &build.stage, 0);
    let builds = [Some(&build), None];
    rig.run(&builds);
    assert_eq!((rig.value(Slot::A, INPUT), rig.value(Slot::A, OUTPUT)), (21, 42));
    assert_eq!(sent.get(), [0, 0], "the first frame has no outputs yet");
    rig.run(&builds);
    assert_eq!(sent.get(), [42, 0]);
    let mut image = [0; 2];
    let stamp = rig.region.inputs().unwrap().read(&mut image).unwrap();
    assert_eq!((stamp.cycle, image), (1, [21, 0]));
}

#[test]
fn a_force_beats_the_fieldbus_before_the_step_and_the_program_after_it() {
    let exchange = exchange();
    let (mood, sent) = (Cell::new(Mood::Good), Cell::new([0; 2]));
    let inputs = [Cell::new(1), Cell::new(0)];
    let build = doubler(exchange.region(), &mood);
    let bus = Bus { inputs: &inputs, sent: Some(&sent), ..Bus::default() };
    let mut rig = Rig::new(&exchange, bus, FaultReaction::Zero, &build.stage, 0);
    let builds = [Some(&build), None];
    rig.publish(&[Command::Force(assignment(INPUT, 50))], 1);
    rig.run(&builds);
    assert_eq!(rig.value(Slot::A, OUTPUT), 100, "the program read the forced input");
    rig.publish(&[Command::Force(assignment(OUTPUT, 7))], 1);
    rig.run(&builds);
    rig.run(&builds);
    assert_eq!(sent.get(), [7, 0], "the forced output went out");
    rig.publish(&[Command::UnforceAll], 1);
    rig.run(&builds);
    rig.run(&builds);
    assert_eq!(sent.get(), [2, 0]);
}

#[test]
fn a_set_acts_once_and_a_group_in_one_cycle_or_never() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let build = doubler(exchange.region(), &mood);
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &build.stage, 0);
    let builds = [Some(&build), None];
    let group = [Command::Set(assignment(COUNT, 1000)), Command::Set(assignment(24, 3))];
    let ticket = rig.publish(&group, 1);
    assert_eq!(rig.outcome(ticket), None);
    rig.run(&builds);
    assert_eq!(rig.outcome(ticket), Some(Ok(())));
    rig.run(&builds);
    assert_eq!((rig.value(Slot::A, COUNT), rig.value(Slot::A, 24)), (1002, 3));
    let bad = [Command::Set(assignment(24, 9)), Command::Set(assignment(4090, 9))];
    let ticket = rig.publish(&bad, 1);
    let old = rig.publish(&[Command::Set(assignment(24, 9))], 7);
    rig.run(&builds);
    assert_eq!(rig.outcome(ticket), Some(Err(WhyRejected::OutOfData)));
    assert_eq!(rig.outcome(old), Some(Err(WhyRejected::OtherGeneration)));
    assert_eq!(rig.value(Slot::A, 24), 3);
}

#[test]
fn refused_groups_count_as_commands_of_their_cycle() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let build = doubler(exchange.region(), &mood);
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &build.stage, 0);
    let builds = [Some(&build), None];
    let bad = [Command::Set(assignment(4090, 9))];
    let tickets: Vec<_> = (0..=COMMANDS_PER_CYCLE).map(|_| rig.publish(&bad, 1)).collect();
    let (last, before) = (tickets[COMMANDS_PER_CYCLE], tickets[COMMANDS_PER_CYCLE - 1]);
    let refused = Some(Err(WhyRejected::OutOfData));
    rig.run(&builds);
    assert_eq!((rig.outcome(before), rig.outcome(last)), (refused, None));
    rig.run(&builds);
    assert_eq!(rig.outcome(last), refused);
}

#[test]
fn a_step_that_crashes_writes_no_outputs() {
    for (on_fault, expected) in
        [(FaultReaction::Hold, 42_i16), (FaultReaction::Zero, 0), (FaultReaction::Substitute, -5)]
    {
        let exchange = exchange();
        let (mood, sent) = (Cell::new(Mood::Good), Cell::new([0; 2]));
        let inputs = [Cell::new(21), Cell::new(0)];
        let build = doubler(exchange.region(), &mood);
        let bus = Bus { inputs: &inputs, sent: Some(&sent), ..Bus::default() };
        let mut rig = Rig::new(&exchange, bus, on_fault, &build.stage, 0);
        let builds = [Some(&build), None];
        rig.run(&builds);
        inputs[0].set(99);
        mood.set(Mood::Crashes);
        rig.run(&builds);
        rig.run(&builds);
        assert_eq!(i16::from_le_bytes(sent.get()), expected, "{on_fault:?}");
        assert!(rig.shared.is_in_fault());
        let steps = rig.value(Slot::A, COUNT);
        mood.set(Mood::Good);
        rig.run(&builds);
        assert_eq!(rig.value(Slot::A, COUNT), steps, "no step is run in fault");
        let faults = rig.told().into_iter().filter(|what| matches!(what, Happening::Fault { .. }));
        assert_eq!(faults.count(), 1, "told once");
    }
}

#[test]
fn a_model_that_complains_and_a_watchdog_that_expires_are_faults() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let build = doubler(exchange.region(), &mood);
    let builds = [Some(&build), None];
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &build.stage, 0);
    rig.run_for(&builds, 1_100);
    assert!(!rig.shared.is_in_fault(), "one long cycle, at a sensitivity of two");
    rig.run_for(&builds, 1_100);
    assert!(rig.shared.is_in_fault());
    let told = rig.told();
    assert!(told.contains(&Happening::WatchdogExpired {
        cycles: 2,
        elapsed_ns: 1_100_000,
        during: None
    }));
    assert!(told.contains(&Happening::Overrun { response_ns: 1_100_000, in_a_row: 2 }));
    let other = self::exchange();
    let build = doubler(other.region(), &mood);
    let mut rig = Rig::new(&other, Bus::default(), FaultReaction::Zero, &build.stage, 0);
    mood.set(Mood::Complains);
    rig.run(&[Some(&build), None]);
    assert!(rig.told().contains(&Happening::ModelError { status: ShortText::new(*b"too hot") }));
}

#[test]
fn a_trigger_fires_when_it_becomes_true_and_retained_values_are_of_the_same_cycle() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let build = doubler(exchange.region(), &mood);
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Zero, &build.stage, 0);
    let builds = [Some(&build), None];
    assert_eq!(rig.run(&builds).fired, 0b10, "the count became 1");
    assert_eq!(rig.run(&builds).fired, 0, "and stays true");
    assert_eq!(rig.shared.fired(1), 1);
    let mut kept = [0; 8];
    let found = rig.region.retain().unwrap().read(&mut kept).unwrap().unwrap();
    assert_eq!((found.cycle, found.generation, i64::from_le_bytes(kept)), (1, 1, 2));
}

#[test]
fn a_cycle_allocates_nothing_whatever_happens_in_it() {
    let exchange = exchange();
    let mood = Cell::new(Mood::Good);
    let region = exchange.region();
    let old = doubler(region, &mood);
    let new = tripler(region, &mood);
    let mut rig = Rig::new(&exchange, Bus::default(), FaultReaction::Substitute, &old.stage, 3);
    let builds = [Some(&old), Some(&new)];
    rig.publish(&[Command::Force(assignment(24, 4)), Command::Set(assignment(32, 4))], 1);
    rig.publish(&[Command::Set(assignment(4090, 4))], 1);
    rig.publish(&[Command::Swap { generation: 2 }], 2);
    let used = allocation_counter::measure(|| {
        for cycle in 0..20 {
            if cycle == 10 {
                mood.set(Mood::Crashes);
            }
            rig.run_for(&builds, 100 + 200 * cycle);
        }
    });
    assert_eq!(used.count_total, 0);
    assert!(rig.shared.is_in_fault() && rig.shared.active() == 1);
}
