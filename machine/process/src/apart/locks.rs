//! The locks of the C library that a call which was cut off may hold for ever.
//!
//! A program is cut off wherever it is: perhaps within `malloc`, `printf` or `dlsym`, which then
//! keep their locks, and every thread of the process that needs one waits without end. Nobody can
//! look at such a lock, but one thread can be spared to take each of them: where it comes back they
//! are free, and where it does not the process has to be replaced.
//!
// UNSAFETY: functions of the C library are called that have no safe face.
#![expect(unsafe_code, reason = "the C library's own functions are called")]

use std::ffi::c_int;
use std::hint::black_box;

/// More than the C library keeps for a thread apart, and less than it asks the kernel for: such a
/// block comes from the heap that all threads share, under its lock.
const BLOCK_BYTES: usize = 8 << 10;

// SAFETY: declared as the C library defines them.
unsafe extern "C" {
    fn flockfile(stream: *mut libc::FILE);
    fn funlockfile(stream: *mut libc::FILE);
    fn tzset();
    #[link_name = "stdout"]
    static STANDARD_OUTPUT: *mut libc::FILE;
    #[link_name = "stderr"]
    static STANDARD_ERROR: *mut libc::FILE;
}

/// Takes each lock that a program's call may hold, and gives it back: those of the heap, of the
/// streams, of the loader and of the local time. Does not return where one is held for ever.
pub fn pass() {
    // SAFETY: what is given is not used and freed once; nothing is asked of the argument.
    unsafe { libc::free(black_box(libc::malloc(BLOCK_BYTES))) };
    for stream in streams() {
        // SAFETY: the standard streams are there as long as the process.
        unsafe { flockfile(stream) };
        // SAFETY: as above; the lock is this thread's.
        unsafe { funlockfile(stream) };
    }
    // SAFETY: two strings; what it returns may be null and is then not closed.
    let stream = unsafe { libc::fopen(c"/dev/null".as_ptr(), c"r".as_ptr()) };
    if !stream.is_null() {
        // SAFETY: it was opened here and is not used any more.
        unsafe { libc::fclose(stream) };
    }
    const NOW: c_int = libc::RTLD_NOW;
    // SAFETY: no file, which stands for the program that runs already.
    let program = unsafe { libc::dlopen(std::ptr::null(), NOW) };
    if !program.is_null() {
        // SAFETY: it was opened here; the program itself stays loaded.
        unsafe { libc::dlclose(program) };
    }
    // SAFETY: it reads the environment, which nobody of this process changes.
    unsafe { tzset() };
}

fn streams() -> [*mut libc::FILE; 2] {
    // SAFETY: both are set before anything of this process runs, and nobody changes them.
    unsafe { [STANDARD_OUTPUT, STANDARD_ERROR] }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_held_lock_is_passed_when_it_is_given_back() {
        let [stream, _] = streams();
        // SAFETY: as in `pass`.
        unsafe { flockfile(stream) };
        let (sender, receiver) = channel();
        let passing = thread::spawn(move || {
            pass();
            let _ = sender.send(());
        });
        let early = receiver.recv_timeout(Duration::from_millis(50));
        assert_eq!(early, Err(RecvTimeoutError::Timeout));
        // SAFETY: as in `pass`.
        unsafe { funlockfile(stream) };
        passing.join().unwrap();
    }
}
