//! The trail as the daemon writes it.
//!
//! A file that is damaged is set aside under another name, and a new chain begins with an entry
//! that says so. What else keeps an entry from being written (a full disk, a folder that can't be
//! written) is an error, and the next entry tries again.

mod pruning;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};
use serde_json::{Value, json};

use crate::canonical::{cut, plain};
use crate::database::{self, beside};
use crate::entry::{Entry, Kind, Refusal, Row, Who};
use crate::error::TrailError;
use crate::instant::Instant;
use crate::verify::Verification;

pub use pruning::{PRUNED_COUNT_MAX, PRUNED_SPAN_MAX, Retention};

/// Name of the trail's file in the daemon's folder.
pub const FILE: &str = "audit.db";
/// A transaction that writes from its beginning, so that the end of the chain stays as it was read.
const IMMEDIATE: TransactionBehavior = TransactionBehavior::Immediate;
/// Author of what the trail enters itself.
const OWN: &str = "quietcored";
/// The most files that are set aside within one second.
const SET_ASIDE_MAX: u32 = 100;

/// A change that somebody is about to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intention {
    /// The client that calls.
    pub who: Who,
    /// The call, such as `VariableService/WriteVariables`.
    pub call: String,
    /// Name of the site; empty where a call has none.
    pub site: String,
    /// Name of the partition; empty where a call has none.
    pub partition: String,
    /// The request, as details.
    pub what: Value,
}

/// The moment from which an intention outlives a loss of power; it outlives its process at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// Before the change is made, which may itself outlive a loss of power.
    BeforeTheChange,
    /// With the outcome, and so before the change is acknowledged: one that a loss of power undoes,
    /// and that can't wait for a disk.
    WithTheOutcome,
}

/// An intention that is in the trail, and waits for its outcome.
#[derive(Clone, Debug)]
pub struct Intended {
    number: u64,
    intention: Intention,
}

impl Intended {
    /// Returns the number of the entry.
    pub const fn number(&self) -> u64 {
        self.number
    }
}

/// The outcome of an intention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The change was made; the answer in its details, with old and new values.
    Done(Value),
    /// It was refused, or has failed.
    Refused(Refusal),
}

/// A trail that is written. Its file is opened, and examined as a whole, at the first entry or by
/// [`Trail::open`].
pub struct Trail {
    path: PathBuf,
    retention: Retention,
    now: Box<dyn FnMut() -> Instant + Send>,
    opened: Option<Opened>,
    /// Why a new chain has to begin, of one that could not yet.
    why_anew: Option<Value>,
}

impl std::fmt::Debug for Trail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trail").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The database of a trail that is in order.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    /// Device and number of the file: one that was removed or replaced is noticed.
    file: (u64, u64),
    /// `true` if commits wait for the disk.
    waits: bool,
    /// When it was last looked whether entries are old enough, as time since the boot.
    looked_at_us: Option<u64>,
    /// When entries were pruned last.
    pruned_at: Option<Timestamp>,
}

impl Trail {
    /// Returns the trail in a folder that exists. Touches nothing yet.
    pub fn new(folder: &Path, retention: Retention) -> Self {
        let now = Box::new(Instant::now);
        Self { path: folder.join(FILE), retention, now, opened: None, why_anew: None }
    }

    /// Returns the same, with clocks of a test.
    #[must_use]
    pub fn with_clock(self, now: impl FnMut() -> Instant + Send + 'static) -> Self {
        Self { now: Box::new(now), ..self }
    }

