//! The fieldbus behind the scan cycle, over a segment in the same process.

#![forbid(unsafe_code)]

use quietcore_exchange::Shape;
use quietcore_fieldbus::{Bus, BusError, BusJob};
use quietcore_maindevice::Expected;
use quietcore_process::exchange::Exchange;
use quietcore_scan::program::Fieldbus as _;
use quietcore_segment::{Options, Segment, SubDevice};
use quietcore_units::Nanos;
use quietcore_wire::{SegmentWire, Wire as _};

/// The SubDevices, with their bytes of inputs and outputs.
const LINE: [(&str, usize, usize); 2] = [("digital-input-8", 1, 0), ("digital-output-8", 0, 1)];

fn wire() -> SegmentWire {
    let line = LINE.map(|(name, ..)| SubDevice::by_name(name).expect("it is built in"));
    SegmentWire::new(Segment::new(line.into(), Options::default()))
}

fn job() -> BusJob {
    let subdevices = LINE.map(|(name, inputs, outputs)| Expected {
        name: format!("the {name}"),
        process_data: Some((inputs, outputs)),
        ..Expected::default()
    });
    BusJob { cycle: Nanos::from_millis(20), lost_after: 3, subdevices: subdevices.into() }
}

fn exchange(input_bytes: u32, output_bytes: u32) -> Exchange {
    let shape = Shape { event_slots: 64, input_bytes, output_bytes, ..Shape::of_tasks(1) };
    Exchange::create(&shape).expect("memory")
}

#[test]
fn a_job_in_bytes_is_brought_up_and_exchanged_without_an_allocation() {
    let exchange = exchange(1, 1);
    let region = exchange.region();
    let mut events = region.event_writer(0).unwrap();
    let bytes = job().to_bytes().unwrap();
    let mut bus = Bus::bring_up_job(wire(), &bytes, region, |_| ()).unwrap();
    assert_eq!((bus.inputs().len(), bus.outputs().len()), (1, 1));
    let allocated = allocation_counter::measure(|| {
        for cycle in 0..100 {
            bus.outputs()[0] = cycle as u8;
            let now = bus.wire_mut().now();
            bus.exchange(cycle, now, &mut events);
        }
    });
    assert_eq!(allocated.count_total, 0);
    let status = region.fieldbus();
    assert_eq!((status.subdevices, status.working_counter, status.lost_frames), (2, 3, 0));
    assert_eq!((status.expected, status.al_states), (3, 8), "complete, and in OP");
}

#[test]
fn process_data_that_names_were_not_resolved_for_are_refused() {
    let exchange = exchange(2, 1);
    let refused = Bus::bring_up(wire(), &job(), exchange.region()).err().unwrap();
    assert_eq!(refused, BusError::ProcessData { found: (1, 1), expected: (2, 1) });
    let text = refused.to_string();
    assert!(text.contains("1 bytes of inputs and 1 of outputs"), "{text}");
}

#[test]
fn what_is_no_job_is_refused_and_said() {
    let exchange = exchange(1, 1);
    let refused = Bus::bring_up_job(wire(), &[1, 2, 3], exchange.region(), |_| ()).err().unwrap();
    assert_eq!(refused.to_string(), "these bytes are no fieldbus's job");
}

#[test]
fn a_stop_ends_a_bring_up() {
    let exchange = exchange(1, 1);
    exchange.region().request_stop();
    let refused = Bus::bring_up(wire(), &job(), exchange.region()).err();
    assert_eq!(refused, Some(BusError::Stopped));
}
