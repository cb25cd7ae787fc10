//! The rows of a guest's exchange that hold its round trips.
//!
//! | row | a value | beside it |
//! |---|---|---|
//! | 0 | the round trip of a cycle that lost nothing | overruns: wrong working counters; skipped releases: cycles that lost a frame |
//! | 1 | the time of [`WINDOW_CYCLES`](super::WINDOW_CYCLES) cycles | |
//! | 2 | the time of the whole measurement, once | |
//!
//! A value stands there as a release latency. The number of SubDevices is that of the fieldbus's
//! status, and alarms are events of the first task. The row of round trips has its state last, so
//! that whoever finds it ended finds all else whole.

use quietcore_exchange::{
    EventWriter, FieldbusStatus, Happening, Recorder, Region, Release, SLOT_COUNT, Shape, TaskState,
};
use quietcore_fieldbus::happening;
use quietcore_maindevice::Alarm;
use quietcore_units::Nanos;

use super::{End, Plan, RoundTripLog};

/// The row of round trips, that of windows, and that of the whole measurement.
pub(crate) const ROUND_TRIPS: u32 = 0;
pub(crate) const WINDOWS: u32 = 1;
pub(crate) const WHOLE: u32 = 2;
/// The shape of such an exchange. Of its alarms the first is of interest, and few are kept.
pub const SHAPE: Shape = Shape { event_slots: 64, ..Shape::of_tasks(3) };

/// No time is too late here: without a period a round trip is due when it comes.
const NO_PERIOD: Nanos = Nanos::MAX;

/// Writes round trips into an exchange of this [`SHAPE`].
pub struct RowLog<'region> {
    region: Region<'region>,
    round_trips: Recorder<'region>,
    windows: Recorder<'region>,
    whole: Recorder<'region>,
    events: EventWriter<'region>,
    alarms: u64,
}

impl<'region> RowLog<'region> {
    /// Takes the rows over and clears them. Returns `None` for an exchange of another shape.
    pub fn new(region: Region<'region>, plan: &Plan) -> Option<Self> {
        let slot_cycles = plan.cycles.div_ceil(SLOT_COUNT as u64);
        let row = |row, period| Some(Recorder::new(region.task(row)?, period, slot_cycles));
        Some(Self {
            round_trips: row(ROUND_TRIPS, plan.period.unwrap_or(NO_PERIOD))?,
            windows: row(WINDOWS, NO_PERIOD)?,
            whole: row(WHOLE, NO_PERIOD)?,
            events: region.event_writer(0)?,
            region,
            alarms: 0,
        })
    }

    /// Says that the SubDevices are in OP, and how many there are.
    pub fn begin(&mut self, subdevices: u16) {
        self.region.set_fieldbus(FieldbusStatus { subdevices, ..FieldbusStatus::default() });
        self.round_trips.set_state(TaskState::Running);
    }

    /// Says how it ended; no value comes any more.
    pub fn end(mut self, end: End) {
        let state = if end.stopped { TaskState::Stopped } else { TaskState::Finished };
        self.whole.record(&time(end.elapsed));
        for row in [&mut self.whole, &mut self.windows, &mut self.round_trips] {
            row.set_state(state);
        }
    }
}

/// Returns a time as a release latency.
fn time(time: Nanos) -> Release {
    Release::unawaited(Nanos::ZERO, time, 0)
}

impl RoundTripLog for RowLog<'_> {
    #[inline]
    fn round_trip(&mut self, round_trip: Nanos, is_complete: bool) {
        let nothing = Nanos::ZERO;
        self.round_trips.record_scan(&time(round_trip), nothing, nothing, !is_complete);
    }

    fn lost(&mut self) {
        self.round_trips.note_skipped_releases(1);
    }

    fn window(&mut self, window: Nanos) {
        self.windows.record(&time(window));
    }

    fn alarm(&mut self, alarm: &Alarm) {
        let lost = |frames: u16| Happening::FieldbusLost { frames: u64::from(frames) };
        let what = match alarm {
            Alarm::Lost { frames } => Some(lost(*frames)),
            alarm => happening(alarm),
        };
        // The first ones are kept: a ring would overwrite them with the last.
        if let Some(what) = what
            && self.alarms < u64::from(SHAPE.event_slots)
        {
            self.alarms += 1;
            self.events.tell(0, Nanos::ZERO, 0, what);
        }
    }
}