    /// Opens the file, checks it as a whole, sets it aside if it is damaged, and removes what was
    /// kept long enough.
    ///
    /// # Errors
    /// [`TrailError`] if no entry could be written.
    pub fn open(&mut self) -> Result<(), TrailError> {
        self.opened()?;
        self.prune()
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Enters an intention; it is in the file when this returns, and on the disk as `on_disk` says.
    ///
    /// # Errors
    /// [`TrailError`] if it can't be written; then nothing may be changed.
    pub fn intend(
        &mut self,
        intention: Intention,
        on_disk: OnDisk,
    ) -> Result<Intended, TrailError> {
        self.open()?;
        let Intention { who, call, site, partition, what } = intention;
        let who = Who {
            user: cut(who.user),
            program: cut(who.program),
            via: cut(who.via),
            certificate: who.certificate.map(cut),
            role: who.role.map(cut),
        };
        let (call, site, partition) = (cut(call), cut(site), cut(partition));
        let intention = Intention { who, call, site, partition, what: plain(what) };
        let draft = Draft::of(&intention, Kind::Intended);
        let number = self.append(&draft, on_disk == OnDisk::BeforeTheChange)?;
        Ok(Intended { number, intention: Intention { what: Value::Null, ..intention } })
    }

    /// Enters the outcome of an intention; both are on the disk when this returns.
    ///
    /// # Errors
    /// [`TrailError`] if it can't be written; then the intention stays without an outcome.
    pub fn conclude(&mut self, intended: Intended, outcome: Outcome) -> Result<u64, TrailError> {
        let Intended { number, mut intention } = intended;
        let (kind, refusal) = match outcome {
            Outcome::Done(what) => {
                intention.what = plain(what);
                (Kind::Done, None)
            }
            Outcome::Refused(Refusal { kind, sentence }) => {
                (Kind::Refused, Some(Refusal { kind: cut(kind), sentence: cut(sentence) }))
            }
        };
        self.append(&Draft { of: Some(number), refusal, ..Draft::of(&intention, kind) }, true)
    }

    /// Appends an entry, and waits for the disk if `waits`. A file in which damage shows only now
    /// is opened anew, and so set aside.
    fn append(&mut self, draft: &Draft, waits: bool) -> Result<u64, TrailError> {
        match self.try_append(draft, waits) {
            Err(error) if error.is_damage() => {
                self.opened = None;
                self.try_append(draft, waits)
            }
            other => other,
        }
    }

    fn try_append(&mut self, draft: &Draft, waits: bool) -> Result<u64, TrailError> {
        self.opened()?;
        let Self { path, opened, now, .. } = self;
        let opened = opened.as_mut().expect("it has just been opened");
        if opened.waits != waits {
            let set = database::wait_for_the_disk(&opened.connection, waits);
            set.map_err(TrailError::database(path))?;
            opened.waits = waits;
        }
        let appended = opened.connection.transaction_with_behavior(IMMEDIATE);
        let appended = appended.and_then(|transaction| {
            let row = insert(&transaction, draft, now())?;
            transaction.commit()?;
            Ok(row.number)
        });
        appended.map_err(TrailError::database(path))
    }

    /// Opens the file if it is not open, or is not the one that was opened.
    fn opened(&mut self) -> Result<(), TrailError> {
        let file = identity(&self.path)?;
        if self.opened.as_ref().is_some_and(|opened| Some(opened.file) == file) {
            return Ok(());
        }
        let was_open = self.opened.take().is_some();
        if file.is_some() && !is_empty(&self.path) {
            match self.examine()? {
                (found, Some(connection)) if found.fault.is_none() => {
                    return self.take(connection, found.pruned_at);
                }
                (found, connection) => {
                    drop(connection);
                    let why = self.set_aside(&found)?;
                    self.why_anew = Some(why);
                }
            }
        }
        let why = match file {
            None if was_open => "the file was removed while it was written",
            None => "it is the first",
            Some(_) => "the file was empty",
        };
        // What is known of the one before stays known until a new one has begun.
        let why = self.why_anew.get_or_insert_with(|| json!({ "reason": why })).clone();
        self.begin(why)?;
        self.why_anew = None;
        Ok(())
    }

    /// Opens the file and checks it; without a connection if it is damaged too much to be opened.
    fn examine(&self) -> Result<(Verification, Option<Connection>), TrailError> {
        match database::open(&self.path) {
            Ok(connection) => {
                let found = database::examine(&self.path, &connection)?;
                Ok((found, Some(connection)))
            }
            Err(error) => Ok((database::damage(&self.path, error)?, None)),
        }
    }

    fn take(&mut self, connection: Connection, at: Option<Timestamp>) -> Result<(), TrailError> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let file = identity(&self.path)?;
        let file = file.ok_or_else(|| TrailError::file(&self.path, "opened")(gone()))?;
        self.opened =
            Some(Opened { connection, file, waits: true, looked_at_us: None, pruned_at: at });
        Ok(())
    }

