//! Tests of generated files: stored copies, compilers, and the same tables everywhere.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use quietcore_oil::{
    Action, Configuration, Function, Tables, header, oil, reference, rust, source,
};
use quietcore_osek::check::check;
use quietcore_osek::configuration::{self as kernel, Hooks};

use crate::support::{accept, accept_objects, assert_stored, repository_file, stored};

const C99: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wconversion"];
const CXX17: [&str; 5] = ["-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror"];

fn conveyor() -> Configuration {
    accept(&stored("conveyor.oil"))
}

#[test]
fn the_generated_files_are_what_is_stored() {
    let conveyor = conveyor();
    assert_stored("logic/oil/tests/stored/conveyor.h", &header(&conveyor));
    assert_stored("logic/oil/tests/stored/conveyor.c", &source(&conveyor));
    assert_stored("logic/oil/tests/stored/conveyor.rust", &rust(&conveyor));
    assert_stored("logic/oil/tests/stored/conveyor-whole.oil", &oil(&conveyor));
}

/// The generated Rust file in a program.
mod program {
    macro_rules! functions {
        ($($name:ident)+) => { $(extern "C" fn $name() {})+ };
    }
    functions!(task_drive task_sort task_fill task_empty task_report isr_light_barrier);
    functions!(isr_stop_button callback_box_is_full startup_hook);
    extern "C" fn shutdown_hook(_status: u8) {}
    extern "C" fn error_hook(_status: u8) {}

    include!("../stored/conveyor.rust");

    /// The functions by their names.
    pub(super) fn function(name: quietcore_oil::Function<'_>) -> super::kernel::Entry {
        use quietcore_oil::Function::{Callback, Isr, Task};
        match name {
            Task("drive") => task_drive,
            Task("sort") => task_sort,
            Task("fill") => task_fill,
            Task("empty") => task_empty,
            Task("report") => task_report,
            Isr("light_barrier") => isr_light_barrier,
            Isr("stop_button") => isr_stop_button,
            Callback("box_is_full") => callback_box_is_full,
            other => panic!("{other:?} is no function of the program"),
        }
    }

    /// All five hooks; the configuration asks for three.
    pub(super) fn hooks() -> super::Hooks {
        super::Hooks {
            startup: Some(startup_hook),
            shutdown: Some(shutdown_hook),
            error: Some(error_hook),
            pre_task: Some(startup_hook),
            post_task: Some(startup_hook),
        }
    }
}

/// Goal: the tables in a Rust program and those in memory are the same, and the kernel takes them.
/// Method: the stored Rust file is part of this program; both are compared as text.
#[test]
fn the_tables_of_a_rust_program_are_those_in_memory() {
    let tables = Tables::new(&conveyor(), program::hooks(), &mut program::function);
    let in_memory = tables.configuration();
    assert_eq!(format!("{:#?}", program::CONFIGURATION), format!("{in_memory:#?}"));
    check(&in_memory).unwrap();
    assert_eq!(program::tasks::sort, 1);
    assert_eq!(program::events::far, 1 << 63);
    assert_eq!(program::resources::RES_SCHEDULER, 3);
    assert_eq!((program::modes::normal, program::modes::service), (0, 1));
    assert_eq!((program::alarms::full, program::counters::parts), (3, 1));
    assert_eq!((program::isrs::stop_button, program::schedule_tables::shift), (1, 0));
}

#[test]
fn names_that_are_words_of_rust_are_written_so_that_rust_takes_them() {
    let text = rust(&accept_objects("TASK loop { PRIORITY = 1; }; TASK self { PRIORITY = 2; };"));
    assert!(
        text.contains("pub const r#loop: u8 = 0;") && text.contains("pub const self_: u8 = 1;")
    );
    assert!(text.contains("entry: task_loop,") && text.contains("entry: task_self,"));
}

