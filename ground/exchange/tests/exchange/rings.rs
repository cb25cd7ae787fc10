//! Image, events, trace and retained variables: what one side writes and others follow.

use quietcore_exchange::{
    Happening, Retained, Slot, Stamp, TRACE_VARIABLES_MAX, TornRead, TraceConfiguration,
    TracePlace, TraceRequestError, TraceStep, WhyRejected,
};
use quietcore_units::Nanos;

use crate::memory::{Memory, SMALL};

#[test]
fn an_image_is_read_with_the_cycle_it_belongs_to() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut outputs = region.output_writer().unwrap();
    let reader = memory.view().unwrap().outputs().unwrap();
    assert_eq!((outputs.bytes(), reader.bytes()), (12, 12));
    let mut image = [9; 14];
    assert_eq!(reader.read(&mut image), Ok(Stamp::default()));
    assert_eq!(image, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9]);
    outputs.write(5, Nanos::new(70), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(reader.read(&mut image), Ok(Stamp { cycle: 5, time: Nanos::new(70) }));
    assert_eq!(image[..12], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    // As if the partition had died while it wrote.
    memory.poke(SMALL.layout().unwrap().outputs.offset, &[1]);
    assert_eq!(reader.read(&mut image), Err(TornRead));
    assert_eq!(region.inputs().unwrap().bytes(), 20);
}

#[test]
fn events_are_heard_in_order_and_losses_are_counted() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut task = region.event_writer(0).unwrap();
    let mut partition = region.event_writer(1).unwrap();
    assert!(region.event_writer(2).is_none() && region.events(2).is_none());
    let mut listener = memory.view().unwrap().events(0).unwrap();
    let mut others = memory.view().unwrap().events(1).unwrap();
    assert_eq!(listener.next_event(), None);
    task.tell(1, Nanos::new(10), 0, Happening::Started);
    partition.tell(0, Nanos::new(5), 1, Happening::Staged { generation: 2 });
    let heard = listener.next_event().unwrap();
    assert_eq!((heard.sequence, heard.cycle, heard.task), (0, 1, 0));
    assert_eq!((heard.time, heard.what), (Nanos::new(10), Happening::Started));
    assert_eq!(others.next_event().unwrap().what, Happening::Staged { generation: 2 });
    for cycle in 2..9 {
        task.tell(
            cycle,
            Nanos::new(cycle),
            0,
            Happening::WatchdogHit { elapsed_ns: cycle, during: None },
        );
    }
    assert_eq!(listener.next_event().unwrap().cycle, 5);
    assert_eq!(listener.lost(), 3);
    let mut late = region.events_from_now(0).unwrap();
    assert_eq!(late.next_event(), None);
    assert_eq!(heard.to_string(), "cycle 1: started");
}

fn place(offset: u32, bytes: u8) -> TracePlace {
    TracePlace { offset, bytes }
}

/// Samples cycles `from..to`, in which the variable at 0 has the number of the cycle.
fn run(region: &quietcore_exchange::Region<'_>, from: u64, to: u64, generation: u32) {
    let data = region.writable_data(Slot::A).unwrap();
    let mut writer = region.trace_writer(0).unwrap();
    for cycle in from..to {
        data.write_value(0, 8, u64::MAX, cycle).unwrap();
        writer.sample(cycle, Nanos::new(cycle * 10), &data, generation);
    }
}

#[test]
fn a_trace_samples_each_third_cycle() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    region.writable_data(Slot::A).unwrap().write_value(100, 2, u64::MAX, 77).unwrap();
    let mut requester = region.trace_requester(0).unwrap();
    let mut reader = memory.view().unwrap().trace(0).unwrap();
    let mut values = [0; TRACE_VARIABLES_MAX];
    assert_eq!(reader.step(&mut values), TraceStep::Configured, "first it says that it is off");
    assert_eq!(reader.configuration(), &TraceConfiguration::OFF);
    assert_eq!(reader.step(&mut values), TraceStep::Nothing);

    let wanted = TraceConfiguration::new(&[place(0, 8), place(100, 2)], 3, 1).unwrap();
    requester.ask(&wanted);
    assert_eq!(requester.answer(), None);
    run(&region, 10, 20, 1);
    assert_eq!(requester.answer(), Some(Ok(())));
    assert_eq!(reader.step(&mut values), TraceStep::Configured);
    assert_eq!(reader.configuration(), &wanted);
    for cycle in [10, 13, 16, 19] {
        let time = Nanos::new(cycle * 10);
        assert_eq!(reader.step(&mut values), TraceStep::Sample { cycle, time });
        assert_eq!(values[..2], [cycle, 77]);
    }
    assert_eq!(reader.step(&mut values), TraceStep::Nothing);
    assert_eq!(reader.lost(), 0);
}