    /// Begins a chain in a file that is not there or empty. A file that can't be made whole is
    /// removed: there was nothing in it.
    fn begin(&mut self, what: Value) -> Result<(), TrailError> {
        let begun = self.try_begin(what);
        match begun {
            Ok(connection) => self.take(connection, None),
            Err(error) => {
                for end in ["", "-wal", "-shm"] {
                    // It may not be there.
                    let _ = fs::remove_file(beside(&self.path, end));
                }
                Err(error)
            }
        }
    }

    fn try_begin(&mut self, what: Value) -> Result<Connection, TrailError> {
        let Self { path, now, .. } = self;
        let made = database::open(path).and_then(|mut connection| {
            let transaction = connection.transaction_with_behavior(IMMEDIATE)?;
            database::make(&transaction)?;
            insert(&transaction, &Draft::own(Kind::Began, what), now())?;
            transaction.commit()?;
            Ok(connection)
        });
        let connection = made.map_err(TrailError::database(path))?;
        sync_folder(path).map_err(TrailError::file(path, "made durable"))?;
        Ok(connection)
    }

    /// Gives a damaged file, with its log, another name, and returns the details with which the
    /// next chain begins.
    fn set_aside(&mut self, found: &Verification) -> Result<Value, TrailError> {
        let at = (self.now)().at.strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        let names = (0..SET_ASIDE_MAX).map(|it| match it {
            0 => format!("audit-{at}.db"),
            more => format!("audit-{at}-{more}.db"),
        });
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut free = names.filter(|name| !folder.join(name).exists());
        let none_free = || io::Error::from(io::ErrorKind::AlreadyExists);
        let failed = TrailError::file(&self.path, "set aside");
        let name = free.next().ok_or_else(|| failed(none_free()))?;
        let _ = fs::remove_file(beside(&self.path, "-shm"));
        // The log goes first: a log without its database would be taken for that of the next one.
        let log = beside(&self.path, "-wal");
        if log.exists() {
            fs::rename(&log, folder.join(format!("{name}-wal"))).map_err(&failed)?;
        }
        fs::rename(&self.path, folder.join(&name)).map_err(&failed)?;
        sync_folder(&self.path).map_err(&failed)?;
        let fault = found.fault.as_ref().map(ToString::to_string).unwrap_or_default();
        Ok(json!({
            "reason": "the file before was damaged and is set aside",
            "file": name,
            "fault": fault,
            "last_number": found.last.map(|(number, _)| number),
            "last_hash": found.last_hash,
        }))
    }
}

/// An entry without its number, instant and hashes.
#[derive(Clone, Debug)]
struct Draft {
    kind: Kind,
    of: Option<u64>,
    intention: Intention,
    refusal: Option<Refusal>,
}

impl Draft {
    fn of(intention: &Intention, kind: Kind) -> Self {
        Self { kind, of: None, intention: intention.clone(), refusal: None }
    }

    /// Something that the trail enters itself.
    fn own(kind: Kind, what: Value) -> Self {
        let who = Who { user: OWN.to_owned(), ..Who::default() };
        Self::of(&Intention { who, what: plain(what), ..Intention::default() }, kind)
    }
}

/// Inserts an entry behind the last one, as part of a transaction.
fn insert(connection: &Connection, draft: &Draft, instant: Instant) -> rusqlite::Result<Row> {
    let head = database::head(connection)?;
    let Intention { who, call, site, partition, what } = draft.intention.clone();
    let entry = Entry {
        number: head.number + 1,
        previous: head.hash,
        instant,
        kind: draft.kind,
        of: draft.of,
        who,
        call,
        site,
        partition,
        what,
        refusal: draft.refusal.clone(),
    };
    let row = entry.row();
    let number = i64::try_from(row.number).expect("no trail has so many entries");
    let insert = "INSERT INTO entry (number, text, hash) VALUES (?1, ?2, ?3)";
    connection.prepare(insert)?.execute((number, &row.text, &row.hash))?;
    Ok(row)
}

/// Returns device and number of a file; `None` if there is none.
fn identity(path: &Path) -> Result<Option<(u64, u64)>, TrailError> {
    match fs::metadata(path) {
        Ok(file) => Ok(Some((file.dev(), file.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TrailError::file(path, "looked at")(error)),
    }
}

fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() == 0)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
