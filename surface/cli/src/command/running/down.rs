//! `quietcore down`

use quietcore_backend::container::Cleared;
use quietcore_host::controls::resctrl::{self, Swept};
use quietcore_supervisor::places::Places;
use quietcore_wording::plural;

use super::site;
use crate::arguments::Down;
use crate::command;
use crate::machine;
use crate::status::{Failure, Status};

pub(in crate::command) fn run(request: &Down) -> Result<Status, Failure> {
    let client = match site::named(request.site.name()) {
        Ok(client) => client,
        // What a supervisor that was killed has left can be all that is to be brought down.
        Err(failure) => return if recover()? { Ok(Status::Done) } else { Err(failure) },
    };
    let name = client.site().to_owned();
    client.down()?;
    command::print(&format!("{name}: down\n"))?;
    recover()?;
    Ok(Status::Done)
}

/// Removes what supervisors that were killed have left. Whether there was anything.
fn recover() -> Result<bool, Failure> {
    let containers = clear_containers()?;
    let shares = give_back_shares()?;
    Ok(put_back()? || containers || shares)
}

/// Removes containers whose owner is gone.
fn clear_containers() -> Result<bool, Failure> {
    let Some(folder) = Places::of_environment()?.containers()? else { return Ok(false) };
    let cleared = quietcore_backend::container::clear(&folder);
    cleared.left.iter().for_each(crate::terminal::say);
    for name in &cleared.gone {
        command::print(&format!("{name}: the container is removed\n"))?;
    }
    Ok(cleared != Cleared::default())
}

/// Gives back parts of the last-level cache and limits of the memory's bandwidth whose owner is
/// gone.
fn give_back_shares() -> Result<bool, Failure> {
    let Swept { gone, left } = resctrl::recover();
    left.iter().for_each(crate::terminal::say);
    if gone > 0 {
        let plural = plural(gone as u64);
        let text = format!("resctrl: {gone} group{plural} of partitions that are gone removed\n");
        command::print(&text)?;
    }
    Ok(gone > 0 || !left.is_empty())
}

/// Puts back settings of the machine whose owner is gone.
fn put_back() -> Result<bool, Failure> {
    let Some(controls) = machine::changed()? else { return Ok(false) };
    let recovery =
        controls.recover().map_err(|error| Failure::new(format!("quietcore: {error}")))?;
    for left in &recovery.left {
        crate::terminal::say(left);
    }
    let are = if recovery.left.is_empty() { "are" } else { "are, but for these," };
    for name in &recovery.gone {
        command::print(&format!("{name}: the machine's settings {are} as they were\n"))?;
    }
    Ok(!recovery.gone.is_empty() || !recovery.left.is_empty())
}
