//! Programs that were received: the uploads on their way, and what is kept.

mod building;
mod deploying;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quietcore_api::v1;
use quietcore_programs::{Authorship, DeployPlace, Programs, Upload, Version};
use quietcore_supervisor::places::Places;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use crate::caller::Caller;
use crate::failure::CallError;

pub(crate) use building::{Asked, feed};
pub(crate) use deploying::{Live, deploy, roll_back};

/// The most uploads at once.
pub const UPLOADS_MAX: usize = 4;
/// The longest time between two parts of an upload.
pub const UPLOAD_SILENCE_MAX: Duration = Duration::from_secs(30);

/// The programs of the daemon, their uploads and builds, as services share them.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    places: Places,
    opened: Arc<Mutex<Option<Arc<Programs>>>>,
    uploads: Arc<Semaphore>,
    /// Held while something is built.
    building: Arc<Mutex<()>>,
}

/// A part of an upload, as it goes to the thread that writes it.
#[derive(Debug)]
pub(crate) enum Part {
    File(String),
    Chunk(Vec<u8>),
    End,
}

impl Received {
    /// Opens what is kept, so that what was not finished is removed. If that fails, each call says
    /// why.
    pub(crate) fn new(places: &Places) -> Self {
        let received = Self {
            places: places.clone(),
            opened: Arc::default(),
            uploads: Arc::new(Semaphore::new(UPLOADS_MAX)),
            building: Arc::default(),
        };
        if places.existing_daemon_state().is_some() {
            let _ = received.programs();
        }
        received
    }

    /// Returns the programs, which are opened if they are not.
    ///
    /// # Errors
    /// Those of the folder and of the index.
    pub(crate) fn programs(&self) -> Result<Arc<Programs>, CallError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(programs) = &*opened {
            return Ok(Arc::clone(programs));
        }
        let programs = Arc::new(Programs::open(&self.places.daemon_state()?)?);
        *opened = Some(Arc::clone(&programs));
        Ok(programs)
    }

    /// Returns the folders in which sites are found.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Takes the place of an upload.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if there are [`UPLOADS_MAX`] uploads.
    pub(crate) fn begin_upload(&self) -> Result<OwnedSemaphorePermit, Status> {
        Arc::clone(&self.uploads).try_acquire_owned().map_err(|_| {
            let told = format!("{UPLOADS_MAX} uploads are under way already; try again");
            Status::resource_exhausted(told)
        })
    }

    /// Receives the parts of a program until their end, and keeps it as a version. Nothing is left
    /// of one that does not come to its end.
    ///
    /// # Errors
    /// Those of [`Programs::receive`], [`Upload`] and [`Programs::keep`].
    pub(crate) fn receive(
        &self,
        program: &str,
        by: &Caller,
        mut parts: tokio::sync::mpsc::Receiver<Part>,
    ) -> Result<Version, CallError> {
        let programs = self.programs()?;
        let mut upload: Upload = programs.receive(program)?;
        loop {
            match parts.blocking_recv() {
                Some(Part::File(name)) => upload.file(&name)?,
                Some(Part::Chunk(bytes)) => upload.chunk(&bytes)?,
                Some(Part::End) => return Ok(programs.keep(upload, &authorship(by))?),
                None => return Err(CallError::Argument("the upload was not ended".to_owned())),
            }
        }
    }

    /// Describes versions: with their last builds, and the partitions that run them.
    ///
    /// # Errors
    /// Those of the index.
    pub(crate) fn describe(
        &self,
        versions: Vec<Version>,
        live: &mut Live<'_>,
    ) -> Result<Vec<v1::ProgramVersion>, CallError> {
        let programs = self.programs()?;
        let deployed = programs.deployed()?;
        let mut described = Vec::new();
        for version in versions {
            let of_version = deployed
                .iter()
                .filter(|it| (&it.program, it.number) == (&version.program, version.number));
            let running = of_version.filter(|it| live.runs(it) == Some(true));
            let running_in = running.map(|it| named(&it.place)).collect();
            let last_build = programs.last_build(&version)?.map(|build| v1::BuiltVersion {
                succeeded: build.hash.is_some(),
                hash: build.hash.unwrap_or_default(),
                built_at: build.built.at,
                built_by: build.built.by,
            });
            described.push(v1::ProgramVersion { last_build, running_in, ..plain(version) });
        }
        Ok(described)
    }
}

fn named(place: &DeployPlace) -> v1::PartitionName {
    v1::PartitionName { site: place.site.clone(), partition: place.partition.clone() }
}

fn plain(version: Version) -> v1::ProgramVersion {
    v1::ProgramVersion {
        program: version.program,
        number: version.number,
        sha256: version.sha256,
        files: version.files,
        bytes: version.bytes,
        uploaded_at: version.uploaded.at,
        uploaded_by: version.uploaded.by,
        last_build: None,
        running_in: Vec::new(),
    }
}

/// Returns the caller as the author of a change that is made now.
pub(crate) fn authorship(caller: &Caller) -> Authorship {
    Authorship { by: caller.name().to_owned(), at: jiff::Timestamp::now().to_string() }
}
