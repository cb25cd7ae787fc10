//! `docs/osek-conformance.md`, as these tests would write it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use quietcore_osek::configuration::{Checking, Class};
use quietcore_osek::kernel::CallLevel;
use quietcore_osek::status::{Service, Status};

use crate::stage::{Case, status_name};
use crate::world::CLASSES;

/// The page up to its table.
const HEAD: &str = include_str!("head.md");

/// Fails where two cases could not be told from one another.
///
/// # Errors
/// A name that two cases have.
pub(crate) fn names_differ(cases: &[Case]) -> Result<(), String> {
    let mut names = HashSet::new();
    match cases.iter().map(Case::name).find(|name| !names.insert(name.clone())) {
        Some(name) => Err(format!("two cases are called `{name}`")),
        None => Ok(()),
    }
}

/// Fails where a service has no case. `StartOS` has none: every case begins with it.
///
/// # Errors
/// The numbers of those services.
pub(crate) fn every_service_is_tested(cases: &[Case]) -> Result<(), String> {
    let tested: HashSet<u8> = cases.iter().map(|case| case.service as u8).collect();
    let last = Service::GetCounterValue as u8;
    let untested: Vec<u8> = (1..=last)
        .filter(|number| *number != Service::StartOs as u8 && !tested.contains(number))
        .collect();
    if untested.is_empty() { Ok(()) } else { Err(format!("services {untested:?} have no case")) }
}

/// Compares the page with what it should be.
///
/// # Errors
/// Where they differ first, and what to do.
pub(crate) fn compare(cases: &[Case]) -> Result<(), String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/osek-conformance.md");
    let text = page(cases);
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        return std::fs::write(&path, text).map_err(|error| error.to_string());
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    if stored == text {
        return Ok(());
    }
    let differs = stored.lines().zip(text.lines()).position(|(stored, new)| stored != new);
    Err(format!(
        "docs/osek-conformance.md differs in line {}; if that is meant, run this test with \
         QUIETCORE_STORE=1",
        differs.unwrap_or(0) + 1
    ))
}

/// The cases that one line of the table stands for.
#[derive(Default)]
struct Line {
    tests: usize,
    kinds: BTreeMap<(u8, u8), usize>,
    places: BTreeSet<u8>,
    when: Vec<&'static str>,
}

fn page(cases: &[Case]) -> String {
    let mut lines: BTreeMap<(u8, u8), Line> = BTreeMap::new();
    for case in cases {
        let key = (case.service as u8, case.status.map_or(0, |status| status as u8));
        let line = lines.entry(key).or_default();
        line.tests += 1;
        *line.kinds.entry((case.class as u8, case.checking as u8)).or_default() += 1;
        line.places.insert(case.place as u8);
        if !line.when.contains(&case.when) {
            line.when.push(case.when);
        }
    }
    let mut text = HEAD.to_owned();
    writeln!(text, "{} tests.\n", cases.len()).expect("a string takes all");
    text.push_str("| service | status | BCC1 | BCC2 | ECC1 | ECC2 | from | tests | when |\n");
    text.push_str("|---|---|:-:|:-:|:-:|:-:|---|--:|---|\n");
    for ((service, status), line) in &lines {
        let sample = cases.iter().find(|case| {
            (case.service as u8, case.status.map_or(0, |status| status as u8))
                == (*service, *status)
        });
        let Some(sample) = sample else { continue };
        write_line(&mut text, sample.service, sample.status, line);
    }
    text
}

fn write_line(text: &mut String, service: Service, status: Option<Status>, line: &Line) {
    let classes: Vec<String> = CLASSES.iter().map(|class| kinds(line, *class)).collect();
    let places: Vec<&str> = line.places.iter().map(|place| place_name(*place)).collect();
    let when: Vec<String> = line.when.iter().map(|when| when.replace('_', " ")).collect();
    writeln!(
        text,
        "| `{}` | `{}` | {} | {} | {} | {} |",
        standard_name(service),
        status.map_or("E_OK", status_name),
        classes.join(" | "),
        places.join(", "),
        line.tests,
        when.join("; ")
    )
    .expect("a string takes all");
}

fn kinds(line: &Line, class: Class) -> String {
    let has = |checking: Checking| line.kinds.contains_key(&(class as u8, checking as u8));
    match (has(Checking::Standard), has(Checking::Extended)) {
        (true, true) => "S E".to_owned(),
        (true, false) => "S".to_owned(),
        (false, true) => "E".to_owned(),
        (false, false) => "–".to_owned(),
    }
}

fn place_name(place: u8) -> &'static str {
    let places = [
        (CallLevel::Outside, "outside"),
        (CallLevel::Task, "task"),
        (CallLevel::Isr2, "ISR2"),
        (CallLevel::ErrorHook, "ErrorHook"),
        (CallLevel::PreTaskHook, "PreTaskHook"),
        (CallLevel::PostTaskHook, "PostTaskHook"),
        (CallLevel::StartupHook, "StartupHook"),
        (CallLevel::ShutdownHook, "ShutdownHook"),
        (CallLevel::AlarmCallback, "callback"),
    ];
    places.iter().find(|(other, _)| *other as u8 == place).map_or("", |(_, name)| name)
}

/// The service's name in the standard.
fn standard_name(service: Service) -> String {
    match service {
        Service::GetTaskId => "GetTaskID".to_owned(),
        Service::ShutdownOs => "ShutdownOS".to_owned(),
        Service::SuspendOsInterrupts => "SuspendOSInterrupts".to_owned(),
        Service::ResumeOsInterrupts => "ResumeOSInterrupts".to_owned(),
        other => format!("{other:?}"),
    }
}
