//! Changing calls in the audit trail: the intention before, the outcome after.
//!
//! ```text
//! change ─► thread `audit`: intention ─► act ─► thread `audit`: outcome ─► answer
//! ```
//!
//! SQLite waits for the disk, so one thread has the trail. It opens and checks it when the daemon
//! starts; changing calls wait for that, reading ones do not. A call goes on to its outcome when
//! its client has gone.

use std::path::PathBuf;
use std::thread;

use quietcore_audit::{
    Intended, Intention, OnDisk, Outcome, Refusal, Retention, Trail, TrailError,
};
use quietcore_supervisor::control::{Answer, Verb};
use quietcore_supervisor::places::{PlaceError, Places};
use quietcore_units::Causes;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tonic::{Code, Status};

use crate::caller::Caller;
use crate::log;
use crate::sites::Sites;

/// The most entries that wait for the trail; a further call waits before that.
const WAITING_MAX: usize = 64;

/// Work on the trail.
type Work = Box<dyn FnOnce(&mut Keeper) + Send>;

/// The way from calls to the audit trail.
#[derive(Clone, Debug)]
pub(crate) struct Audit {
    work: mpsc::Sender<Work>,
}

/// The reason why an entry can't be written.
#[derive(Debug, thiserror::Error)]
enum AuditError {
    /// There is no folder for it.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The trail takes no entry now.
    #[error(transparent)]
    Trail(#[from] TrailError),
}

/// The trail, as its thread has it.
struct Keeper {
    places: Places,
    retention: Retention,
    trail: Option<Trail>,
}

impl Keeper {
    /// Returns the trail, whose folder may have to be made first.
    fn trail(&mut self) -> Result<&mut Trail, AuditError> {
        let folder = self.places.daemon_state()?;
        Ok(self.trail.get_or_insert_with(|| Trail::new(&folder, self.retention)))
    }

    fn open(&mut self) -> Result<(), AuditError> {
        Ok(self.trail()?.open()?)
    }
}

impl Audit {
    /// Starts the thread of the trail, which checks it first.
    pub(crate) fn start(places: &Places, retention: Retention) -> Self {
        let mut keeper = Keeper { places: places.clone(), retention, trail: None };
        let (work, mut waiting) = mpsc::channel::<Work>(WAITING_MAX);
        let keep = move || {
            if let Err(error) = keeper.open() {
                log::say(format_args!("nothing can be changed: {}", Causes(&error)));
            }
            while let Some(work) = waiting.blocking_recv() {
                work(&mut keeper);
            }
        };
        // Without the thread nobody receives, and each changing call is refused.
        let _ = thread::Builder::new().name("audit".to_owned()).spawn(keep);
        Self { work }
    }

    /// Makes a change with its intention and outcome in the trail. `act` asks the site, and returns
    /// the answer with the details of the outcome. It goes on if the client ends the call.
    ///
    /// # Errors
    /// Those of `act`; `UNAVAILABLE` if the intention can't be entered, and nothing was asked then;
    /// `DATA_LOSS` if the outcome can't.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        intention: Intention,
        act: impl Future<Output = Result<(T, Value), Status>> + Send + 'static,
    ) -> Result<T, Status> {
        self.change_once(intention, OnDisk::BeforeTheChange, act).await
    }

