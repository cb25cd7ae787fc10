//! Programs of their own in C: what they say, and how they end.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use crate::library::{has, link, root, run};

/// Runs a program and compares what it says with what is stored beside its source.
fn play(name: &str, compiler: &[&str]) {
    if !has(compiler[0]) {
        quietcore_skip::skip!("no compiler `{}`; install it (Miri runs none)", compiler[0]);
        return;
    }
    let program = link(name, compiler, &[]);
    let (output, said, complained) = run(&mut Command::new(program));
    let expected = fs::read_to_string(root().join(format!("tests/c/programs/{name}.txt"))).unwrap();
    assert_eq!(said, expected, "{name}: {complained}");
    assert!(output.status.success() && complained.is_empty(), "{:?} {complained}", output.status);
}

const C: [&str; 2] = ["gcc", "-std=gnu99"];
const CPP: [&str; 2] = ["g++", "-std=c++17"];

#[test]
fn tasks_run_in_the_order_of_the_standard() {
    play("tasks", &C);
}

#[test]
fn a_cpp_program_does_the_same() {
    play("tasks", &CPP);
}

#[test]
fn an_extended_task_waits_for_its_events() {
    play("events", &C);
}

#[test]
fn alarms_expire_in_real_time_and_no_tick_is_lost() {
    play("alarms", &C);
}

#[test]
fn isrs_are_taken_by_level_from_signals_and_other_threads() {
    play("interrupts", &C);
}

/// Goal: threads of the program's own break nothing, whatever they call, at whichever instant.
/// Method: three of them call every service in a loop while a task works and looks at its results.
#[test]
fn threads_of_the_program_break_nothing() {
    play("threads", &C);
}

#[test]
fn the_error_hook_is_told_which_call_it_was() {
    play("errors", &C);
}

#[test]
fn what_the_kernel_finds_is_named_and_nothing_is_left_behind() {
    if !has("gcc") {
        quietcore_skip::skip!("no compiler `gcc`; install it (Miri runs none)");
        return;
    }
    let budget = ["-DACCOUNTING=1u", "-DBUDGET_NS=3000000u"];
    let (output, said, complained) = run(&mut Command::new(link("endings", &C, &budget)));
    let expected = fs::read_to_string(root().join("tests/c/programs/endings.txt")).unwrap();
    assert_eq!(said, expected, "{complained}");
    let lines: Vec<&str> = complained.lines().collect();
    let named = [
        "quietcore-osek: task 1 (Middle): it returned without TerminateTask",
        "quietcore-osek: task 0 (Low): it used up its execution budget",
        "quietcore-osek: task 1 (Middle): it returned without TerminateTask",
        "quietcore-osek: task 3 (Deep): its stack overflowed",
        "quietcore-osek: task 1 (Middle): it returned without TerminateTask",
    ];
    assert_eq!(lines.len(), named.len(), "{complained}");
    for (line, named) in lines.iter().zip(named) {
        assert!(line.starts_with(named), "{line}");
    }
    assert!(output.status.success(), "{:?}", output.status);
}

/// Goal: an error in a loop is told, and does not stop the machine with what it writes.
/// Method: twenty thousand errors; what is written and what is said not to be add up to them.
#[test]
fn a_flood_of_errors_is_told_in_part_and_counted() {
    if !has("gcc") {
        quietcore_skip::skip!("no compiler `gcc`; install it (Miri runs none)");
        return;
    }
    let (output, said, complained) = run(&mut Command::new(link("flood", &C, &[])));
    assert_eq!(said, "error hooks 20000\n");
    let untold =
        |line: &str| line.strip_prefix("quietcore-osek: ")?.split_once(" more ")?.0.parse().ok();
    let lines = complained.lines();
    let counts: Vec<usize> = lines.map(|line| untold(line).unwrap_or(1)).collect();
    assert_eq!(counts.iter().sum::<usize>(), 20_000);
    // A hundred and a summary each second; a slow machine takes a few.
    assert!(counts.len() <= 1010 && output.status.success(), "{} lines", counts.len());
}

/// Goal: an overflow is named, whatever it looks like, and no other fault is called one.
/// Method: a program that faults as its argument says; who is not named dies of the signal.
#[test]
fn an_overflow_is_told_from_other_faults() {
    if !has("gcc") {
        quietcore_skip::skip!("no compiler `gcc`; install it (Miri runs none)");
        return;
    }
    let program = link("faults", &C, &[]);
    for what in ["no room for a signal", "a wide frame"] {
        let (output, said, complained) = run(Command::new(&program).arg(what));
        assert_eq!(said, format!("{what}\nended with 12\n"), "{complained}");
        let named = "quietcore-osek: task 0 (Low): its stack overflowed";
        assert!(output.status.success() && complained.starts_with(named), "{what}: {complained}");
    }
    for what in ["another task's guard", "another thread", "sent"] {
        let (output, said, complained) = run(Command::new(&program).arg(what));
        assert_eq!((said, complained), (format!("{what}\n"), String::new()));
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{what}");
    }
}

#[test]
fn valgrind_finds_nothing_in_programs_that_switch_stacks() {
    if !has("valgrind") || !has("gcc") {
        quietcore_skip::skip!("no Valgrind; install Debian's `valgrind`");
        return;
    }
    for name in ["tasks", "events", "errors"] {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=99"]).arg(link(name, &C, &[]));
        let (output, said, complained) = run(&mut command);
        let path = root().join(format!("tests/c/programs/{name}.txt"));
        assert_eq!(said, fs::read_to_string(path).unwrap(), "{complained}");
        assert!(output.status.success(), "{complained}");
        assert_eq!(complained, "");
    }
}
