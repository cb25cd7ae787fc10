//! A process that does not outlive the one that started it, whatever kills that one.
// UNSAFETY: work between fork and exec.
#![expect(unsafe_code, reason = "the kernel is asked in the new process, before its program runs")]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{self, Command};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// Has the kernel kill what a command starts as soon as the thread that starts it ends.
pub fn end_with_this_thread(command: &mut Command) {
    let parent = Pid::from_raw(process::id().cast_signed());
    let bind = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // Its parent may have ended before it was bound to it.
        if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: it makes two system calls and compares two numbers: it takes no lock, and no memory.
    unsafe { command.pre_exec(bind) };
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn what_a_thread_has_started_ends_with_it() {
        let (give, take) = mpsc::channel();
        let starter = thread::spawn(move || {
            let mut command = Command::new("sleep");
            end_with_this_thread(&mut command);
            give.send(command.arg("60").spawn()).unwrap();
        });
        let mut child = take.recv().unwrap().unwrap();
        starter.join().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
    }
}
