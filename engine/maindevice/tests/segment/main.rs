//! The MainDevice against the simulated segment, in one process and on a clock without a machine.

mod bring_up;
mod supervision;
mod support;
