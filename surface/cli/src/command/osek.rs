//! `quietcore osek check` and `quietcore osek generate`

use std::fs;
use std::path::{Path, PathBuf};

use quietcore_evidence::write_whole;
use quietcore_oil::{Action, Configuration, Problems};
use quietcore_program::osek::{self, OilError};
use quietcore_units::{ByteSize, Nanos};
use serde::Serialize;

use crate::arguments::{OsekCheck, OsekGenerate, OsekKind, OsekVerb};
use crate::status::{Failure, Status};
use crate::table::Table;

pub(super) fn run(request: &OsekVerb) -> Result<Status, Failure> {
    match &request.osek {
        OsekKind::Check(request) => check(request),
        OsekKind::Generate(request) => generate(request),
    }
}

/// What `osek check --json` prints.
#[derive(Debug, Default, Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    problems: Vec<Remark>,
    remarks: Vec<Remark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    application: Option<Application>,
}

/// Something at a place of the file.
#[derive(Debug, Serialize)]
struct Remark {
    file: String,
    line: u32,
    column: u32,
    token: String,
    message: String,
}

#[derive(Debug, Serialize)]
struct Application {
    class: String,
    status: String,
    tick_ns: Option<u64>,
    modes: Vec<String>,
    tasks: Vec<Task>,
    alarms: Vec<Alarm>,
}

#[derive(Debug, Serialize)]
struct Task {
    name: String,
    kind: String,
    priority: u32,
    preemptable: bool,
    activations: u8,
    autostart: bool,
    stack_bytes: u32,
    budget_ns: Option<u64>,
    inter_arrival_ns: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Alarm {
    name: String,
    counter: String,
    action: String,
    first: Option<u32>,
    cycle: Option<u32>,
}

const SCHEMA: &str = "quietcore.osek-check/1";

fn check(request: &OsekCheck) -> Result<Status, Failure> {
    let file = request.file.display().to_string();
    let configuration = match osek::read(&request.file) {
        Ok(configuration) => configuration,
        Err(OilError::Refused(problems)) if request.json => {
            let problems = remarks(&problems);
            let document = Document { schema: SCHEMA, file, problems, ..Document::default() };
            super::print_json(&document)?;
            return Ok(Status::NotPassed);
        }
        Err(OilError::Refused(problems)) => {
            crate::terminal::say(format_args!("{problems}"));
            return Ok(Status::NotPassed);
        }
        Err(error) => return Err(error.into()),
    };
    let application = Application::of(&configuration);
    if request.json {
        let remarks = configuration.remarks().iter().map(|remark| Remark {
            file: remark.file.clone(),
            line: remark.line,
            column: remark.column,
            token: remark.token.clone(),
            message: remark.message.clone(),
        });
        let (problems, remarks) = (Vec::new(), remarks.collect());
        let application = Some(application);
        super::print_json(&Document { schema: SCHEMA, file, problems, remarks, application })?;
        return Ok(Status::Done);
    }
    super::print(&application.text())?;
    for remark in configuration.remarks() {
        crate::terminal::say(format_args!("remark: {remark}"));
    }
    Ok(Status::Done)
}

fn remarks(problems: &Problems) -> Vec<Remark> {
    let problems = problems.iter().map(|problem| Remark {
        file: problem.file.clone(),
        line: problem.line,
        column: problem.column,
        token: problem.token.clone(),
        message: problem.message.clone(),
    });
    problems.collect()
}

impl Application {
    fn of(configuration: &Configuration) -> Self {
        let tasks = configuration.tasks().iter().map(|task| Task {
            name: task.name.clone(),
            kind: format!("{:?}", task.kind).to_lowercase(),
            priority: task.given_priority,
            preemptable: task.preemptable,
            activations: task.activations,
            autostart: task.autostart != 0,
            stack_bytes: task.stack_bytes,
            budget_ns: task.budget_ns,
            inter_arrival_ns: task.inter_arrival_ns,
        });
        let alarms = configuration.alarms().iter().map(|alarm| Alarm {
            name: alarm.name.clone(),
            counter: configuration.counters()[alarm.counter].name.clone(),
            action: action(configuration, &alarm.action),
            first: alarm.start.map(|start| start.first),
            cycle: alarm.start.map(|start| start.cycle),
        });
        Self {
            class: format!("{:?}", configuration.class()).to_uppercase(),
            status: format!("{:?}", configuration.checking()).to_lowercase(),
            tick_ns: configuration.hardware_tick_ns(),
            modes: configuration.modes().iter().map(|mode| mode.name.clone()).collect(),
            tasks: tasks.collect(),
            alarms: alarms.collect(),
        }
    }

