//! The machine's clocks: reading them, sleeping on them, and finding out whether their time is real.

mod calibration;

pub use calibration::{
    BUDGET, COUNTED_BELOW, Cost, INTERPRETED_BELOW, SUSPICIONS_NEEDED, Sequence, TimeCalibration,
    TimeVerdict,
};
