//! `quietcore down`

use super::site;
use crate::arguments::Down;
use crate::command;
use crate::status::{Failure, Status};

pub(in crate::command) fn run(request: &Down) -> Result<Status, Failure> {
    let client = site::named(request.site.name())?;
    let name = client.site().to_owned();
    client.down()?;
    command::print(&format!("{name}: down\n"))?;
    Ok(Status::Done)
}
