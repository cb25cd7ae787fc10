//! The database: programs, versions, builds and deployments.
//!
//! A change is on the disk when its call returns (`synchronous = FULL`). Numbers of versions are
//! never used again.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, params};

use crate::ProgramsError;
use crate::record::{
    Authorship, BuildRecord, DeployPlace, Deployment, DeploymentOutcome, ProgramEntry, Version,
};
use crate::unpacked::{Contents, FILE_ROOM_BYTES};

/// The form of the tables, kept in the file.
const FORM: i64 = 1;

const TABLES: &str = "
CREATE TABLE programs (name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT;
CREATE TABLE versions (
    program TEXT NOT NULL REFERENCES programs (name), number INTEGER NOT NULL,
    sha256 TEXT NOT NULL, files INTEGER NOT NULL, bytes INTEGER NOT NULL,
    uploaded_at TEXT NOT NULL, uploaded_by TEXT NOT NULL,
    PRIMARY KEY (program, number)) STRICT;
CREATE TABLE builds (
    id INTEGER PRIMARY KEY, program TEXT NOT NULL, number INTEGER NOT NULL,
    site TEXT NOT NULL, partition TEXT NOT NULL, hash TEXT, at TEXT NOT NULL, by TEXT NOT NULL,
    FOREIGN KEY (program, number) REFERENCES versions ON DELETE CASCADE) STRICT;
CREATE TABLE deployments (
    id INTEGER PRIMARY KEY, site TEXT NOT NULL, partition TEXT NOT NULL,
    program TEXT NOT NULL, number INTEGER NOT NULL, outcome TEXT NOT NULL, hash TEXT,
    at TEXT NOT NULL, by TEXT NOT NULL) STRICT;
CREATE INDEX deployed ON deployments (site, partition, id);
";

/// The most deployments of a partition, and builds of a version, that are remembered.
const REMEMBERED_MAX: i64 = 100;

/// The open database; a change is on the disk when its call returns.
#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    connection: Connection,
}

impl Index {
    /// Opens the database, or makes it.
    pub(crate) fn open(path: &Path) -> Result<Self, ProgramsError> {
        let connection = Connection::open(path).map_err(|error| of_sqlite(path, error))?;
        let mut index = Self { path: path.to_owned(), connection };
        index.prepare()?;
        Ok(index)
    }

    fn prepare(&mut self) -> Result<(), ProgramsError> {
        let damaged = |why: String| ProgramsError::Damaged { path: self.path.clone(), why };
        let of = |error| of_sqlite(&self.path, error);
        let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                       PRAGMA foreign_keys = ON; PRAGMA locking_mode = EXCLUSIVE;";
        self.connection.execute_batch(pragmas).map_err(of)?;
        let checked: String =
            self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(of)?;
        if checked != "ok" {
            return Err(damaged(checked));
        }
        let form: i64 =
            self.connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(of)?;
        match form {
            0 => {
                let make = format!("BEGIN; {TABLES} PRAGMA user_version = {FORM}; COMMIT;");
                self.connection.execute_batch(&make).map_err(of)?;
            }
            FORM => {}
            other => return Err(damaged(format!("its tables are of form {other}, not {FORM}"))),
        }
        let lost = "UPDATE deployments SET outcome = 'failed' WHERE outcome = 'begun'";
        self.connection.execute(lost, []).map_err(of)?;
        Ok(())
    }

    fn of(&self, error: rusqlite::Error) -> ProgramsError {
        of_sqlite(&self.path, error)
    }

