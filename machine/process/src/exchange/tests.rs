//! Tests of the memory of exchanges.

use super::*;
use quietcore_exchange::{
    Active, DataRange, ShapeError, Slot, SnapshotBuffers, TRACE_VARIABLES_MAX, TaskState, TraceStep,
};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::io::Write as _;

#[test]
fn two_mappings_of_one_file_see_the_same() {
    let host = Exchange::create(&Shape::of_tasks(2)).unwrap();
    let partition = Exchange::open(host.file().unwrap()).unwrap();
    assert_eq!(partition.region().task_count(), 2);
    host.region().request_stop();
    assert!(partition.region().stop_requested());
    assert_eq!(partition.region().task(1).unwrap().state(), TaskState::Unused);
}

#[test]
fn a_header_that_the_other_side_overwrites_changes_nothing() {
    let host = Exchange::create(&Shape::of_tasks(2)).unwrap();
    host.file().unwrap().write_all_at(&[0xff; 32], 0).unwrap();
    assert_eq!(host.region().task_count(), 2);
    assert!(host.region().task(2).is_none());
}

#[test]
fn what_is_no_exchange_is_refused() {
    let mut file: File = memfd_create("other", MemfdFlags::ALLOW_SEALING).unwrap().into();
    file.write_all(&[0; 1 << 20]).unwrap();
    assert!(matches!(
        Exchange::open(file.try_clone().unwrap()),
        Err(ExchangeError::Memory(MemoryError::NotSealed))
    ));
    fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
    let refused = Exchange::open(file).unwrap_err().to_string();
    assert!(refused.contains("no exchange here"), "{refused}");
    let plain = File::open("/proc/self/stat").unwrap();
    assert!(matches!(Exchange::open(plain), Err(ExchangeError::Memory(MemoryError::NotSealed))));
}

#[test]
fn an_impossible_number_of_tasks_is_refused() {
    assert!(matches!(
        Exchange::create(&Shape::of_tasks(0)),
        Err(ExchangeError::Attach(AttachError::Shape(ShapeError::NoTask)))
    ));
}

fn with_data() -> Exchange {
    Exchange::create(&Shape { data_bytes: 8192, ..Shape::of_tasks(1) }).unwrap()
}

#[test]
fn a_monitor_reads_through_a_file_that_allows_no_more() {
    let host = with_data();
    let file = host.read_only_file().unwrap();
    assert!(file.write_all_at(&[1], 0).is_err());
    let monitor = ExchangeView::open(file).unwrap();
    let data = host.region().writable_data(Slot::B).unwrap();
    data.write_value(4096, 8, u64::MAX, 42).unwrap();
    host.region().set_active(Active { slot: Slot::B, generation: 3 });
    let view = monitor.view();
    assert_eq!(view.active(), Active { slot: Slot::B, generation: 3 });
    assert_eq!(view.data(Slot::B).unwrap().read_value(4096, 8), Ok(42));
}

/// Goal: no reader writes, not even to note what it has read.
/// Method: call each on a mapping that can't be written; a write would end the test's process.
#[test]
fn every_reader_works_on_memory_that_can_only_be_read() {
    let shape = Shape {
        input_bytes: 9,
        output_bytes: 9,
        data_bytes: 4096,
        retain_bytes: 9,
        command_slots: 64,
        event_slots: 8,
        trace_bytes: 4096,
        ..Shape::of_tasks(1)
    };
    let host = Exchange::create(&shape).unwrap();
    let monitor = ExchangeView::open(host.read_only_file().unwrap()).unwrap();
    let view = monitor.view();
    let task = view.task(0).unwrap();
    assert!(task.snapshot(&mut SnapshotBuffers::default()).is_ok());
    assert_eq!(task.counters().unwrap().cycles, 0);
    let mut bytes = [0; 9];
    assert_eq!(view.inputs().unwrap().read(&mut bytes).unwrap().cycle, 0);
    assert_eq!(view.outputs().unwrap().read(&mut bytes).unwrap().cycle, 0);
    assert!(view.read_data(&[DataRange { offset: 0, bytes: 9 }], &mut bytes, 1).is_ok());
    assert_eq!(view.outcomes().unwrap().outcome(1), None);
    assert_eq!(view.events(0).unwrap().next_event(), None);
    let mut values = [0; TRACE_VARIABLES_MAX];
    assert_eq!(view.trace(0).unwrap().step(&mut values), TraceStep::Configured);
    assert_eq!(view.forces().unwrap().read(&mut []), Ok(0));
    assert_eq!(view.retain().unwrap().read(&mut bytes), Ok(None));
}

/// A program's variables are mapped from the file at the place the slot says.
#[test]
fn a_data_slot_lies_in_the_file_where_it_says() {
    let host = with_data();
    let slot = host.region().data(Slot::A).unwrap();
    let place = slot.section().offset as u64;
    host.file().unwrap().write_all_at(&[1, 2], place + 6).unwrap();
    assert_eq!(slot.read_value(6, 2), Ok(0x0201));
    assert_eq!(slot.section().bytes, 8192);
}

#[test]
fn a_copy_is_what_the_exchange_was_and_stays_so() {
    let exchange = Exchange::create(&Shape::of_tasks(2)).unwrap();
    let mut bytes = vec![1; 7];
    exchange.read_all(&mut bytes).unwrap();
    exchange.region().request_stop();
    let copy = Exchange::of_bytes(&bytes).unwrap();
    assert!(!copy.region().stop_requested() && exchange.region().stop_requested());
    exchange.read_all(&mut bytes).unwrap();
    assert!(Exchange::of_bytes(&bytes).unwrap().region().stop_requested());
    assert!(Exchange::of_bytes(&bytes[..4096]).is_err());
    assert!(Exchange::of_bytes(&[0; 4096]).is_err());
}