#[test]
fn a_reader_follows_a_trace_that_is_changed_and_ended() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let data = region.data(Slot::A).unwrap();
    let mut requester = region.trace_requester(0).unwrap();
    let mut writer = region.trace_writer(0).unwrap();
    let mut reader = region.trace(0).unwrap();
    let mut values = [0; TRACE_VARIABLES_MAX];
    requester.ask(&TraceConfiguration::new(&[place(0, 8)], 1, 1).unwrap());
    // A ring of 50 words holds 16 samples of 3 words.
    for cycle in 0..20 {
        writer.sample(cycle, Nanos::new(cycle), &data, 1);
    }
    assert_eq!(reader.step(&mut values), TraceStep::Configured);
    let first = reader.step(&mut values);
    assert_eq!(first, TraceStep::Sample { cycle: 4, time: Nanos::new(4) });
    assert_eq!(reader.lost(), 4);
    requester.ask(&TraceConfiguration::new(&[place(8, 1); 9], 1, 1).unwrap());
    writer.sample(20, Nanos::new(20), &data, 1);
    assert_eq!(reader.step(&mut values), TraceStep::Configured);
    let next = reader.step(&mut values);
    assert_eq!(next, TraceStep::Sample { cycle: 20, time: Nanos::new(20) });
    assert_eq!(reader.step(&mut values), TraceStep::Nothing);
    requester.ask(&TraceConfiguration::OFF);
    writer.sample(21, Nanos::new(21), &data, 1);
    assert!(!writer.is_running());
    assert_eq!(reader.step(&mut values), TraceStep::Configured);
    assert!(reader.configuration().places().is_empty());
    assert_eq!((reader.step(&mut values), reader.lost()), (TraceStep::Nothing, 4));
}

#[test]
fn a_trace_of_what_is_not_there_is_refused() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut requester = region.trace_requester(0).unwrap();
    let mut answer = |places: &[TracePlace], generation: u32| {
        requester.ask(&TraceConfiguration::new(places, 1, generation).unwrap());
        run(&region, 0, 1, 1);
        requester.answer().unwrap()
    };
    assert_eq!(answer(&[place(4092, 8)], 1), Err(WhyRejected::OutOfData));
    assert_eq!(answer(&[place(0, 3)], 1), Err(WhyRejected::BadSize));
    assert_eq!(answer(&[place(0, 8)], 2), Err(WhyRejected::OtherGeneration));
    assert_eq!(answer(&[place(0, 8)], 1), Ok(()));
    run(&region, 1, 3, 2);
    assert_eq!(requester.answer(), Some(Err(WhyRejected::OtherGeneration)), "another build runs");
    let too_many = TraceConfiguration::new(&[place(0, 1); 65], 1, 1);
    assert_eq!(too_many, Err(TraceRequestError::TooMany { count: 65 }));
    assert_eq!(TraceConfiguration::new(&[], 0, 1), Err(TraceRequestError::EveryZero));
}

/// Goal: whoever dies while it writes retained variables leaves the writing before whole.
/// Method: break off each half in turn, and take over.
#[test]
fn the_newest_whole_half_is_retained() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let reader = memory.view().unwrap().retain().unwrap();
    let mut bytes = [0; 24];
    assert_eq!(reader.read(&mut bytes), Ok(None));
    let mut writer = region.retain_writer().unwrap();
    for cycle in 1..=3_u8 {
        writer.write(u64::from(cycle) * 10, 7, |packer| {
            packer.push(&[cycle]);
            packer.push(&[cycle; 10]);
        });
    }
    let third = Retained { number: 3, cycle: 30, generation: 7, bytes: 11 };
    assert_eq!(reader.read(&mut bytes), Ok(Some(third)));
    assert_eq!(bytes[..11], [3; 11]);
    // The fourth would have gone into the first half.
    let halves = SMALL.layout().unwrap().retain.offset;
    memory.poke(halves, &[5]);
    assert_eq!(reader.read(&mut bytes), Ok(Some(third)));
    // The third, which is the newest, is broken too.
    memory.poke(halves + 4096, &[5]);
    assert_eq!(reader.read(&mut bytes), Err(TornRead));
    let mut heir = region.retain_writer().unwrap();
    heir.write(99, 8, |packer| packer.push(&[4; 99]));
    let after = Retained { number: 1, cycle: 99, generation: 8, bytes: 24 };
    assert_eq!(reader.read(&mut bytes), Ok(Some(after)), "what has no room is left out");
}

/// Goal: who listens is held up by no writer, however fast.
/// Method: for each event that is heard another one is told.
#[test]
fn hearing_what_is_there_ends_while_more_is_told() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut task = region.event_writer(0).unwrap();
    let mut listener = memory.view().unwrap().events(0).unwrap();
    for cycle in 0..2 {
        task.tell(cycle, Nanos::new(cycle), 0, Happening::Started);
    }
    let mut heard = 0;
    for event in listener.drain() {
        assert_eq!(event.cycle, heard);
        task.tell(heard + 2, Nanos::new(heard), 0, Happening::Started);
        heard += 1;
    }
    assert_eq!(heard, 2);
    // A head far ahead of what was written is no more than a ring full of events.
    memory.poke(SMALL.layout().unwrap().events.offset, &[0, 0, 0, 0, 0, 1]);
    assert!(listener.drain().count() <= 8);
}
