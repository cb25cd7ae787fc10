//! Where a partition's keeper and the monitor meet.
//!
//! The keeper puts the process that runs there and takes it away before it ends it; the monitor
//! looks at what is there, and tells the keeper what it saw. The monitor never waits at a post, and
//! the keeper for as long as a look takes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use quietcore_backend::process::hold::Holder;
use quietcore_site::Partition;
use quietcore_units::Nanos;

use super::judge::{Kind, Verdict};

/// What may wait to be heard by a keeper, which listens a hundred times a second; what has no room
/// is left out.
const TOLD_MAX: usize = 256;

/// What the monitor tells a keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Its partition was late, which is to be reported.
    Late(Verdict),
    /// Its partition was late, and shall be restarted.
    Restart(Verdict),
    /// For its partition so many others stand since `reaction` after it was late.
    Sheds { verdict: Verdict, victims: u32, reaction: Nanos },
    /// Its partition is shed.
    Shed { by: u32, kind: Kind, throttled: bool },
    /// Its partition was given back after this long.
    Back { after: Nanos },
    /// The kernel refused to stop its partition, or to let it go on.
    Refused { error: i32 },
}

/// A process that can be watched and held.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) holder: Holder,
    /// Whether the monitor has not looked at it yet.
    pub(super) is_new: bool,
}

/// The post of one partition.
#[derive(Debug)]
pub(crate) struct Post {
    /// The names of all partitions.
    names: Arc<[String]>,
    place: Mutex<Option<Attached>>,
    tell: SyncSender<Told>,
    hear: Mutex<Receiver<Told>>,
    /// 1 + the number of the partition for which this one is shed; zero while it is not.
    shed_by: AtomicU32,
}

/// A post for each partition.
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
    /// The keeper puts the process that runs now.
    pub(crate) fn put(&self, holder: Holder) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Attached { holder, is_new: true });
    }

    /// The keeper takes it away. It stands no longer.
    pub(crate) fn take(&self) {
        let taken = self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(taken);
    }

    /// The next that the monitor has told.
    pub(crate) fn hear(&self) -> Option<Told> {
        self.hear.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }

    /// The name of the partition for which this one is shed.
    pub(crate) fn shed_by(&self) -> Option<&str> {
        let index = self.shed_by.load(Ordering::Acquire).checked_sub(1)?;
        Some(self.name(index))
    }

    /// The name of a partition by its number.
    pub(crate) fn name(&self, index: u32) -> &str {
        self.names.get(index as usize).map_or("?", String::as_str)
    }

    /// What is there; `None` while the keeper is at it.
    pub(super) fn try_look(&self) -> Option<MutexGuard<'_, Option<Attached>>> {
        match self.place.try_lock() {
            Ok(place) => Some(place),
            Err(TryLockError::Poisoned(place)) => Some(place.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn tell(&self, told: Told) {
        // A keeper that does not listen has other troubles, which it tells itself.
        let _ = self.tell.try_send(told);
    }

    pub(super) fn set_shed_by(&self, index: Option<usize>) {
        let word = index.map_or(0, |index| index as u32 + 1);
        self.shed_by.store(word, Ordering::Release);
    }

    /// Lets go what is there, whoever is at it.
    pub(super) fn let_go(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(attached) = &mut *place {
            // Where the kernel refuses that, stopping the partition ends its process by force.
            let _ = attached.holder.wake();
            attached.holder.go_on();
        }
        drop(place);
        self.set_shed_by(None);
    }
}
