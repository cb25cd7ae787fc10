//! Orders that follow the job: new builds, staged while the tasks run.
//!
//! ```text
//! line on the pipe ─ free slot? ─ load, initialize, values ─ slot ─ event `staged` ─ (host: Swap)
//!                        │              └ refused: event, and the reason as a remark
//!     │                  └ the build before is on probation: refused
//!     └ a lock of a library is held: refused unread, as reading allocates
//! ```

use std::io::{BufRead, Read as _};
use std::string::{String, ToString as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use std::vec::Vec;

use arc_swap::ArcSwapOption;
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::{EventWriter, Happening};
use quietcore_process::remark::remark;

use crate::process::job::{Build, LINE_BYTES_MAX, Order};
use crate::process::library;
use crate::process::loading::{Loader, Refusal, Slots};
use crate::shared::Shared;

/// Orders that wait while one is carried out.
const WAITING_MAX: usize = 4;
/// The pause between two looks for the end of the tasks.
const LOOK: Duration = Duration::from_millis(20);
/// Told as the generation where the order was not read: it is about whichever is on its way.
const UNREAD: u32 = 0;
/// The longest that a task may hold on to a build that no longer runs.
const RELEASE_MAX: Duration = Duration::from_secs(2);

/// The lines that come after the job.
#[derive(Debug)]
pub struct Orders {
    lines: Receiver<Vec<u8>>,
}

/// The outcome of waiting for an order.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Taken {
    /// An order that could be read.
    Order(Order),
    /// A line that is no order, and why.
    Unreadable(String),
    /// No order came in time.
    Nothing,
    /// No order will come any more.
    Closed,
}

/// Reads lines until the pipe closes, and passes them on. Returns when it has closed.
pub fn read_lines(input: &mut impl BufRead, sender: &SyncSender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        let limited = input.take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
        if !matches!(limited, Ok(bytes) if bytes > 0) {
            return;
        }
        // Nobody takes orders any more: the tasks have ended.
        if sender.send(line).is_err() {
            return;
        }
    }
}

impl Orders {
    /// Returns the sending end for lines, and the orders that read them.
    pub fn channel() -> (SyncSender<Vec<u8>>, Self) {
        let (sender, lines) = sync_channel(WAITING_MAX);
        (sender, Self { lines })
    }

    /// Waits for the next order.
    pub fn take(&self, patience: Duration) -> Taken {
        match self.lines.recv_timeout(patience) {
            Ok(line) => match serde_json::from_slice(&line) {
                Ok(order) => Taken::Order(order),
                Err(error) => Taken::Unreadable(error.to_string()),
            },
            Err(RecvTimeoutError::Timeout) => Taken::Nothing,
            Err(RecvTimeoutError::Disconnected) => Taken::Closed,
        }
    }

    /// Carries out orders until the tasks are `over`, and tells what comes of them.
    pub(crate) fn serve(
        &self,
        loader: &Loader<'_>,
        slots: &Slots,
        shared: &Shared,
        events: &mut EventWriter<'_>,
        over: impl Fn() -> bool,
    ) {
        while !over() {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => {
                    carry_out(&line, loader, slots, shared, events, &over);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The host has gone; the process ends in a moment.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
            }
        }
        if library::is_held() {
            library::end_with_tasks(loader.region, over);
        }
    }
}

fn carry_out(
    line: &[u8],
    loader: &Loader<'_>,
    slots: &Slots,
    shared: &Shared,
    events: &mut EventWriter<'_>,
    over: impl Fn() -> bool,
) {
    let task = loader.region.layout().shape.task_count;
    let is_held = library::wait_until_known(library::EXAMINATION_MAX);
    let (generation, result) = match read(line, is_held) {
        Ok(Order::Stage(build)) => {
            (build.stage.generation, stage(&build, loader, slots, shared, events))
        }
        Ok(Order::Deliver { build, .. }) => {
            (build.stage.generation, Err("it is for a guest, and this is a process".into()))
        }
        Err(refusal) => (UNREAD, Err(refusal)),
    };
    let what = match &result {
        Ok(()) => Happening::Staged { generation },
        Err(why) => {
            remark(format_args!("build {generation} is refused: {why}"));
            Happening::StageRefused { generation }
        }
    };
    events.tell(0, Monotonic.now(), task, what);
    if matches!(result, Err(Refusal::Held(_) | Refusal::HeldBefore)) {
        // Not even the order can be given back.
        library::end_with_tasks(loader.region, over);
    }
}

/// Reads an order, unless a lock of a library may be held: reading allocates, and would never end
/// then.
fn read(line: &[u8], is_held: bool) -> Result<Order, Refusal> {
    if is_held {
        return Err(Refusal::HeldBefore);
    }
    serde_json::from_slice(line).map_err(|error| std::format!("this is no order: {error}").into())
}

/// Loads a build into the slot that is free.
fn stage(
    build: &Build,
    loader: &Loader<'_>,
    slots: &Slots,
    shared: &Shared,
    events: &mut EventWriter<'_>,
) -> Result<(), Refusal> {
    let free = build.stage.check_free(shared.active(), shared.is_on_probation());
    free.map_err(|why| why.to_string())?;
    let place = &slots[usize::from(build.stage.slot)];
    clear(place, RELEASE_MAX)?;
    place.store(Some(loader.load(build, events)?));
    Ok(())
}

/// Waits until no task holds the build in `place` any more, and unloads it. It stays where one
/// does: its data are in use, and whoever lets go of it last must be the thread that calls this.
fn clear<T>(place: &ArcSwapOption<T>, patience: Duration) -> Result<(), String> {
    let Some(mut build) = place.swap(None) else { return Ok(()) };
    let end = Instant::now() + patience;
    loop {
        match Arc::try_unwrap(build) {
            Ok(last) => {
                drop(last);
                return Ok(());
            }
            Err(held) => build = held,
        }
        if Instant::now() > end {
            place.store(Some(build));
            return Err("a task still holds the build that was in the slot".to_string());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_not_read_while_a_lock_is_held() {
        let refused = |is_held| read(b"no order", is_held).unwrap_err();
        assert!(matches!(refused(true), Refusal::HeldBefore));
        assert!(refused(false).to_string().starts_with("this is no order: "));
    }

    #[test]
    fn a_build_that_a_task_holds_stays_in_its_slot_until_that_lets_go() {
        let build = Arc::new(7);
        let place = ArcSwapOption::new(Some(Arc::clone(&build)));
        assert!(clear(&place, Duration::ZERO).unwrap_err().contains("still holds"));
        assert_eq!(place.load().as_deref(), Some(&7), "whoever holds it last is not a task");
        drop(build);
        assert_eq!(clear(&place, Duration::ZERO), Ok(()));
        assert!(place.load().is_none());
        assert_eq!(clear(&place, Duration::ZERO), Ok(()), "nothing to clear");
    }
}
