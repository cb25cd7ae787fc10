//! The meeting point of a partition's keeper and the monitor.
//!
//! The keeper puts its running process there, and takes it away before it ends it. The monitor
//! looks at the process that is there, and reports to the keeper. The monitor never waits at a
//! post; the keeper waits for a look at most.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use quietcore_backend::process::hold::Holder;
use quietcore_site::Partition;
use quietcore_units::Nanos;

use super::judge::{Kind, Verdict};

/// Limit of the reports that wait for a keeper, which reads them a hundred times a second; a
/// further one is dropped.
const TOLD_MAX: usize = 256;

/// The reports of the monitor to a keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MonitorNotice {
    /// The partition was late, which is to be reported.
    Late(Verdict),
    /// The partition was late, and shall be restarted.
    Restart(Verdict),
    /// Others were held for the partition: `victims` of them, the last `reaction` after it was
    /// late.
    Sheds { verdict: Verdict, victims: u32, reaction: Nanos },
    /// The partition is shed for the one of index `by`.
    Shed { by: u32, kind: Kind, throttled: bool },
    /// The partition was given back after this time.
    Back { after: Nanos },
    /// The kernel refused to stop the partition, or to let it go on, with this error number.
    Refused { error: i32 },
}

/// A process that can be watched and held.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) holder: Holder,
    /// `true` if the monitor has not looked at it yet.
    pub(super) is_new: bool,
}

/// The post of one partition.
#[derive(Debug)]
pub(crate) struct Post {
    /// Names of all partitions.
    names: Arc<[String]>,
    place: Mutex<Option<Attached>>,
    tell: SyncSender<MonitorNotice>,
    hear: Mutex<Receiver<MonitorNotice>>,
    /// One more than the index of the partition for which this one is shed; zero while it is not.
    shed_by: AtomicU32,
}

/// Makes a post for each partition.
pub(super) fn all(partitions: &[Partition]) -> Vec<Arc<Post>> {
    let names: Arc<[String]> = partitions.iter().map(|one| one.name.clone()).collect();
    let post = |_: &Partition| {
        let (tell, hear) = sync_channel(TOLD_MAX);
        let (place, hear, shed_by) = (Mutex::new(None), Mutex::new(hear), AtomicU32::new(0));
        Arc::new(Post { names: Arc::clone(&names), place, tell, hear, shed_by })
    };
    partitions.iter().map(post).collect()
}

impl Post {
    /// Puts the running process there; called by the keeper.
    pub(crate) fn put(&self, holder: Holder) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Attached { holder, is_new: true });
    }

    /// Takes the process away, which is not held any longer; called by the keeper.
    pub(crate) fn take(&self) {
        let taken = self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(taken);
    }

    /// Returns the next report of the monitor, if there is one.
    pub(crate) fn hear(&self) -> Option<MonitorNotice> {
        self.hear.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }

    /// Returns the name of the partition for which this one is shed.
    pub(crate) fn shed_by(&self) -> Option<&str> {
        let index = self.shed_by.load(Ordering::Acquire).checked_sub(1)?;
        Some(self.name(index))
    }

    /// Returns the name of a partition by its index.
    pub(crate) fn name(&self, index: u32) -> &str {
        self.names.get(index as usize).map_or("?", String::as_str)
    }

    /// Locks the place of the process; returns `None` while the keeper is using it.
    pub(super) fn try_look(&self) -> Option<MutexGuard<'_, Option<Attached>>> {
        match self.place.try_lock() {
            Ok(place) => Some(place),
            Err(TryLockError::Poisoned(place)) => Some(place.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn tell(&self, told: MonitorNotice) {
        // A keeper that does not read its reports has other troubles, which it reports itself.
        let _ = self.tell.try_send(told);
    }

    pub(super) fn set_shed_by(&self, index: Option<usize>) {
        let word = index.map_or(0, |index| index as u32 + 1);
        self.shed_by.store(word, Ordering::Release);
    }

    /// Lets go the process that is there, even if it must wait for the keeper.
    pub(super) fn let_go(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(attached) = &mut *place {
            // Where the kernel refuses that, stopping the partition kills its process.
            let _ = attached.holder.wake();
            attached.holder.go_on();
        }
        drop(place);
        self.set_shed_by(None);
    }
}
