//! Tests that a sealed process has given up its rights. Each case is a process of its own: what is
//! given up is gone for good. Namespaces for users can be taken by a process with one thread only,
//! so these tests have a main function.

#![deny(unsafe_code)]

#[expect(dead_code, reason = "other tests use what this one does not")]
mod bare;

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use quietcore_microvm::exits::Exits;
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Stopped;
use quietcore_microvm::runner::{Ended, Runner};
use quietcore_microvm::sandbox::{self, Calls, Violation};

/// Names the case that this process is.
const CASE: &str = "QUIETCORE_SANDBOX_CASE";

fn main() -> ExitCode {
    match env::var(CASE).as_deref() {
        Ok("refused") => refused(),
        Ok("ended") => ended(),
        Ok("enclosed") => enclosed(),
        Ok("rights") => rights(),
        Ok("guest") => guest(),
        Ok("fault") => fault(),
        Ok("panic") => panics(),
        Ok("exit twice") => exits_twice(),
        Ok(other) => panic!("no case `{other}`"),
        Err(_) => return run_tests(),
    }
    ExitCode::SUCCESS
}

fn run_tests() -> ExitCode {
    let test = |name: &str, check: fn()| {
        Trial::test(name, move || {
            check();
            Ok(())
        })
    };
    let tests = vec![
        test("what_is_not_on_the_list_is_refused", what_is_not_on_the_list_is_refused),
        test("a_violation_ends_the_process", a_violation_ends_the_process),
        test("an_enclosed_process_sees_nothing_of_the_host", an_enclosed_process_sees_nothing),
        test("rights_are_given_up_for_good", rights_are_given_up_for_good),
        test("a_fault_of_a_sealed_thread_is_told_as_one", a_fault_is_told_as_one),
        test("a_panic_of_a_sealed_thread_is_told_and_caught", a_panic_is_told_and_caught),
        test("two_sealed_threads_may_end_the_process", two_threads_may_end_the_process),
        test("a_sealed_thread_runs_its_guest", a_sealed_thread_runs_its_guest),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

fn child(case: &str) -> Output {
    let own = env::current_exe().expect("this program");
    Command::new(own).env(CASE, case).env("RUST_BACKTRACE", "1").output().expect("it starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Says what came of it; without a buffer, so that it is said at once.
fn say(what: &str, result: &io::Result<impl std::fmt::Debug>) {
    match result {
        Ok(value) => println!("{what}: {value:?}"),
        Err(error) => println!("{what}: {}", error.raw_os_error().unwrap_or(0)),
    }
}

/// Tries what somebody would who has broken out.
fn refused() {
    let file = File::open("/dev/zero").expect("it is there");
    sandbox::seal(&Calls::of_waiting_thread(), Violation::Refuse).expect("a filter");
    say("open", &File::open("/etc/hostname"));
    say("socket", &std::net::UdpSocket::bind("127.0.0.1:0"));
    say("execve", &Command::new("/bin/true").status());
    say("thread", &std::thread::Builder::new().spawn(|| ()).map(|_| ()));
    for (what, number, arguments) in [
        ("ptrace", libc::SYS_ptrace, [libc::PTRACE_TRACEME as i64, 0, 0]),
        ("mount", libc::SYS_mount, [0, 0, 0]),
        ("kill", libc::SYS_kill, [1, 0, 0]),
        ("tgkill of another", libc::SYS_tgkill, [1, 1, 0]),
        ("ioctl", libc::SYS_ioctl, [0, 0x5401, 0]),
        ("unshare", libc::SYS_unshare, [0, 0, 0]),
        ("bpf", libc::SYS_bpf, [0, 0, 0]),
        ("executable memory", libc::SYS_mmap, [0, 4096, i64::from(libc::PROT_EXEC)]),
        ("process_vm_writev", libc::SYS_process_vm_writev, [1, 0, 0]),
    ] {
        say(what, &bare::system_call(number, arguments));
    }
    // What a thread needs goes on.
    let mut byte = [7; 1];
    say("read", &io::Read::read(&mut &file, &mut byte).map(|bytes| (bytes, byte[0])));
    println!("allocated: {}", vec![1_u8; 1 << 20].iter().map(|byte| u64::from(*byte)).sum::<u64>());
    std::thread::sleep(Duration::from_millis(1));
    println!("slept");
}

fn what_is_not_on_the_list_is_refused() {
    let output = child("refused");
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    for what in [
        "open",
        "socket",
        "execve",
        "thread",
        "ptrace",
        "mount",
        "kill",
        "tgkill of another",
        "ioctl",
        "unshare",
        "bpf",
        "executable memory",
        "process_vm_writev",
    ] {
        let line = format!("{what}: {}", libc::EPERM);
        assert!(said.lines().any(|it| it == line), "{what} is to be refused:\n{said}");
    }
    for line in ["read: (1, 0)", "allocated: 1048576", "slept"] {
        assert!(said.lines().any(|it| it == line), "{line}:\n{said}");
    }
}

fn ended() {
    sandbox::seal(&Calls::of_waiting_thread(), Violation::End).expect("a filter");
    println!("sealed");
    let _ = File::open("/etc/hostname");
    println!("still here");
}

fn a_violation_ends_the_process() {
    let output = child("ended");
    assert_eq!(output.status.signal(), Some(libc::SIGSYS), "{}", said(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sealed\n");
}

fn fault() {
    sandbox::seal(&Calls::of_waiting_thread(), Violation::End).expect("a filter");
    bare::fault();
}

fn a_fault_is_told_as_one() {
    let output = child("fault");
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{}", said(&output));
}

fn panics() {
    sandbox::seal(&Calls::of_waiting_thread(), Violation::End).expect("a filter");
    let caught = std::panic::catch_unwind(|| panic!("on purpose"));
    println!("caught: {}", caught.is_err());
}

fn a_panic_is_told_and_caught() {
    let output = child("panic");
    let said = said(&output);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    assert!(said.contains("thread `main` panicked at ") && said.contains("on purpose"), "{said}");
    assert!(said.contains("caught: true"), "{said}");
}

/// One thread ends the process, which takes a moment; another one does so meanwhile.
fn exits_twice() {
    bare::end_slowly();
    let (sealed, is_sealed) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        sandbox::seal(&Calls::of_waiting_thread(), Violation::End).expect("a filter");
        sealed.send(()).expect("the other waits");
        while !bare::ends() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::process::exit(1);
    });
    sandbox::seal(&Calls::of_waiting_thread(), Violation::End).expect("a filter");
    is_sealed.recv().expect("it is sealed");
    std::process::exit(0);
}

fn two_threads_may_end_the_process() {
    let output = child("exit twice");
    assert!(output.status.success(), "{:?}: {}", output.status, said(&output));
}

fn enclosed() {
    let report = sandbox::enclose();
    println!("report: {report}");
    let files = fs::read_dir("/").map(Iterator::count);
    say("files", &files);
    say("host name file", &File::open("/etc/hostname").map(|_| ()));
    say("writing", &File::create("/file").map(|_| ()));
    say("parent", &fs::read_dir("/..").map(Iterator::count));
    say("interfaces", &bare::interfaces());
    say("whole", &report.require_all().map_err(|error| io::Error::other(error.to_string())));
}

fn an_enclosed_process_sees_nothing() {
    let output = child("enclosed");
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    if said.contains("namespaces not given up") {
        return quietcore_skip::skip!("no namespaces: {}", said.lines().next().unwrap_or_default());
    }
    for line in ["files: 0", "host name file: 2", "parent: 0", "interfaces: [\"lo\"]", "whole: ()"]
    {
        assert!(said.lines().any(|it| it == line), "{line}:\n{said}");
    }
    let report = said.lines().next().unwrap_or_default();
    assert!(report.starts_with("report: namespaces given up"), "{said}");
    assert!(report.ends_with("files given up") && !report.contains(" not "), "{said}");
    let read_only = format!("writing: {}", libc::EROFS);
    assert!(said.lines().any(|it| it == read_only), "{said}");
}

fn rights() {
    sandbox::give_up().expect("they are given up");
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    for line in status.lines().filter(|line| line.starts_with("Cap") || line.starts_with("NoNew")) {
        println!("{line}");
    }
    let names = i64::from(libc::CLONE_NEWUTS);
    say("unshare", &bare::system_call(libc::SYS_unshare, [names, 0, 0]));
    println!(
        "{}",
        said(
            &Command::new("grep")
                .args(["CapEff", "/proc/self/status"])
                .output()
                .expect("it is there")
        )
    );
}

fn rights_are_given_up_for_good() {
    let output = child("rights");
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    for line in ["CapPrm:\t0000000000000000", "NoNewPrivs:\t1", "unshare: 1"] {
        assert!(said.lines().any(|it| it == line), "{line}:\n{said}");
    }
    let none = said.lines().filter(|line| *line == "CapEff:\t0000000000000000");
    assert_eq!(none.count(), 2, "its own, and those of a program that it starts:\n{said}");
}

/// A guest whose process has given up everything, for real.
fn guest() {
    let Some(machine) = bare::machine(bare::counting(), &Options::default()) else {
        println!("no KVM");
        return;
    };
    let report = sandbox::enclose();
    let processor = bare::processor(&machine);
    let checkpoint = processor.checkpoint().expect("a checkpoint");
    let calls = Calls::of_processor(&processor).and_resets(&processor);
    let (bus, exits) = (Arc::new(bare::Everything::default()), Arc::new(Exits::default()));
    let runner = Runner::spawn("vcpu", processor, bus, exits, move || {
        sandbox::give_up()?;
        Ok(sandbox::seal(&calls, Violation::End)?)
    });
    let runner = runner.expect("a thread");
    sandbox::give_up().expect("rights are given up");
    sandbox::seal(&Calls::of_waiting_thread(), Violation::End).expect("a filter");
    let limit = Duration::from_secs(20);
    runner.resume().expect("it stands still");
    while bare::count(&machine) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    runner.pause(limit).expect("it stands still");
    let memory = machine.memory().mapping();
    let place = vm_memory::GuestAddress(bare::ENTRY);
    vm_memory::Bytes::write_slice(memory, bare::ending(), place).expect("room");
    runner
        .with_processor(limit, move |processor| processor.reset(&checkpoint))
        .expect("it answers")
        .expect("it is reset");
    runner.resume().expect("it stands still");
    runner.wait(limit).expect("it ends");
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Guest(Stopped::Ended(7))), "{outcome:?}");
    println!("ran, with {report}");
}

fn a_sealed_thread_runs_its_guest() {
    let output = child("guest");
    let said = said(&output);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    if said.contains("no KVM") {
        return quietcore_skip::skip!("no KVM");
    }
    assert!(said.contains("ran, with namespaces"), "{said}");
}
