//! `quietcore init`

use crate::arguments::Init;
use crate::machine;
use crate::status::{Failure, Status};

pub(super) fn run(request: &Init) -> Result<Status, Failure> {
    let machine = machine::read_facts(&*machine::stop_flag()?)?.machine();
    super::print(&quietcore_site::init(&machine, request.example))?;
    Ok(Status::Done)
}