    /// Lists the programs, by name.
    pub(crate) fn programs(&self) -> Result<Vec<ProgramEntry>, ProgramsError> {
        let query = "SELECT name, max(number), count(number) FROM programs
                     LEFT JOIN versions ON program = name GROUP BY name ORDER BY name";
        let read = |row: &Row<'_>| {
            Ok(ProgramEntry { name: row.get(0)?, newest: row.get(1)?, version_count: row.get(2)? })
        };
        self.all(query, params![], read)
    }

    /// Lists the versions of a program, the newest first.
    pub(crate) fn versions(&self, program: &str) -> Result<Vec<Version>, ProgramsError> {
        let query = "SELECT program, number, sha256, files, bytes, uploaded_by, uploaded_at
                     FROM versions WHERE program = ?1 ORDER BY number DESC";
        let read = |row: &Row<'_>| {
            Ok(Version {
                program: row.get(0)?,
                number: row.get(1)?,
                sha256: row.get(2)?,
                files: row.get(3)?,
                bytes: row.get(4)?,
                uploaded: Authorship { by: row.get(5)?, at: row.get(6)? },
            })
        };
        self.all(query, params![program], read)
    }

    /// Returns `true` if there has ever been a version of a program of this name.
    pub(crate) fn has_program(&self, program: &str) -> Result<bool, ProgramsError> {
        let query = "SELECT 1 FROM programs WHERE name = ?1";
        let found = self.connection.query_row(query, [program], |_| Ok(())).optional();
        Ok(found.map_err(|error| self.of(error))?.is_some())
    }

    /// Returns the room that all versions take, in bytes; the same files count once.
    pub(crate) fn kept_bytes(&self) -> Result<u64, ProgramsError> {
        let query = "SELECT coalesce(sum(room), 0) FROM (SELECT max(bytes + files * ?1) AS room
                     FROM versions GROUP BY sha256)";
        let read = |row: &Row<'_>| row.get(0);
        let room = self.connection.query_row(query, [FILE_ROOM_BYTES], read);
        room.map_err(|error| self.of(error))
    }

    /// Returns the sums of all versions.
    pub(crate) fn sums(&self) -> Result<Vec<String>, ProgramsError> {
        self.all("SELECT DISTINCT sha256 FROM versions", params![], |row| row.get(0))
    }

    /// Adds a version and returns its number.
    pub(crate) fn add_version(
        &mut self,
        program: &str,
        contents: &Contents,
        by: &Authorship,
    ) -> Result<u64, ProgramsError> {
        let path = self.path.clone();
        let add = |connection: &mut Connection| -> rusqlite::Result<u64> {
            let transaction = connection.transaction()?;
            let new = "INSERT INTO programs VALUES (?1, 1) ON CONFLICT DO NOTHING";
            transaction.execute(new, [program])?;
            let next = "UPDATE programs SET next = next + 1 WHERE name = ?1 RETURNING next - 1";
            let number: u64 = transaction.query_row(next, [program], |row| row.get(0))?;
            let Contents { sha256, files, bytes } = contents;
            transaction.execute(
                "INSERT INTO versions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![program, number, sha256, files, bytes, by.at, by.by],
            )?;
            transaction.commit()?;
            Ok(number)
        };
        add(&mut self.connection).map_err(|error| of_sqlite(&path, error))
    }

    /// Removes a version with its builds; deployments of it are remembered.
    pub(crate) fn remove_version(&self, program: &str, number: u64) -> Result<(), ProgramsError> {
        let remove = "DELETE FROM versions WHERE program = ?1 AND number = ?2";
        self.execute(remove, params![program, number])
    }

    /// Remembers a build, and forgets the oldest beyond [`REMEMBERED_MAX`].
    pub(crate) fn add_build(
        &self,
        program: &str,
        number: u64,
        build: &BuildRecord,
    ) -> Result<(), ProgramsError> {
        let place = build.place.as_ref();
        let (site, partition) =
            place.map_or(("", ""), |place| (place.site.as_str(), place.partition.as_str()));
        self.execute(
            "INSERT INTO builds (program, number, site, partition, hash, at, by)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![program, number, site, partition, build.hash, build.built.at, build.built.by],
        )?;
        self.execute(
            "DELETE FROM builds WHERE program = ?1 AND number = ?2 AND id NOT IN (SELECT id FROM
             builds WHERE program = ?1 AND number = ?2 ORDER BY id DESC LIMIT ?3)",
            params![program, number, REMEMBERED_MAX],
        )
    }

    /// Returns the last build of a version.
    pub(crate) fn last_build(
        &self,
        program: &str,
        number: u64,
    ) -> Result<Option<BuildRecord>, ProgramsError> {
        let query = "SELECT site, partition, hash, by, at FROM builds
                     WHERE program = ?1 AND number = ?2 ORDER BY id DESC LIMIT 1";
        let read = |row: &Row<'_>| {
            let place = DeployPlace { site: row.get(0)?, partition: row.get(1)? };
            Ok(BuildRecord {
                place: (!place.partition.is_empty()).then_some(place),
                hash: row.get(2)?,
                built: Authorship { by: row.get(3)?, at: row.get(4)? },
            })
        };
        Ok(self.all(query, params![program, number], read)?.pop())
    }

    /// Begins a deployment and returns its number.
    pub(crate) fn begin_deployment(
        &self,
        place: &DeployPlace,
        (program, number): (&str, u64),
        by: &Authorship,
    ) -> Result<i64, ProgramsError> {
        let DeployPlace { site, partition } = place;
        self.execute(
            "DELETE FROM deployments WHERE site = ?1 AND partition = ?2 AND id NOT IN (SELECT id
             FROM deployments WHERE site = ?1 AND partition = ?2 ORDER BY id DESC LIMIT ?3)",
            params![site, partition, REMEMBERED_MAX],
        )?;
        let outcome = DeploymentOutcome::Begun.word();
        self.execute(
            "INSERT INTO deployments (site, partition, program, number, outcome, at, by)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![site, partition, program, number, outcome, by.at, by.by],
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Takes note of what came of a deployment that was begun.
    pub(crate) fn end_deployment(
        &self,
        id: i64,
        outcome: DeploymentOutcome,
        hash: Option<&str>,
    ) -> Result<(), ProgramsError> {
        let end = "UPDATE deployments SET outcome = ?2, hash = ?3 WHERE id = ?1";
        self.execute(end, params![id, outcome.word(), hash])
    }

    /// Lists the deployments that did not fail, the newest first.
    pub(crate) fn deployments(&self) -> Result<Vec<Deployment>, ProgramsError> {
        let query = "SELECT site, partition, program, number, outcome, hash, by, at
                     FROM deployments WHERE outcome <> 'failed' ORDER BY id DESC";
        let read = |row: &Row<'_>| {
            Ok(Deployment {
                place: DeployPlace { site: row.get(0)?, partition: row.get(1)? },
                program: row.get(2)?,
                number: row.get(3)?,
                outcome: DeploymentOutcome::of(&row.get::<_, String>(4)?),
                hash: row.get(5)?,
                deployed: Authorship { by: row.get(6)?, at: row.get(7)? },
            })
        };
        self.all(query, params![], read)
    }

    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), ProgramsError> {
        self.connection.execute(sql, values).map(|_| ()).map_err(|error| self.of(error))
    }

    fn all<T>(
        &self,
        query: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ProgramsError> {
        let listed = self.connection.prepare(query).and_then(|mut statement| {
            statement.query_map(values, read)?.collect::<rusqlite::Result<Vec<T>>>()
        });
        listed.map_err(|error| self.of(error))
    }
}

fn of_sqlite(path: &Path, error: rusqlite::Error) -> ProgramsError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ProgramsError::Full { path: path.to_owned() },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            ProgramsError::Damaged { path: path.to_owned(), why: error.to_string() }
        }
        _ => ProgramsError::Index(error),
    }
}
