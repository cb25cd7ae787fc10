//! Results from elsewhere: of another run, of a published table, of another program.

pub(super) mod compare;
pub(super) mod import;
mod tables;

use super::{print, print_json, show};
