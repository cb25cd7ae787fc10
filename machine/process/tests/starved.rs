//! A process that is ended although it gets no processor at its priority.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_process::readback;
use quietcore_process::setting;
use quietcore_units::{Scheduling, SchedulingPolicy};

/// The longest wait for the end of a process that has a twentieth of a processor.
const PATIENCE: Duration = Duration::from_secs(60);

/// Goal: a killed process ends where a thread of higher priority never leaves its CPU.
/// Method: a loop at priority 1 beside one at priority 2; the kernel keeps a twentieth of the CPU
/// for threads that have no priority.
#[test]
fn a_killed_process_ends_beside_a_thread_that_never_leaves_its_cpu() {
    let cpu = setting::allowed().unwrap().iter().last().unwrap();
    let mut starved = Command::new("sh");
    let starved = starved.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
    let mut starved = starved.spawn().unwrap();
    setting::pin_other(starved.id(), cpu).unwrap();
    let low = setting::schedule_other(starved.id(), Scheduling::Fifo { priority: 1 });
    let over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&over);
    let (begun, has_begun) = mpsc::channel();
    let spin = move || {
        setting::pin(cpu)?;
        setting::schedule(Scheduling::Fifo { priority: 2 })?;
        begun.send(()).unwrap();
        while !until.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
        std::io::Result::Ok(())
    };
    let hog = low.is_ok().then(|| thread::spawn(spin));
    // Where it was refused, it says so at its end.
    let _ = has_begun.recv();

    starved.kill().unwrap();
    setting::let_end(starved.id(), 0);
    let ended = wait_for(&mut starved);
    over.store(true, Ordering::Relaxed);
    let beside = low.and_then(|()| hog.unwrap().join().unwrap());
    starved.wait().unwrap();
    match beside {
        Ok(()) => assert_eq!(ended.map(|status| status.signal()), Some(Some(9))),
        Err(error) => quietcore_skip::skip!("no real-time priority: {error}"),
    }
}

/// Goal: where the ordinary policy brings a killed process no processor, a priority does.
#[test]
fn the_attempts_to_let_a_process_end_take_turns() {
    let mut killed = Command::new("sleep").arg("600").spawn().unwrap();
    let id = killed.id();
    let may = setting::schedule_other(id, Scheduling::Fifo { priority: 2 });
    let policies: Vec<_> = (0..3)
        .map(|attempt| {
            setting::let_end(id, attempt);
            readback::read(id, id).unwrap().policy
        })
        .collect();
    killed.kill().unwrap();
    killed.wait().unwrap();
    if let Err(error) = may {
        return quietcore_skip::skip!("no real-time priority: {error}");
    }
    let lowest = SchedulingPolicy::Fifo { priority: 1 };
    assert_eq!(policies, [SchedulingPolicy::Other, lowest, SchedulingPolicy::Other]);
}

fn wait_for(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}
