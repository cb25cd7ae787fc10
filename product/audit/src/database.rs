//! The database of a trail: how it is opened, made and examined.
//!
//! Two tables: `entry` has the rows, `head` the number and hash of the last. Triggers
//! (`schema.sql`) refuse every other statement than the two that the trail needs: an entry that
//! continues the last one, and the removal of the first ones by the pruning that has just been
//! entered.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::entry::Row;
use crate::error::{TrailError, is_damage};
use crate::verify::{Fault, Head, Verification, Verifier, WhyFault};

/// Marks the file as one of ours, at its byte 68: `QCAT`.
const APPLICATION: i64 = 0x5143_4154;
/// Number of the schema.
pub(crate) const SCHEMA_NUMBER: i64 = 1;
/// The statements that make it; where they change, so does the number.
const SCHEMA: &str = include_str!("schema.sql");
/// The longest wait for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// Opens a database for writing, and makes its file if there is none. Commits wait for the disk.
pub(crate) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    // A reader of the log never keeps the daemon from writing, nor the other way round.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF",
    )?;
    Ok(connection)
}

/// Has commits wait for the disk, or not. What was committed without waiting reaches the disk with
/// the next commit that waits: both are in one log, in order.
pub(crate) fn wait_for_the_disk(connection: &Connection, waits: bool) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", if waits { "FULL" } else { "NORMAL" })
}

/// Opens a database for reading. One on a medium that can't be written is read as it lies there.
pub(crate) fn open_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(BUSY)?;
        number_of(&connection, "schema_version")?;
        Ok(connection)
    });
    match opened {
        // Whoever examines it will say what is wrong with it.
        Err(error) if is_damage(&error) => Connection::open_with_flags(path, flags),
        // Without a log beside it, the file is all that there is.
        Err(error) if needs_to_write(&error) && !beside(path, "-wal").exists() => {
            let mut uri = String::from("file:");
            for byte in path.as_os_str().as_encoded_bytes() {
                uri.push_str(&format!("%{byte:02x}"));
            }
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(uri + "?immutable=1", flags)
        }
        other => other,
    }
}

/// Returns the path of a file that SQLite keeps beside a database.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns `true` for the error of a reader that could make no files beside the database.
fn needs_to_write(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}

/// Makes the tables, as part of a transaction.
pub(crate) fn make(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA)?;
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA_NUMBER}"
    ))
}

fn number_of(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
}

/// Checks the whole database: its pages, its tables and the chain. Damage is a fault of the result.
///
/// # Errors
/// [`TrailError`] if it can't be read for another reason, or a later version has written it.
pub(crate) fn examine(path: &Path, connection: &Connection) -> Result<Verification, TrailError> {
    let pages = examine_pages(connection);
    match pages {
        Ok(Pages::InOrder) => {}
        Ok(Pages::Faulty(why)) => return Ok(faulty(why)),
        Ok(Pages::Later(found)) => {
            return Err(TrailError::Later { path: path.to_owned(), found, known: SCHEMA_NUMBER });
        }
        Err(error) => return damage(path, error),
    }
    let mut verifier = Verifier::new();
    let looked = for_each(connection, 0, |row| verifier.take(&row));
    match looked.and_then(|()| head(connection)) {
        Ok(head) => Ok(verifier.end(Some(&head))),
        Err(error) => {
            let found = verifier.end(None);
            let Verification { fault, .. } = damage(path, error)?;
            Ok(Verification { fault: found.fault.clone().or(fault), ..found })
        }
    }
}

/// Returns damage that SQLite has found as a fault.
///
/// # Errors
/// [`TrailError::Database`] for what is no damage.
pub(crate) fn damage(path: &Path, error: rusqlite::Error) -> Result<Verification, TrailError> {
    match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(faulty(WhyFault::OtherTables)),
        error if is_damage(&error) => Ok(faulty(WhyFault::Unreadable(error.to_string()))),
        error => Err(TrailError::database(path)(error)),
    }
}

/// The pages and tables of a database.
enum Pages {
    InOrder,
    Faulty(WhyFault),
    /// Of a schema with this number, which is a later one.
    Later(i64),
}

fn examine_pages(connection: &Connection) -> rusqlite::Result<Pages> {
    if number_of(connection, "application_id")? != APPLICATION {
        return Ok(Pages::Faulty(WhyFault::OtherTables));
    }
    let number = number_of(connection, "user_version")?;
    if number > SCHEMA_NUMBER {
        return Ok(Pages::Later(number));
    }
    if tables(connection)? != expected_tables()? {
        return Ok(Pages::Faulty(WhyFault::OtherTables));
    }
    let told: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if told == "ok" { Ok(Pages::InOrder) } else { Ok(Pages::Faulty(WhyFault::Unreadable(told))) }
}

fn faulty(why: WhyFault) -> Verification {
    Verification { fault: Some(Fault { number: 0, why }), ..Verification::default() }
}

/// Returns the statements that have made tables and triggers.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name")?;
    let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
    rows.map(|row| row.map(Option::unwrap_or_default)).collect()
}

fn expected_tables() -> rusqlite::Result<Vec<String>> {
    let memory = Connection::open_in_memory()?;
    make(&memory)?;
    tables(&memory)
}

/// Returns the end of the chain.
pub(crate) fn head(connection: &Connection) -> rusqlite::Result<Head> {
    connection.query_row("SELECT number, hash FROM head", [], |row| {
        Ok(Head { number: number(row.get_ref(0)?), hash: text(row.get_ref(1)?) })
    })
}

/// Shows the rows from number `since` on, in their order and of one instant, until `show` returns
/// `false`.
pub(crate) fn for_each(
    connection: &Connection,
    since: u64,
    mut show: impl FnMut(Row) -> bool,
) -> rusqlite::Result<()> {
    let query = "SELECT number, text, hash FROM entry WHERE number >= ?1 ORDER BY number";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([i64::try_from(since).unwrap_or(i64::MAX)])?;
    while let Some(row) = rows.next()? {
        let number = number(row.get_ref(0)?);
        let row = Row { number, text: text(row.get_ref(1)?), hash: text(row.get_ref(2)?) };
        if !show(row) {
            break;
        }
    }
    Ok(())
}

/// Reads a text, whatever damage has made of it: another text has another hash.
fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => String::new(),
    }
}

fn number(value: ValueRef<'_>) -> u64 {
    value.as_i64().ok().and_then(|it| u64::try_from(it).ok()).unwrap_or_default()
}