    fn text(&self) -> String {
        let tick = self.tick_ns.map(|tick_ns| {
            let period = Nanos::new(tick_ns);
            format!(", a tick every {period} (`period` in a site file)")
        });
        let mut lines = vec![format!(
            "{}, {} status{}, application modes: {}",
            self.class,
            self.status,
            tick.unwrap_or_default(),
            self.modes.join(", ")
        )];
        let mut tasks = Table::new(&["task", "kind", ">priority", ">activations", ">stack", ""]);
        for task in &self.tasks {
            tasks.row([
                task.name.clone(),
                task.kind.clone(),
                task.priority.to_string(),
                task.activations.to_string(),
                ByteSize::new(u64::from(task.stack_bytes)).to_string(),
                task.notes(),
            ]);
        }
        lines.push(String::new());
        lines.extend(tasks.lines());
        if !self.alarms.is_empty() {
            let mut alarms = Table::new(&["alarm", "counter", ">first", ">cycle", "does"]);
            for alarm in &self.alarms {
                let ticks =
                    |ticks: Option<u32>| ticks.map_or("–".to_owned(), |it| it.to_string());
                alarms.row([
                    alarm.name.clone(),
                    alarm.counter.clone(),
                    ticks(alarm.first),
                    ticks(alarm.cycle),
                    alarm.action.clone(),
                ]);
            }
            lines.push(String::new());
            lines.extend(alarms.lines());
        }
        lines.join("\n") + "\n"
    }
}

impl Task {
    /// What is special about it.
    fn notes(&self) -> String {
        let budget = self.budget_ns.map(|budget| format!("budget {}", Nanos::new(budget)));
        let arrival =
            self.inter_arrival_ns.map(|time| format!("at most every {}", Nanos::new(time)));
        let notes = [
            self.autostart.then(|| "starts by itself".to_owned()),
            (!self.preemptable).then(|| "not preemptable".to_owned()),
            budget,
            arrival,
        ];
        notes.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn action(configuration: &Configuration, action: &Action) -> String {
    let task = |task: &usize| configuration.tasks()[*task].name.clone();
    match action {
        Action::ActivateTask(number) => format!("activates {}", task(number)),
        Action::SetEvent { task: number, event, .. } => {
            format!("sets {} of {}", configuration.events()[*event].name, task(number))
        }
        Action::Callback(name) => format!("calls {name}"),
        Action::IncrementCounter(number) => {
            format!("increments {}", configuration.counters()[*number].name)
        }
    }
}

/// What `osek generate --json` prints.
#[derive(Debug, Serialize)]
struct Generated {
    schema: &'static str,
    files: Vec<PathBuf>,
    command: String,
}

fn generate(request: &OsekGenerate) -> Result<Status, Failure> {
    let configuration = match osek::read(&request.file) {
        Ok(configuration) => configuration,
        Err(OilError::Refused(problems)) => {
            crate::terminal::say(format_args!("{problems}"));
            return Ok(Status::NotPassed);
        }
        Err(error) => return Err(error.into()),
    };
    fs::create_dir_all(&request.out).map_err(|error| {
        let out = request.out.display();
        Failure::new(format!("quietcore: `{out}` can't be made a folder: {error}"))
    })?;
    let mut files = Vec::new();
    let mut write = |name: &str, content: &[u8]| -> Result<(), Failure> {
        let path = request.out.join(name);
        write_whole(&path, content)?;
        files.push(path);
        Ok(())
    };
    for (name, text) in osek::generated(&configuration) {
        write(name, text.as_bytes())?;
    }
    for (name, text) in osek::HEADERS {
        write(name, text.as_bytes())?;
    }
    write(osek::LIBRARY_FILE, osek::LIBRARY)?;
    let command = command(&request.file, &request.out);
    if request.json {
        super::print_json(&Generated { schema: "quietcore.osek-generate/1", files, command })?;
        return Ok(Status::Done);
    }
    let names: Vec<String> = files.iter().map(|file| format!("wrote {}", file.display())).collect();
    super::print(&format!(
        "{}\n\nWith C beside it that has a `main` which calls StartOS, as a program of its own:\n  \
         {command}\n",
        names.join("\n")
    ))?;
    Ok(Status::Done)
}

/// How a program of its own is made of these files and the C beside the OIL file.
fn command(file: &Path, out: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let sources = folder.join("*.c");
    let stem = file.file_stem().unwrap_or_default().display();
    // Written beside the C, the tables are among `*.c` already.
    let tables = if folder == out { String::new() } else { format!(" {}/os_cfg.c", out.display()) };
    let out = out.display();
    format!("gcc -O2 -I{out} {}{tables} {out}/{} -o {stem}", sources.display(), osek::LIBRARY_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_c_beside_the_oil_file() {
        let made = command(Path::new("models/belt/belt.oil"), Path::new("out"));
        assert_eq!(
            made,
            "gcc -O2 -Iout models/belt/*.c out/os_cfg.c out/libquietcore_osek.a -o belt"
        );
        assert!(command(Path::new("a.oil"), Path::new("b")).contains(" ./*.c "));
        let beside =
            command(Path::new("models/conveyor/conveyor.oil"), Path::new("models/conveyor/"));
        assert!(!beside.contains("os_cfg.c"), "{beside}");
    }
}
