//! Calls that return, crash, loop, and loop in shelter.
//!
// UNSAFETY: reads from where nothing is, which is the crash that the guard must survive.

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

static CALLED_WITH: AtomicU32 = AtomicU32::new(0);

extern "C" fn note(rate: u32) {
    CALLED_WITH.store(rate, Ordering::Relaxed);
}

extern "C" fn read_nowhere(_: u32) {
    // SAFETY: not safe at all; this is the crash that the guard must survive.
    let read = unsafe { std::ptr::without_provenance::<u32>(0x40).read_volatile() };
    CALLED_WITH.store(read, Ordering::Relaxed);
}

/// The processor finds that this can't be an address, and the operating system tells none.
#[cfg(target_arch = "x86_64")]
extern "C" fn read_what_is_no_address(_: u32) {
    // SAFETY: as above.
    let read = unsafe { std::ptr::without_provenance::<u32>(1 << 63).read_volatile() };
    CALLED_WITH.store(read, Ordering::Relaxed);
}

extern "C" fn loop_forever(_: u32) {
    while CALLED_WITH.load(Ordering::Relaxed) != u32::MAX {
        std::hint::spin_loop();
    }
}

static SHELTER_IS_OPEN: AtomicU32 = AtomicU32::new(0);
static LOOPS_IN_SHELTER: AtomicU32 = AtomicU32::new(0);

extern "C" fn loop_in_shelter(_: u32) {
    enter_shelter();
    while SHELTER_IS_OPEN.load(Ordering::Relaxed) == 0 {
        LOOPS_IN_SHELTER.fetch_add(1, Ordering::Relaxed);
    }
    leave_shelter();
    loop_forever(0);
}

#[test]
fn a_call_in_shelter_is_cancelled_when_it_has_left_it() {
    install().unwrap();
    let guard = Guard::default();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        let looping = scope.spawn(|| {
            let thread_id = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            sender.send(thread_id).unwrap();
            // SAFETY: the function has no frame that would need cleaning up.
            let ended = unsafe { guard.call(loop_in_shelter, 0, None) };
            sender.send(0).unwrap();
            ended
        });
        let thread_id = receiver.recv().unwrap();
        while LOOPS_IN_SHELTER.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        let call = guard.running().unwrap();
        for _ in 0..20 {
            let loops = LOOPS_IN_SHELTER.load(Ordering::Relaxed);
            guard.cancel(call, thread_id).unwrap();
            while LOOPS_IN_SHELTER.load(Ordering::Relaxed) < loops + 2 {
                assert_eq!(guard.running(), Some(call), "it is in shelter");
            }
        }
        SHELTER_IS_OPEN.store(1, Ordering::Relaxed);
        while receiver.recv_timeout(Duration::from_millis(1)).is_err() {
            // It may just have ended.
            let _ = guard.cancel(call, thread_id);
        }
        assert!(looping.join().unwrap().unwrap_err().is_cancelled());
    });
}

#[test]
fn a_call_that_returns_leaves_no_trace() {
    install().unwrap();
    let guard = Guard::default();
    // SAFETY: the function lives as long as the program.
    assert_eq!(unsafe { guard.call(note, 7, None) }, Ok(()));
    assert_eq!(CALLED_WITH.load(Ordering::Relaxed), 7);
    assert_eq!(guard.running(), None);
}

#[test]
fn a_crash_is_a_fault_with_its_address_again_and_again() {
    install().unwrap();
    let guard = Guard::default();
    // SAFETY: the function has no frame that would need cleaning up.
    let faults = [(); 3].map(|()| unsafe { guard.call(read_nowhere, 0, None) }.unwrap_err());
    for fault in faults {
        assert_eq!((fault.signal, fault.address), (libc::SIGSEGV.unsigned_abs(), 0x40));
        assert!(fault.instruction != 0 && fault.instruction == faults[0].instruction);
        assert!(!fault.is_cancelled());
    }
}

#[inline(never)]
extern "C" fn measure_nothing(_: u32) {
    // SAFETY: not safe at all; the C library reads where nothing is.
    let length = unsafe { libc::strlen(std::ptr::null()) };
    CALLED_WITH.store(length as u32, Ordering::Relaxed);
}

/// Goal: the caller is found by its code, and none is found for a crash outside of libraries.
#[test]
fn a_crash_in_a_library_is_traced_to_who_called_it() {
    install().unwrap();
    let caller = measure_nothing as *const () as u64;
    // SAFETY: the function has no frame that would need cleaning up.
    let ended = unsafe { Guard::default().call(measure_nothing, 0, None) };
    assert_eq!(ended.unwrap_err().signal, libc::SIGSEGV.unsigned_abs());
    // SAFETY: the code of this program.
    let from = unsafe { called_from(caller..caller + 256) }.unwrap();
    assert!((caller..caller + 256).contains(&from));
    // SAFETY: as above; `read_nowhere` calls nobody.
    let ended = unsafe { Guard::default().call(read_nowhere, 0, None) };
    assert!(ended.is_err());
    // SAFETY: as above.
    assert_eq!(unsafe { called_from(caller..caller + 256) }, None);
}

/// Goal: a crash with a stack pointer to nowhere is a fault as any other.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_crash_without_a_stack_is_survived() {
    extern "C" fn lose_the_stack(_: u32) {
        // SAFETY: not safe at all; the guard must survive that it never comes back.
        unsafe { std::arch::asm!("mov rsp, 0x1008", "mov rax, [0x40]", options(noreturn)) }
    }
    install().unwrap();
    // SAFETY: the function has no frame that would need cleaning up.
    let ended = unsafe { Guard::default().call(lose_the_stack, 0, None) };
    assert_eq!(ended.unwrap_err().signal, libc::SIGSEGV.unsigned_abs());
    // SAFETY: no code at all.
    assert_eq!(unsafe { called_from(0..0) }, None);
}

#[test]
fn a_call_that_does_not_return_is_cancelled() {
    install().unwrap();
    let guard = Guard::default();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::scope(|scope| {
        let looping = scope.spawn(|| {
            let thread_id = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            sender.send(thread_id).unwrap();
            // SAFETY: the function has no frame that would need cleaning up.
            unsafe { guard.call(loop_forever, 0, None) }
        });
        let thread_id = receiver.recv().unwrap();
        let call = loop {
            if let Some(call) = guard.running() {
                break call;
            }
            thread::sleep(Duration::from_millis(1));
        };
        // Another call than the one that runs is not ended by mistake.
        guard.cancel(Call(call.0.wrapping_sub(2)), thread_id).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(guard.running(), Some(call));
        // Once would do; many at once must do no harm either, nor those after its end.
        for _ in 0..100 {
            let _ = guard.cancel(call, thread_id);
        }
        assert!(looping.join().unwrap().unwrap_err().is_cancelled());
    });
    assert_eq!(guard.running(), None);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_crash_without_an_address_tells_the_stack_pointer() {
    install().unwrap();
    let here = 0_u8;
    // SAFETY: the function has no frame that would need cleaning up.
    let ended = unsafe { Guard::default().call(read_what_is_no_address, 0, None) };
    let fault = ended.unwrap_err();
    assert_eq!((fault.signal, fault.address), (libc::SIGSEGV as u32, 0));
    let distance = fault.overflow_address.abs_diff((&raw const here).addr() as u64);
    assert!(distance < 64 << 10, "{distance}");
    // SAFETY: as above.
    let ended = unsafe { Guard::default().call(read_nowhere, 0, None) };
    assert_eq!(ended.unwrap_err().overflow_address, 0x40);
}