/// Writes files, and says whether there is a compiler for them.
fn is_there(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[track_caller]
fn compile(compiler: &str, folder: &Path, arguments: &[&str]) {
    let headers = repository_file("ground/osek/include");
    let output = Command::new(compiler)
        .current_dir(folder)
        .args(arguments)
        .args(["-I", "."])
        .arg("-I")
        .arg(headers)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn write_generated(folder: &Path, configuration: &Configuration) {
    fs::write(folder.join("os_cfg.h"), header(configuration)).unwrap();
    fs::write(folder.join("os_cfg.c"), source(configuration)).unwrap();
}

/// The functions that a configuration asks for, in C; each says its name when it is called.
fn functions(configuration: &Configuration) -> String {
    let mut text =
        "#include \"os.h\"\nextern const char *called;\nconst char *called;\n".to_owned();
    for task in configuration.tasks() {
        writeln!(text, "TASK({0}) {{ called = \"task_{0}\"; }}", task.name).unwrap();
    }
    for isr in configuration.isrs() {
        writeln!(text, "ISR({0}) {{ called = \"isr_{0}\"; }}", isr.name).unwrap();
    }
    for callback in configuration.callbacks() {
        writeln!(text, "ALARMCALLBACK({callback}) {{ called = \"callback_{callback}\"; }}")
            .unwrap();
    }
    let hooks = configuration.hooks();
    let all = [
        (hooks.startup, "StartupHook", "void"),
        (hooks.shutdown, "ShutdownHook", "StatusType status"),
        (hooks.error, "ErrorHook", "StatusType status"),
        (hooks.pre_task, "PreTaskHook", "void"),
        (hooks.post_task, "PostTaskHook", "void"),
    ];
    for (_, name, parameters) in all.into_iter().filter(|(is_there, ..)| *is_there) {
        let used = if parameters == "void" { "" } else { "(void)status;" };
        writeln!(text, "void {name}({parameters}) {{ {used} }}").unwrap();
    }
    text
}

/// Writes the output of `dump.c`, from the tables in memory.
fn dump(configuration: &Configuration) -> String {
    let mut nothing = |_: Function<'_>| -> kernel::Entry { noop };
    let tables = Tables::new(configuration, Hooks::default(), &mut nothing);
    let table = tables.configuration();
    let hooks = configuration.hooks();
    let hooks = [hooks.startup, hooks.shutdown, hooks.error, hooks.pre_task, hooks.post_task];
    let mut lines = vec![
        format!(
            "configuration {} {} {} {}",
            table.class as u8,
            table.checking as u8,
            u8::from(table.accounting),
            table.mode_count
        ),
        format!("hooks {}", hooks.map(|it| u8::from(it).to_string()).join(" ")),
    ];
    for (task, named) in table.tasks.iter().zip(configuration.tasks()) {
        lines.push(format!(
            "task {0} task_{0} {1} {2} {3} {4} {5} {6} {7} {8} {9}",
            named.name,
            task.events,
            task.budget_ns,
            task.inter_arrival_ns,
            task.autostart,
            task.stack_bytes,
            task.priority,
            task.running_level,
            task.activations,
            task.kind as u8
        ));
    }
    for (isr, named) in table.isrs.iter().zip(configuration.isrs()) {
        let name = &named.name;
        lines.push(format!("isr isr_{name} {} {} {}", isr.source, isr.level, isr.category));
    }
    for resource in table.resources {
        lines.push(format!("resource {} {}", resource.scale as u8, resource.ceiling));
    }
    for counter in table.counters {
        lines.push(format!(
            "counter {} {} {} {} {}",
            counter.max_allowed,
            counter.ticks_per_base,
            counter.min_cycle,
            u8::from(counter.hardware),
            counter.tick_ns
        ));
    }
    lines.extend(times(configuration, &table));
    for message in table.messages {
        let kernel::Message { number, object, events, .. } = message;
        let (group, kind) = (u8::from(message.is_group), message.notification as u8);
        lines.push(format!("message {number} {group} {kind} {object} {events}"));
    }
    lines.join("\n") + "\n"
}

fn times(configuration: &Configuration, table: &kernel::Configuration<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (alarm, named) in table.alarms.iter().zip(configuration.alarms()) {
        let action = action(&alarm.action, &named.action);
        let kernel::Alarm { counter, autostart, first, cycle, .. } = alarm;
        lines.push(format!("alarm {counter} {autostart} {first} {cycle}{action}"));
    }
    for one in table.schedule_tables {
        let repeating = u8::from(one.repeating);
        lines.push(format!(
            "table {} {} {} {repeating} {} {} {}",
            one.counter, one.first_point, one.point_count, one.duration, one.autostart, one.start
        ));
    }
    for point in table.expiry_points {
        lines.push(format!("point {} {} {}", point.offset, point.first_action, point.action_count));
    }
    let points = configuration.schedule_tables().iter().flat_map(|table| &table.points);
    let named = points.flat_map(|point| &point.actions);
    for (one, named) in table.actions.iter().zip(named) {
        lines.push(format!("action{}", action(one, named)));
    }
    lines
}

fn action(action: &kernel::Action, named: &Action) -> String {
    let callback = match named {
        Action::Callback(name) => format!("callback_{name}"),
        _ => "nothing".to_owned(),
    };
    format!(" {} {} {} {callback}", action.kind as u8, action.object, action.events)
}

extern "C" fn noop() {}

/// Applications that leave as much out as they can, or have names of a kind.
fn others() -> Vec<Configuration> {
    let text = reference();
    let example = text.split("```oil\n").nth(1).unwrap().split("```").next().unwrap();
    vec![
        accept_objects("TASK only { PRIORITY = 1; };"),
        accept(
            "OIL_VERSION = \"2.5\";\n\
             CPU c { OS k { USERESSCHEDULER = FALSE; }; TASK t { PRIORITY = 1; }; };",
        ),
        accept(example),
        // Names of fields, and of what a program might call its own.
        accept_objects(
            "TASK tasks { PRIORITY = 1; EVENT = entry; EVENT = kind; };\n\
             TASK priority { PRIORITY = 2; RESOURCE = ceiling; }; RESOURCE ceiling;\n\
             EVENT entry; EVENT kind { MASK = 0x80000000; };\n\
             COUNTER counter { MAXALLOWEDVALUE = 1; };\n\
             ISR level { CATEGORY = 1; PRIORITY = 2; SOURCE = 0; };",
        ),
    ]
}

/// The numbers of messages that the build for a partition defines: those in memory.
fn numbers(configuration: &Configuration) -> Vec<String> {
    let messages = configuration.messages().iter().enumerate();
    messages.map(|(number, it)| format!("-DComConf_ComSignal_{}={number}u", it.name)).collect()
}

/// Goal: C sees in the generated files exactly the tables that Rust has in memory.
/// Method: compile them with all warnings, run a program that prints them, compare its output.
#[test]
fn the_tables_of_a_c_program_are_those_in_memory() {
    if !is_there("gcc") {
        quietcore_skip::skip!("there is no gcc; install `gcc` and `libc6-dev`");
        return;
    }
    for configuration in others().into_iter().chain([conveyor()]) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_generated(folder, &configuration);
        fs::write(folder.join("functions.c"), functions(&configuration)).unwrap();
        let dump_c = repository_file("logic/oil/tests/harness/dump.c");
        let mut arguments = C99.to_vec();
        let numbers = numbers(&configuration);
        arguments.extend(numbers.iter().map(String::as_str));
        arguments.extend(["os_cfg.c", "functions.c", "-o", "dump", dump_c.to_str().unwrap()]);
        compile("gcc", folder, &arguments);
        let output = Command::new(folder.join("dump")).output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), dump(&configuration));
    }
}