    async fn change_once<T: Send + 'static>(
        &self,
        intention: Intention,
        on_disk: OnDisk,
        act: impl Future<Output = Result<(T, Value), Status>> + Send + 'static,
    ) -> Result<T, Status> {
        let audit = self.clone();
        let change = tokio::spawn(async move {
            let intended = audit.intend(intention, on_disk).await?;
            let number = intended.number();
            let (answer, outcome) = match act.await {
                Ok((answer, what)) => (Ok(answer), Outcome::Done(what)),
                Err(status) => {
                    let outcome = Outcome::Refused(refusal(&status));
                    (Err(status), outcome)
                }
            };
            let entered = audit.conclude(intended, outcome).await;
            entered.map_err(|why| without_outcome(number, answer.as_ref().err(), &why))?;
            answer
        });
        let fault = |_| Err(Status::internal("the call ended by a fault of the daemon"));
        change.await.unwrap_or_else(fault)
    }

    /// Asks a partition for something that changes it, as [`Self::change`] does. `call` is one of
    /// [`CALLS`]; the details are request and answer in the words of control.
    ///
    /// # Errors
    /// Those of [`Self::change`], and of a site that is not named and can't be told.
    pub(crate) async fn ask<A>(
        &self,
        sites: &Sites,
        call: &str,
        (site, partition): (String, String),
        caller: Caller,
        verb: Verb,
    ) -> Result<A, Status>
    where
        A: TryFrom<Answer> + Serialize + Send + 'static,
    {
        let site = sites.named(site, &caller).await?;
        let intention = Intention {
            who: caller.who(),
            call: call.to_owned(),
            site: site.clone(),
            partition: partition.clone(),
            what: details(&verb),
        };
        // A value is to act in the next cycle, and is gone with the power unless it is retained.
        let on_disk = match &verb {
            Verb::Write { confirm: false, .. } | Verb::UnforceAll => OnDisk::WithTheOutcome,
            _ => OnDisk::BeforeTheChange,
        };
        let sites = sites.clone();
        let act = async move {
            let answer: A = sites.ask_of((site, partition), caller, verb).await?;
            let what = details(&answer);
            Ok((answer, what))
        };
        self.change_once(intention, on_disk, act).await
    }

    async fn intend(&self, intention: Intention, on_disk: OnDisk) -> Result<Intended, Status> {
        let intend = move |keeper: &mut Keeper| Ok(keeper.trail()?.intend(intention, on_disk)?);
        let entered = self.on_thread(intend).await;
        entered.map_err(|why| {
            Status::unavailable(format!(
                "nothing may be changed while the audit trail can't be written: {why}"
            ))
        })
    }

    async fn conclude(&self, intended: Intended, outcome: Outcome) -> Result<(), String> {
        let conclude = |keeper: &mut Keeper| {
            keeper.trail()?.conclude(intended, outcome)?;
            Ok(())
        };
        self.on_thread(conclude).await
    }

    /// Does something with the trail on its thread; an error comes as a sentence.
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Keeper) -> Result<T, AuditError> + Send + 'static,
    ) -> Result<T, String> {
        let (tell, told) = oneshot::channel();
        let work = Box::new(move |keeper: &mut Keeper| {
            // Nobody waits any more if the daemon ends.
            let _ = tell.send(work(keeper).map_err(|error| Causes(&error).to_string()));
        });
        let gone = || "its thread has ended".to_owned();
        self.work.send(work).await.map_err(|_| gone())?;
        told.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// Returns the file of the trail, if there is one.
pub(crate) fn file(places: &Places) -> Option<PathBuf> {
    let path = places.existing_daemon_state()?.join(quietcore_audit::FILE);
    path.exists().then_some(path)
}

/// Returns a request or an answer as details of an entry.
pub(crate) fn details(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("the words of control can be written as JSON")
}

/// Returns a refusal as the client is told it.
fn refusal(status: &Status) -> Refusal {
    Refusal { kind: quietcore_api::refusal::reason(status), sentence: status.message().to_owned() }
}

fn without_outcome(number: u64, refused: Option<&Status>, why: &str) -> Status {
    let what = match refused {
        None => "the change was made".to_owned(),
        Some(status) => format!("the change was refused ({})", status.message()),
    };
    let told = format!(
        "{what}, but the audit trail could not take its outcome; entry {number} has what was \
         intended: {why}"
    );
    Status::new(Code::DataLoss, told)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use quietcore_audit::{Kind, Reader};
    use tempfile::TempDir;

    use super::*;

    /// The longest wait for something that comes within milliseconds.
    const PATIENCE: Duration = Duration::from_secs(30);

    fn audit(folder: &Path) -> (Places, Audit) {
        let places = Places::new(folder.join("run"), folder.join("state"));
        let audit = Audit::start(&places, Retention::default());
        (places, audit)
    }

    fn intention() -> Intention {
        Intention { call: "X/Y".to_owned(), ..Intention::default() }
    }

    fn kinds(places: &Places) -> Vec<Kind> {
        let rows = Reader::open(&file(places).expect("a trail")).and_then(|it| it.rows(2, 100));
        rows.expect("rows").iter().map(|row| row.entry().expect("an entry").kind).collect()
    }

    /// Goal: a change whose client has gone has its outcome in the trail all the same.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_change_goes_on_to_its_outcome_when_its_client_has_gone() {
        let folder = TempDir::new().expect("a folder");
        let (places, audit) = audit(folder.path());
        let (begun, has_begun) = oneshot::channel();
        let (go_on, goes_on) = oneshot::channel::<()>();
        let act = async move {
            let _ = begun.send(());
            let _ = goes_on.await;
            Ok(((), Value::Null))
        };
        let call = tokio::spawn(async move { audit.change(intention(), act).await });
        has_begun.await.expect("it is asked");
        assert_eq!(kinds(&places), [Kind::Intended]);
        call.abort();
        assert!(call.await.expect_err("the client has gone").is_cancelled());
        go_on.send(()).expect("the change goes on");
        let begun = Instant::now();
        while kinds(&places) != [Kind::Intended, Kind::Done] {
            assert!(begun.elapsed() < PATIENCE, "no outcome: {:?}", kinds(&places));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_change_whose_outcome_cannot_be_entered_is_told_as_made() {
        let folder = TempDir::new().expect("a folder");
        let (places, audit) = audit(folder.path());
        let (state, moved) = (folder.path().join("state"), folder.path().join("moved"));
        let break_it = async move {
            fs::rename(&state, &moved).expect("it can be moved");
            fs::write(&state, "").expect("it can be written");
            Ok(((), Value::Null))
        };
        let lost = audit.change(intention(), break_it).await.expect_err("no outcome");
        assert_eq!(lost.code(), Code::DataLoss);
        let told = "the change was made, but the audit trail could not take its outcome; entry 2 ";
        assert!(lost.message().starts_with(told), "{lost:?}");
        fs::remove_file(folder.path().join("state")).expect("it can be removed");
        fs::rename(folder.path().join("moved"), folder.path().join("state")).expect("it is back");
        assert_eq!(kinds(&places), [Kind::Intended]);
    }
}
