//! The commands for running sites, one file each.

pub(super) mod change;
pub(super) mod down;
pub(super) mod events;
pub(super) mod ps;
mod site;
mod timing;
pub(super) mod top;
pub(super) mod trace;
pub(super) mod up;
pub(super) mod watch;
