//! The loader: brings the first build into its slot, has the tasks begin, and is there for orders.
//!
//! ```text
//! order ─ free slot? ─ load, initialize, values ─ slot ─ event `staged` ─ (host: Swap)
//!            │              └ refused: event, and the reason on the console
//!            └ the build before is on probation: refused
//! ```
//!
//! It runs below all tasks, in the time that they leave, so that none waits for it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use core::fmt::Write as _;

use quietcore_boot::port;
use quietcore_exchange::{EventWriter, Happening};
use quietcore_scan::guest::job::{GuestBuild, GuestOrder};
use quietcore_scan::program::NoFieldbus;
use quietcore_scan::release::Rest as _;
use quietcore_units::Nanos;

use crate::host;
use crate::partition::LOADER;
use crate::partition::board::{self, TaskClock};
use crate::partition::program::leave;
use crate::partition::start::BringUp;
use crate::partition::state::{PartitionState, state};

/// Time from the last preparation to the first release.
const START_DELAY: Nanos = Nanos::from_micros(100);

/// Says something on the console; it leaves the guest once.
pub(crate) fn say(text: &str) {
    // There is nobody to be told that the console failed.
    let _ = host::Console.write_str(&format!("{text}\n"));
}

/// The loader's task. Does not return.
pub(crate) fn serve(bring_up: BringUp) -> ! {
    let state = state();
    let clock = TaskClock::new(LOADER, state.job.cpu);
    let writer = state.region.layout().shape.task_count;
    let Some(mut events) = state.region.event_writer(writer) else {
        say("the exchange has no place for the partition's own events");
        host::end(port::REFUSED)
    };
    if let Err(why) = begin(state, bring_up, &mut events) {
        say(&why);
        host::end(port::REFUSED);
    }
    state.set_start(Nanos::new(board::now()) + START_DELAY);
    for context in (0..state.job.tasks.len()).rev() {
        board::activate(context);
    }
    while !state.is_done() {
        take_orders(state, &mut events);
        clock.wait();
    }
    // All other tasks have ended: they are above this one.
    for slot in 0..2 {
        drop(state.put(slot, None));
    }
    host::end(port::ENDED)
}

/// Loads the first build and brings up the fieldbus, as late as can be.
fn begin(
    state: &PartitionState,
    bring_up: BringUp,
    events: &mut EventWriter<'_>,
) -> Result<(), String> {
    let build = &state.job.build;
    let first = state.loader.load(build, events)?;
    drop(state.put(build.stage.slot, Some(first)));
    let fieldbus = match &state.job.fieldbus {
        Some(words) => bring_up(words, state.region, state.clock, rest_until)?,
        None => Box::new(NoFieldbus),
    };
    state.fieldbus.set(Some(fieldbus));
    Ok(())
}

/// Lets the host have the processor until an instant, or until the loader is woken.
fn rest_until(instant: Nanos) {
    TaskClock::new(LOADER, state().job.cpu).nap_until(instant);
}

/// Carries out the orders that wait.
fn take_orders(state: &PartitionState, events: &mut EventWriter<'_>) {
    let mut post = state.post.borrow_mut();
    loop {
        let order = match post.waiting() {
            Ok(None) => return,
            Ok(Some(bytes)) => {
                let mut place = vec![0; bytes];
                let taken = post.take(&mut place).map_err(|why| why.to_string());
                taken.and_then(|letter| {
                    GuestOrder::from_bytes(letter.unwrap_or(&[])).map_err(|why| why.to_string())
                })
            }
            Err(why) => Err(why.to_string()),
        };
        let (generation, result) = match order {
            Ok(GuestOrder::Stage(build)) => {
                (build.stage.generation, stage(state, &build, events).map_err(Some))
            }
            // The host has said why.
            Ok(GuestOrder::Refuse(generation)) => (generation, Err(None)),
            Err(why) => (0, Err(Some(format!("this is no order: {why}")))),
        };
        let what = match result {
            Ok(()) => Happening::Staged { generation },
            Err(why) => {
                if let Some(why) = why {
                    say(&format!("build {generation} is refused: {why}"));
                }
                Happening::StageRefused { generation }
            }
        };
        let task = state.region.layout().shape.task_count;
        events.tell(0, Nanos::new(board::now()), task, what);
    }
}

/// Loads a build into the slot that is free.
fn stage(
    state: &PartitionState,
    build: &GuestBuild,
    events: &mut EventWriter<'_>,
) -> Result<(), String> {
    let (slot, shared) = (build.stage.slot, &state.shared);
    let free = build.stage.check_free(shared.active(), shared.is_on_probation());
    free.map_err(|why| why.to_string())?;
    // The host has put the new one where its code was, so it is not ended but left.
    if let Some(former) = state.put(slot, None) {
        leave(*former);
    }
    let loaded = state.loader.load(build, events)?;
    drop(state.put(slot, Some(loaded)));
    Ok(())
}
