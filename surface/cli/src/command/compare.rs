//! `quietcore compare`

use crate::arguments::Compare;
use crate::status::{Failure, Status};

pub(super) fn run(_request: &Compare) -> Result<Status, Failure> {
    Err(Failure::new("pending"))
}
