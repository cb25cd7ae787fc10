//! A watch through a deploy, through silence, and to the end of the site.

use std::sync::Arc;

use super::*;
use crate::fake::{FakeProgram, FakeSite};
use crate::places::{Claim, Places};
use crate::server::{Limits, Server};

struct Fixture {
    site: Arc<FakeSite>,
    server: Server,
    watch: Watch,
    _claim: Claim,
    folder: tempfile::TempDir,
}

fn ground(patterns: &[&str]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let claim = Claim::take(&places, "line").unwrap();
    let site = Arc::new(FakeSite::with_program(FakeProgram::start(folder.path()).unwrap()));
    let served = Arc::clone(&site) as Arc<dyn crate::Site>;
    let listener = claim.listen().unwrap();
    let server = Server::start(listener, "line", served, Limits::default()).unwrap();
    let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
    let watch = Watch::begin(Client::connect(&places, None).unwrap(), "axis", &patterns).unwrap();
    Fixture { site, server, watch, _claim: claim, folder }
}

fn program(site: &FakeSite, act: impl FnOnce(&FakeProgram)) {
    act(site.state().program.as_ref().unwrap());
}

#[test]
fn a_deploy_is_followed() {
    let mut ground = ground(&["servo_DW.counter"]);
    program(&ground.site, |program| program.step(5));
    let sample = ground.watch.sample().unwrap();
    assert_eq!((sample.generation, sample.cycle), (1, 4));
    assert_eq!(sample.rows[0].value, Value::Unsigned(5));
    program(&ground.site, FakeProgram::swap);
    let sample = ground.watch.sample().unwrap();
    assert_eq!((sample.generation, sample.consistent), (2, true));
    assert_eq!(sample.rows[0].value, Value::Unsigned(5));
}

#[test]
fn a_variable_that_a_deploy_took_away_ends_the_watch_with_its_name() {
    let mut ground = ground(&["servo_DW.counter"]);
    let file = ground.folder.path().join("symbols.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"counter\"", "\"number\"")).unwrap();
    program(&ground.site, FakeProgram::swap);
    let refused = ground.watch.sample().unwrap_err().to_string();
    assert!(refused.contains("no `counter` in `servo_DW`"), "{refused}");
}

/// Goal: a partition that was started anew is found again, in its new exchange.
/// Method: another program in the same place, with a higher number; the old one makes no cycle.
#[test]
fn silence_is_told_and_a_new_exchange_is_found() {
    let mut ground = ground(&["servo_DW.counter"]);
    program(&ground.site, |program| program.step(5));
    assert!(!ground.watch.sample().unwrap().silent);
    let later = Instant::now().checked_sub(2 * SILENCE_MIN).unwrap();
    ground.watch.moved_at = later;
    let sample = ground.watch.sample().unwrap();
    assert!(sample.silent && sample.rows[0].value == Value::Unsigned(5), "{sample:?}");
    let next = FakeProgram::start_as(ground.folder.path(), 2).unwrap();
    next.step(3);
    ground.site.state().program = Some(next);
    ground.watch.moved_at = later;
    let sample = ground.watch.sample().unwrap();
    assert_eq!(sample.rows[0].value, Value::Unsigned(3));
}

#[test]
fn the_end_of_the_site_ends_the_watch() {
    let mut ground = ground(&["servo_DW.counter"]);
    ground.server.stop();
    ground.watch.moved_at = Instant::now().checked_sub(2 * SILENCE_MIN).unwrap();
    let refused = ground.watch.sample().unwrap_err();
    assert!(matches!(refused, MonitorError::Client(_)), "{refused}");
}
