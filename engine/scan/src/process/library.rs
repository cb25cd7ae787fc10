//! Finds out whether the libraries of this process can be used after a call was cut off in one.
//!
//! ```text
//! task      fault, not within the program's own code ── held, wake ──► fault told, outputs set, …
//! examiner                                                  └─► takes each lock ─ free
//!                                                               └ never comes back: stays held
//! ```
//!
//! Until it is known to be free nothing of this process may allocate, load or print, but for what
//! does so without the C library; the tasks go on, as they need nothing of it.
//!
//! Free locks don't make a library sound: what it keeps for a thread has none, and may have been
//! left half done. So a program in fault whose process had such a trouble is started anew in
//! another process, which is the host's matter. A build that was taken back for the one before is
//! only kept from being followed by another one where a lock is held.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use quietcore_exchange::{Region, TaskState};
use quietcore_process::{guard, locks};

/// The longest time that a lock of a library may take that others use.
pub(crate) const EXAMINATION_MAX: Duration = Duration::from_millis(300);
/// Time between two looks for its end.
const LOOK: Duration = Duration::from_millis(1);
/// The longest time that the tasks may take to end when they are told to.
const TASKS_END_MAX: Duration = Duration::from_millis(500);
const STACK_BYTES: usize = 64 << 10;

/// The examiner of this process.
static EXAMINER: OnceLock<Examiner> = OnceLock::new();
/// Calls that were cut off in a library.
static TROUBLES: AtomicU64 = AtomicU64::new(0);
/// The last of them after which all locks were found free.
static FREE: AtomicU64 = AtomicU64::new(0);

struct Examiner {
    region: Region<'static>,
    thread: Thread,
}

/// Starts the thread that examines; once in a process, before its first call into a program.
///
/// # Errors
/// There is no thread for it.
pub(crate) fn begin(region: Region<'static>) -> io::Result<()> {
    let examiner = thread::Builder::new().name("examiner".to_owned()).stack_size(STACK_BYTES);
    let thread = examiner.spawn(move || examine_for_ever(region))?.thread().clone();
    EXAMINER.get_or_init(|| Examiner { region, thread });
    Ok(())
}

fn examine_for_ever(region: Region<'static>) {
    loop {
        // Those that come from here on are examined next.
        let troubles = TROUBLES.load(Ordering::Acquire);
        if troubles == FREE.load(Ordering::Relaxed) {
            thread::park();
            continue;
        }
        locks::pass();
        FREE.store(troubles, Ordering::Release);
        region.set_library_free(troubles);
    }
}

/// A call was cut off in a library: has it examined. It neither allocates nor waits.
pub(crate) fn examine() {
    let Some(Examiner { region, thread }) = EXAMINER.get() else { return };
    let trouble = TROUBLES.fetch_add(1, Ordering::AcqRel) + 1;
    region.set_library_trouble(trouble);
    thread.unpark();
}

/// Returns whether a lock may be held for ever.
pub(crate) fn is_held() -> bool {
    let free = FREE.load(Ordering::Acquire);
    TROUBLES.load(Ordering::Acquire) != free
}

/// Waits until that is known, for `longest` at most. Returns whether a lock is held.
pub(crate) fn wait_until_known(longest: Duration) -> bool {
    let looks = longest.as_millis() / LOOK.as_millis();
    for _ in 0..looks {
        if !is_held() {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

/// Ends the process when its tasks have ended, without anything of its libraries.
pub(crate) fn end_with_tasks(region: Region<'_>, over: impl Fn() -> bool) -> ! {
    while !over() {
        thread::sleep(LOOK);
    }
    let looks = TASKS_END_MAX.as_millis() / LOOK.as_millis();
    let ended = |state: TaskState| state == TaskState::Unused || state.has_ended();
    for _ in 0..looks {
        if region.tasks().all(|task| ended(task.state())) {
            break;
        }
        thread::sleep(LOOK);
    }
    guard::end_process(0)
}

#[cfg(test)]
mod tests;
