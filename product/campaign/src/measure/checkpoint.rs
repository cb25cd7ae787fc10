//! Checkpoints of a run: what it has measured so far is kept on the disk, in case the program is
//! killed or the machine dies before its end.
//!
//! ```text
//! look ─► due? ─► records, each after one cycle ─► thread ─► checkpoints/NAME.json, synchronised
//! ```
//!
//! A run is looked at ten times a second, and a disk may take longer than that: a thread of its own
//! writes. The partition does nothing for it.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use quietcore_evidence::{Checkpoints, Manifest, WriteError, Writer, read_record};
use quietcore_record::record::Record;
use quietcore_units::Nanos;

/// Time from the start of a run to its first checkpoint.
const FIRST: Nanos = Nanos::from_secs(5);
/// The longest time between two checkpoints; each is twice as long as the one before.
const EVERY: Nanos = Nanos::from_secs(30);
/// The reason noted for a run whose end nobody saw.
const CUT_OFF: &str = "cut off; what was measured until its last checkpoint is kept";

/// The checkpoints of a run in progress. They stay where they are when this is dropped.
#[derive(Debug)]
pub(crate) struct Checkpointing {
    records: Option<SyncSender<Vec<Record>>>,
    thread: Option<JoinHandle<()>>,
    due: Nanos,
    pause: Nanos,
}

impl Checkpointing {
    /// Begins with a run. Without a thread there are no checkpoints, and the run goes on.
    pub(crate) fn begin(checkpoints: Checkpoints, now: Nanos) -> Self {
        let (sender, receiver) = sync_channel(1);
        let work = move || write(&checkpoints, &receiver);
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(work).ok();
        Self { records: thread.is_some().then_some(sender), thread, due: now + FIRST, pause: FIRST }
    }

    /// Returns `true` if it is time for one.
    pub(crate) fn is_due(&self, now: Nanos) -> bool {
        self.records.is_some() && now >= self.due
    }

    /// Hands records over to be written. Where the disk is still busy with those before, the next
    /// look tries again.
    pub(crate) fn keep(&mut self, records: Vec<Record>, now: Nanos) {
        let sent = self.records.as_ref().map(|sender| sender.try_send(records));
        if let Some(Err(TrySendError::Full(_))) = sent {
            return;
        }
        self.pause = (self.pause * 2).min(EVERY);
        self.due = now + self.pause;
    }
}