#[test]
fn the_header_is_valid_by_itself_in_c_and_in_cxx_together_with_the_services() {
    if !is_there("g++") {
        quietcore_skip::skip!("there is no g++; install `g++`");
        return;
    }
    let configuration = conveyor();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_generated(folder, &configuration);
    let uses = repository_file("logic/oil/tests/harness/uses.c");
    fs::copy(uses, folder.join("uses.c")).unwrap();
    fs::write(folder.join("functions.c"), functions(&configuration)).unwrap();
    let mut c = C99.to_vec();
    c.extend(["-c", "uses.c"]);
    compile("gcc", folder, &c);
    for file in ["uses.c", "functions.c"] {
        let mut cxx = CXX17.to_vec();
        cxx.extend(["-x", "c++", "-c", file]);
        compile("g++", folder, &cxx);
    }
}

/// Goal: the tables have the number of a group where there is one, and without a number the
/// compiler says what is missing.
/// Method: preprocess the tables with and without the macros of a partition's channels.
#[test]
fn a_message_has_the_number_of_its_signal_or_group() {
    if !is_there("gcc") {
        quietcore_skip::skip!("there is no gcc; install `gcc` and `libc6-dev`");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_generated(folder, &conveyor());
    let preprocess = |defines: &[&str]| {
        let headers = repository_file("ground/osek/include");
        let mut gcc = Command::new("gcc");
        gcc.current_dir(folder).args(["-E", "-P", "-I", ".", "-I"]).arg(headers).args(defines);
        let output = gcc.arg("os_cfg.c").output().unwrap();
        let said = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        (output.status.success(), said)
    };
    let order = "-DComConf_ComSignalGroup_order=3u";
    let others = ["-DComConf_ComSignal_order_jam=7u", "-DComConf_ComSignal_drive=8u"];
    let (is_whole, [tables, _]) = preprocess(&[order, others[0], others[1]]);
    assert!(is_whole && tables.contains("{ .number = 3u, .is_group = 1u, .notification = 0u"));
    assert!(tables.contains("{ .number = 7u, .notification = 1u, .object = sort"), "{tables}");
    let (is_whole, [_, said]) = preprocess(&others);
    assert!(!is_whole && said.contains("MESSAGE order: define ComConf_ComSignal_order"), "{said}");
}
