//! Jobs and orders on their way to a guest.

use proptest::collection::vec;
use proptest::prelude::*;
use quietcore_units::{Overrun, ReleaseRule};

use super::*;
use crate::mapping::{Kind, Mapping};
use crate::stage::DataRange;

const MILLISECOND: Nanos = Nanos::from_millis(1);

fn task(rate: u32) -> GuestTask {
    GuestTask {
        rate,
        release: ReleaseRule::Cyclic { period: MILLISECOND, offset: Nanos::ZERO },
        deadline: MILLISECOND,
        watchdog: MILLISECOND,
        sensitivity: 2,
        overrun: Overrun::Skip,
        wake: Wake::Spin,
    }
}

fn build(slot: u8) -> GuestBuild {
    let mapping = Mapping {
        bit: 3,
        bits: 16,
        kind: Kind::Signed,
        offset: 8,
        bytes: 8,
        variable: Kind::Float,
        scale: 1e-3,
        shift: -7.5,
    };
    let code = AddressRange { address: PROGRAM_CODE[usize::from(slot)], bytes: 8192 };
    GuestBuild {
        face: code.address + 4096,
        code,
        stage: Stage {
            generation: 1,
            slot,
            data_bytes: 4096,
            inputs: [mapping].into(),
            ..Stage::default()
        },
        values: [Value { place: DataRange { offset: 8, bytes: 2 }, bytes: [1, 2].into() }].into(),
    }
}

fn job() -> GuestJob {
    let entries = [ChannelEntry::Queue { message_bytes: 8, slots: 4 }];
    GuestJob {
        cpu: 3,
        thread_id: 4711,
        is_watched: false,
        tasks: [task(0), task(1)].into(),
        kernel_tasks: Vec::new(),
        on_fault: FaultReaction::Hold,
        channels: [GuestChannel {
            place: AddressRange { address: CHANNELS, bytes: 4096 },
            sends: true,
            entries: entries.into(),
            signals: [0].into(),
        }]
        .into(),
        probation_cycles: 100,
        warm_up_cycles: 10,
        cycles: Some(1000),
        late_beyond: Some(Nanos::from_micros(50)),
        fieldbus: Some([7; 3].into()),
        build: build(0),
    }
}

#[test]
fn what_was_posted_is_read() {
    let bytes = job().to_bytes().unwrap();
    assert_eq!(GuestJob::from_bytes(&bytes), Ok(job()));
    let order = GuestOrder::Stage(build(1));
    assert_eq!(GuestOrder::from_bytes(&order.to_bytes().unwrap()), Ok(order));
}

#[test]
fn another_version_and_what_is_cut_or_too_long_is_refused() {
    let bytes = job().to_bytes().unwrap();
    let mut other = bytes.clone();
    other[0] += 1;
    assert_eq!(GuestJob::from_bytes(&other), Err(JobError::Foreign));
    assert_eq!(GuestJob::from_bytes(&bytes[..bytes.len() - 1]), Err(JobError::Foreign));
    let mut longer = bytes;
    longer.push(0);
    assert_eq!(GuestJob::from_bytes(&longer), Err(JobError::Foreign));
    assert_eq!(GuestJob::from_bytes(&[]), Err(JobError::Foreign));
    let values = [Value {
        place: DataRange { offset: 0, bytes: 1 },
        bytes: Vec::from_iter(core::iter::repeat_n(0, LETTER_BYTES_MAX)),
    }];
    let large = GuestOrder::Stage(GuestBuild { values: values.into(), ..build(0) });
    assert!(matches!(large.to_bytes(), Err(JobError::TooLong(_))));
}

#[test]
fn places_that_can_not_be_are_refused_and_named() {
    let refused = |build: GuestBuild| build.check().unwrap_err().to_string();
    let far = AddressRange { address: PROGRAM_CODE[0], bytes: PROGRAM_CODE_BYTES_MAX + 1 };
    assert!(refused(GuestBuild { code: far, ..build(0) }).starts_with("the program's code"));
    assert!(refused(GuestBuild { code: build(1).code, ..build(0) }).contains("code"));
    assert!(refused(GuestBuild { face: 0x10_0000, ..build(0) }).contains("face"));
    assert!(refused(GuestBuild { face: build(0).face + 1, ..build(0) }).contains("face"));
    let stage = Stage { slot: 2, ..Stage::default() };
    assert!(refused(GuestBuild { stage, ..build(0) }).contains("data"));
    for place in [
        AddressRange { address: CHANNELS - 4096, bytes: 4096 },
        AddressRange { address: CHANNELS + 1, bytes: 4096 },
        AddressRange { address: CHANNELS_END, bytes: 4096 },
        AddressRange { address: CHANNELS, bytes: u64::MAX },
    ] {
        let mut job = job();
        job.channels[0].place = place;
        assert_eq!(job.check(), Err(JobError::Place("a channel")), "{place:?}");
    }
    let alone = GuestJob { tasks: Vec::new(), ..job() };
    assert_eq!(alone.check(), Err(JobError::Tasks(TasksError::Count(0))));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in vec(any::<u8>(), 0..300)) {
        if let Some(first) = bytes.first_mut() {
            *first = VERSION;
        }
        let _ = GuestJob::from_bytes(&bytes);
        let _ = GuestOrder::from_bytes(&bytes);
    }

    #[test]
    fn a_job_with_wrong_bytes_is_read_or_refused(
        wrong in vec((any::<usize>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = job().to_bytes().unwrap();
        for (place, byte) in wrong {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        if let Ok(read) = GuestJob::from_bytes(&bytes) {
            prop_assert_eq!(read.check(), Ok(()));
        }
    }
}
