//! A served site whose program runs in this test, and calls of the program beside it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quietcore_supervisor::fake::{FakeProgram, FakeSite};
use quietcore_supervisor::places::{Claim, Places, SITE_SCHEMA, SiteDescription, StartedBy};
use quietcore_supervisor::server::{Limits, Server};

use crate::command::{Said, quietcore, said};

/// A running site of two partitions, of which `axis` runs a cycle every 500 µs.
pub(crate) struct Ground {
    pub(crate) site: Arc<FakeSite>,
    pub(crate) claim: Claim,
    pub(crate) description: SiteDescription,
    _server: Server,
}

pub(crate) fn places(folder: &Path) -> Places {
    Places::new(folder.join("run"), folder.join("state"))
}

pub(crate) fn serve(folder: &Path, name: &str) -> Ground {
    let ground = serve_standing(folder, name);
    let period = Duration::from_micros(500);
    ground.site.state().program.as_ref().unwrap().run_every(period);
    ground
}

/// Serves the same site with a program that runs no cycle by itself.
pub(crate) fn serve_standing(folder: &Path, name: &str) -> Ground {
    let program = FakeProgram::start(folder).unwrap();
    let claim = Claim::take(&places(folder), name).unwrap();
    fs::write(folder.join("line.toml"), "").unwrap();
    let description = SiteDescription {
        schema: SITE_SCHEMA.to_owned(),
        site: name.to_owned(),
        pid: 4700,
        site_file: folder.join("line.toml").canonicalize().unwrap(),
        started_at: "2026-11-21T20:15:03Z".to_owned(),
        started_by: Some(StartedBy {
            folder: Some(folder.canonicalize().unwrap()),
            ..StartedBy::this_process()
        }),
        partitions: vec!["axis".to_owned(), "tank".to_owned()],
        quietcore_version: "0".to_owned(),
    };
    claim.describe(&description).unwrap();
    let site = Arc::new(FakeSite::with_program(program));
    site.state().name = name.to_owned();
    let served = Arc::clone(&site) as Arc<dyn quietcore_supervisor::Site>;
    let server = Server::start(claim.listen().unwrap(), name, served, Limits::default()).unwrap();
    Ground { site, claim, description, _server: server }
}

pub(crate) fn command_in(folder: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = quietcore(folder);
    command.args(arguments);
    command.env("QUIETCORE_RUN_DIR", folder.join("run"));
    command.env("QUIETCORE_STATE_DIR", folder.join("state"));
    command
}

pub(crate) fn call(folder: &Path, arguments: &[&str]) -> Said {
    said(&command_in(folder, arguments).output().unwrap())
}

/// Makes a call that must succeed, and returns its output.
pub(crate) fn done(folder: &Path, arguments: &[&str]) -> String {
    let said = call(folder, arguments);
    assert_eq!(said.status, Some(0), "{arguments:?}: {}", said.err);
    said.out
}

/// Makes a call that must fail, and returns its error.
pub(crate) fn refused(folder: &Path, arguments: &[&str]) -> String {
    let said = call(folder, arguments);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{arguments:?}: {}", said.err);
    said.err
}
