//! Builds of versions: for a partition as its site would build it, or for none.
//!
//! The build of a partition goes to the folder in which its supervisor looks, so that a deploy of
//! the same version finds it there and compiles nothing.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, mpsc};
use std::thread;

use quietcore_api::v1;
use quietcore_api::v1::build_program_response::Content;
use quietcore_assembly::{AssemblyError, Workshop};
use quietcore_program::build::{CompilerError, Listener};
use quietcore_program::{Build, BuildError, Options};
use quietcore_programs::{BuildRecord, DeployPlace, Version};
use quietcore_record::class::catalogue;
use quietcore_site::Site;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::ControlError;
use quietcore_units::Causes;

use super::{Received, authorship};
use crate::caller::Caller;
use crate::failure::CallError;
use crate::following::StreamEnd;
use crate::sites::connect_to;

/// The most bytes of lines that wait for a slow client.
const LINES_BYTES_MAX: usize = 4 << 20;

/// A build that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) caller: Caller,
    pub(crate) version: Version,
    /// The partition, whose site may have no name; `None` for a build for none.
    pub(crate) place: Option<DeployPlace>,
}

/// A site with the folders that its programs are built from and in.
struct Surroundings {
    site: Site,
    workshop: Workshop,
}

impl Received {
    /// Builds a version for a partition. One build goes on at a time.
    ///
    /// # Errors
    /// The outer one where it can't be tried, the inner one of the build.
    pub(super) fn build(
        &self,
        version: &Version,
        place: Option<&DeployPlace>,
        caller: &Caller,
        listener: Option<Listener>,
    ) -> Result<Result<Build, BuildError>, CallError> {
        let folder = self.programs()?.folder(version);
        let _alone = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = place else {
            let out = tempfile::tempdir();
            let out = out.map_err(|error| CallError::NotNow(format!("no folder: {error}")))?;
            let options = Options { listener, ..Options::default() };
            return Ok(quietcore_program::build(&folder, &options, out.path()));
        };
        let Surroundings { site, workshop } = self.surroundings(place, caller)?;
        let names = || site.partitions().iter().map(|known| known.name.as_str());
        let known = site.partitions().iter().find(|known| known.name == place.partition);
        let known = known.ok_or_else(|| ControlError::no_partition(&place.partition, names()))?;
        if known.disk().is_some() {
            let told = format!("partition `{}` runs a system of its own, no program", known.name);
            return Err(CallError::NotNow(told));
        }
        match workshop.build_heard(&site, known, &folder, listener) {
            Ok(build) => Ok(Ok(build)),
            Err(AssemblyError::Build { source, .. }) => Ok(Err(*source)),
            Err(other) => Err(CallError::NotNow(Causes(&other).to_string())),
        }
    }

    /// Reads the file of the site of a partition.
    fn surroundings(
        &self,
        place: &DeployPlace,
        caller: &Caller,
    ) -> Result<Surroundings, CallError> {
        let of = (place.site.as_str(), place.partition.as_str());
        let client: Client = connect_to(&self.places, of, caller)?;
        let running = self.places.running()?;
        let found = running.into_iter().find(|it| it.name == client.site());
        let description = found.and_then(|it| it.description).ok_or_else(|| {
            CallError::NotNow(format!("site `{}` does not tell its file", client.site()))
        })?;
        let file: PathBuf = description.site_file;
        let unusable = |why: String| CallError::NotNow(format!("`{}`: {why}", file.display()));
        let text = std::fs::read(&file).map_err(|error| unusable(error.to_string()))?;
        let name = file.display().to_string();
        let read = quietcore_site::read(&name, &text, &catalogue());
        let site = read.map_err(|problems| unusable(problems.to_string()))?;
        let site_folder = file.parent().map(PathBuf::from).unwrap_or_default();
        let build_folder = self.places.state_folder(client.site(), &file)?.join("builds");
        Ok(Surroundings { site, workshop: Workshop { site_folder, build_folder } })
    }

    /// Remembers what came of a build; the outcome counts where that fails.
    fn note(&self, asked: &Asked, built: &Result<Build, BuildError>) {
        let hash = built.as_ref().ok().map(|build| build.hash.clone());
        let record =
            BuildRecord { place: asked.place.clone(), hash, built: authorship(&asked.caller) };
        let noted = self.programs().map(|programs| programs.note_build(&asked.version, &record));
        drop(noted);
    }
}

/// Lines on their way from the compilers to the client, as many as there is room for.
#[derive(Debug, Default)]
struct WaitingLines {
    bytes: AtomicUsize,
    left_out: AtomicU64,
}

/// Builds, and feeds a stream with the compiler's lines and the outcome. A slow client holds up
/// nothing but its own lines.
pub(crate) fn feed(received: &Received, asked: &Asked, end: StreamEnd<v1::BuildProgramResponse>) {
    let (sender, lines) = mpsc::channel::<String>();
    let waiting = Arc::new(WaitingLines::default());
    let room = Arc::clone(&waiting);
    let listener = Listener::new(move |line| {
        let bytes = room.bytes.load(Ordering::Relaxed);
        if bytes + line.len() > LINES_BYTES_MAX {
            room.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        room.bytes.fetch_add(line.len(), Ordering::Relaxed);
        // The client may have gone.
        let _ = sender.send(line.to_owned());
    });
    let built = thread::scope(|scope| {
        let building = scope.spawn(|| {
            received.build(&asked.version, asked.place.as_ref(), &asked.caller, Some(listener))
        });
        for line in lines {
            waiting.bytes.fetch_sub(line.len(), Ordering::Relaxed);
            let message = v1::BuildProgramResponse { content: Some(Content::Line(line)) };
            if !end.send_all([message]) {
                break;
            }
        }
        building.join()
    });
    let built = match built {
        Ok(Ok(built)) => built,
        Ok(Err(error)) => return end.fail(error),
        Err(_) => {
            return end.fail(tonic::Status::internal("the build ended by a fault of the daemon"));
        }
    };
    received.note(asked, &built);
    let outcome = match &built {
        Ok(build) => v1::BuildOutcome::from(build),
        Err(BuildError::Compiler(refused @ CompilerError::Sandbox(_))) => {
            return end.fail(CallError::NotNow(Causes(refused).to_string()));
        }
        Err(error) => v1::BuildOutcome::from(error),
    };
    let lines_left_out = waiting.left_out.load(Ordering::Relaxed);
    let outcome = v1::BuildOutcome { lines_left_out, ..outcome };
    end.send_all([v1::BuildProgramResponse { content: Some(Content::Outcome(outcome)) }]);
}