impl Drop for Checkpointing {
    fn drop(&mut self) {
        self.records = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// Writes checkpoints until there are no more. One that can't be written is left out: the run goes
/// on, and a disk that refuses for ever is an error when the records themselves are written.
fn write(checkpoints: &Checkpoints, records: &Receiver<Vec<Record>>) {
    for record in records.iter().flatten() {
        let _ = checkpoints.keep(&record);
    }
}

/// Makes the checkpoints of a run that was cut off its records, as of a part that was interrupted,
/// and notes that in the manifest.
///
/// # Errors
/// [`WriteError`]; the checkpoints are still there then.
pub(crate) fn take_up(writer: &Writer, manifest: &mut Manifest) -> Result<(), WriteError> {
    let checkpoints = Checkpoints::of(writer.root());
    let mut is_any = false;
    for mut record in checkpoints.read() {
        let mut entries = manifest.not_measured.iter_mut();
        let Some(entry) =
            entries.find(|it| it.profile == record.profile && it.partition == record.partition)
        else {
            continue;
        };
        let earlier = read_record(writer.root(), &record.name);
        // A record of the same start has all of the checkpoint's cycles, and more.
        let is_newer = |it: &Record| it.conditions.started_at == record.conditions.started_at;
        if earlier.as_ref().is_some_and(is_newer) {
            continue;
        }
        if let Some(earlier) = earlier {
            record.absorb(earlier);
        }
        writer.record(&record)?;
        CUT_OFF.clone_into(&mut entry.because);
        is_any = true;
    }
    if is_any {
        writer.manifest(manifest)?;
    }
    checkpoints.clear()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicBool;

    use quietcore_evidence::read_manifest;
    use quietcore_record::record::Record;

    use super::*;
    use crate::campaign::{Campaign, Outcome};
    use crate::observer::{Advance, Observer, Progress};
    use crate::run::Run;
    use crate::world::simulated::{Simulated, Told, begun, runs};

    const NAME: &str = "axis.tp1.task0";

    /// An observer that dies in the middle of the first run.
    struct Killed(u32);

    impl Observer for Killed {
        fn step(&mut self, _: &str) {}
        fn tell(&mut self, _: &str) {}
        fn begin(&mut self, _: &Run) {}
        fn progress(&mut self, _: Progress) {
            self.0 = self.0.checked_sub(1).expect("killed, as planned");
        }
        fn fault(&mut self, _: &Run, _: &str, _: &str) {}
        fn advance(&mut self, _: &Advance<'_>) {}
        fn end(&mut self, _: &Run, _: &[Record]) {}
        fn failed(&mut self, _: &Run, _: &str) {}
    }

    /// Goal: what a run has measured until its last checkpoint survives its death, is evidence, and
    /// the record says how much of it there is.
    #[test]
    fn a_run_that_is_cut_off_keeps_what_its_last_checkpoint_has() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("evidence");
        let (world, stop) = (Simulated::on_time(), AtomicBool::new(false));
        let mut campaign = begun(&root);
        let died = catch_unwind(AssertUnwindSafe(|| {
            world.with_machine(|machine| campaign.measure_all(machine, &mut Killed(450), &stop))
        }));
        assert!(died.is_err());
        drop(campaign);
        let kept = Checkpoints::of(&root).read();
        assert_eq!(kept.len(), 1);
        let cycles = kept[0].release.count();
        assert!(kept[0].interrupted && kept[0].invalid_because.is_empty(), "{:?}", kept[0]);
        assert!((3_000..=45_000).contains(&cycles), "{cycles} cycles");

        let (writer, manifest) = (Writer::open(&root).unwrap(), read_manifest(&root).unwrap());
        let mut campaign = Campaign::resume(writer, manifest, "", "", runs(), Vec::new()).unwrap();
        let noted = read_manifest(&root).unwrap().not_measured;
        assert!(noted.iter().any(|entry| entry.because == CUT_OFF), "{noted:?}");
        let told = &mut Told::default();
        let outcome = world.with_machine(|machine| campaign.measure_all(machine, told, &stop));
        assert_eq!(outcome.unwrap(), Outcome::Completed);
        let whole = read_record(&root, &kept[0].name).unwrap();
        assert_eq!(whole.release.count(), cycles + 60_000);
        assert_eq!(whole.conditions.earlier_part.map(|part| part.cycles), Some(cycles));
        assert!(!root.join("checkpoints").exists());
    }

    /// Goal: a death between the record of a run and the end of its checkpoints counts no cycle
    /// twice, and what is no checkpoint of what is left to measure is not taken up.
    #[test]
    fn a_checkpoint_of_a_record_that_is_there_is_not_taken_up_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("evidence");
        let (world, stop) = (Simulated::on_time(), AtomicBool::new(false));
        let mut campaign = begun(&root);
        let told = &mut Told::default();
        world.with_machine(|machine| campaign.measure_all(machine, told, &stop)).unwrap();
        drop(campaign);
        let (writer, mut manifest) = (Writer::open(&root).unwrap(), read_manifest(&root).unwrap());
        let record = read_record(&root, NAME).unwrap();
        let checkpoints = Checkpoints::of(&root);
        checkpoints.keep(&record).unwrap();
        std::fs::write(root.join("checkpoints/torn.json"), "{").unwrap();
        take_up(&writer, &mut manifest).unwrap();
        assert_eq!(read_record(&root, NAME).unwrap(), record);
        assert!(manifest.not_measured.is_empty() && checkpoints.read().is_empty());
    }
}
