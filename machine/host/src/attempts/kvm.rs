//! Measures the speed of guests of this machine's KVM.
//!
//! `/dev/kvm` may be there, open, and still useless: where the hardware's virtualization is not
//! passed on, some hypervisors interpret the guest, a million instructions a second. So a guest is
//! run: one page, real mode, a loop that counts ECX down, and a halt.
//!
//! ```text
//! 1000: 66 49   dec ecx
//! 1002: 75 fc   jnz 1000
//! 1004: f4      hlt
//! ```
//!
//! Such an interpreter may know too few instructions for a program: it stops at the first one of
//! floating-point arithmetic. So one of them is tried, too.
//!
//! ```text
//! 1008: 0f 57 c0   xorps xmm0, xmm0
//! 100b: f4         hlt
//! ```
//!
//! The number of rounds grows fourfold until a run takes [`RUN_LENGTH`]. All of it happens on a
//! thread that is waited for no longer than [`LIMIT`]; a signal then makes `KVM_RUN` return. Should
//! even that fail, the thread is left alone with its page, and this is what is reported.
//
// UNSAFETY: a guest's memory is a raw mapping, and the signal that ends an endless run is let in by
// an ioctl and sent with a call that have no safe wrapper.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "guest memory and signals are raw")
)]

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn calibrate() -> crate::reading::Reading<super::GuestSpeed> {
    crate::reading::Reading::Unreadable("there is no guest for this architecture yet".to_owned())
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::calibrate;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::io;
    use std::mem::size_of;
    use std::os::fd::AsRawFd;
    use std::os::unix::thread::JoinHandleExt;
    use std::path::Path;
    use std::ptr;
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use kvm_bindings::kvm_userspace_memory_region;
    use kvm_ioctls::{Kvm, VcpuExit, VcpuFd, VmFd};
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

    use super::super::GuestSpeed;
    use crate::reading::Reading;

    const LIMIT: Duration = Duration::from_secs(2);
    /// The time in which the thread must notice the signal.
    const PATIENCE: Duration = Duration::from_millis(500);
    /// Short and many, so that one of them has the processor for itself on a busy machine.
    const RUN_LENGTH: Duration = Duration::from_millis(2);
    const RUNS: u32 = 15;
    const ROUNDS_FIRST: u64 = 256;
    const ROUNDS_MOST: u64 = 1 << 30;

    const PAGE: usize = 4096;
    const CODE_AT: u64 = 0x1000;
    const CODE: [u8; 12] = [0x66, 0x49, 0x75, 0xfc, 0xf4, 0, 0, 0, 0x0f, 0x57, 0xc0, 0xf4];
    const SSE_AT: u64 = CODE_AT + 8;
    /// The bit of CR4 that lets a guest use SSE.
    const USES_SSE: u64 = 1 << 9;
    /// Address at which Intel processors without real mode in guests keep a structure of theirs;
    /// any free place.
    const TSS_AT: usize = 0xfffb_d000;
    /// `KVM_SET_SIGNAL_MASK`: `_IOW(0xae, 0x8b, struct kvm_signal_mask)`.
    const KVM_SET_SIGNAL_MASK: libc::c_ulong = 0x4004_ae8b;

    /// Runs the guest and tells its speed.
    pub(in crate::attempts) fn calibrate() -> Reading<GuestSpeed> {
        if !Path::new("/dev/kvm").exists() {
            return Reading::Absent;
        }
        let (sender, receiver) = mpsc::channel();
        let spawned = thread::Builder::new().spawn(move || {
            let _ = sender.send(guest_speed());
        });
        let thread = match spawned {
            Ok(thread) => thread,
            Err(error) => {
                return Reading::Unreadable(format!("no thread: {}", crate::error_text(&error)));
            }
        };
        if let Ok(outcome) = receiver.recv_timeout(LIMIT) {
            return outcome.into();
        }
        // SAFETY: the thread was not joined, so its handle is valid, also if it has just ended.
        unsafe { libc::pthread_kill(thread.as_pthread_t(), kick()) };
        match receiver.recv_timeout(PATIENCE) {
            Ok(outcome) => outcome.into(),
            Err(_) => Reading::Unreadable(
                "/dev/kvm: the guest neither halted within 2 s nor could it be stopped".to_owned(),
            ),
        }
    }

    /// The signal that ends a run. Blocked in the thread, so that it never acts by itself.
    fn kick() -> libc::c_int {
        libc::SIGRTMIN() + 6
    }

    fn guest_speed() -> Result<GuestSpeed, String> {
        block_kick().map_err(|error| format!("signal mask: {}", crate::error_text(&error)))?;
        let memory = Memory::new().map_err(|error| format!("guest memory: {error}"))?;
        let kvm = Kvm::new().map_err(|error| said("opening", &error))?;
        let vm = kvm.create_vm().map_err(|error| said("making a machine", &error))?;
        let mut vcpu = prepare(&vm, &memory)?;
        let (mut rounds, mut fastest) = (ROUNDS_FIRST, 0.0_f64);
        let mut runs = 0;
        while runs < RUNS {
            let elapsed = run(&mut vcpu, rounds)?;
            if elapsed < RUN_LENGTH && rounds < ROUNDS_MOST {
                rounds *= 4;
                continue;
            }
            runs += 1;
            fastest = fastest.max((2 * rounds + 1) as f64 / elapsed.as_secs_f64());
        }
        Ok(GuestSpeed { instructions_per_second: fastest, has_sse: has_sse(&mut vcpu) })
    }

    /// Returns `true` if the guest gets over an instruction of SSE; `None` if KVM does not say.
    fn has_sse(vcpu: &mut VcpuFd) -> Option<bool> {
        let mut registers = vcpu.get_regs().ok()?;
        registers.rip = SSE_AT;
        vcpu.set_regs(&registers).ok()?;
        match vcpu.run().ok()? {
            VcpuExit::Hlt => Some(true),
            VcpuExit::InternalError => Some(false),
            _ => None,
        }
    }

    fn prepare(vm: &VmFd, memory: &Memory) -> Result<VcpuFd, String> {
        let region = kvm_userspace_memory_region {
            slot: 0,
            flags: 0,
            guest_phys_addr: CODE_AT,
            memory_size: PAGE as u64,
            userspace_addr: memory.0.addr() as u64,
        };
        // SAFETY: the page is mapped and outlives the machine: `guest_speed` drops it last.
        unsafe { vm.set_user_memory_region(region) }
            .map_err(|error| said("giving it memory", &error))?;
        // Needed on old Intel processors only; others may refuse it without harm.
        let _ = vm.set_tss_address(TSS_AT);
        let vcpu = vm.create_vcpu(0).map_err(|error| said("making a vCPU", &error))?;
        let mut segments = vcpu.get_sregs().map_err(|error| said("reading registers", &error))?;
        segments.cs.base = 0;
        segments.cs.selector = 0;
        segments.cr4 |= USES_SSE;
        vcpu.set_sregs(&segments).map_err(|error| said("writing registers", &error))?;
        let_kick_in(&vcpu)
            .map_err(|error| format!("signal mask: {}", crate::error_text(&error)))?;
        Ok(vcpu)
    }

    /// Runs the loop `rounds` times and tells how long that took.
    fn run(vcpu: &mut VcpuFd, rounds: u64) -> Result<Duration, String> {
        let mut registers = vcpu.get_regs().map_err(|error| said("reading registers", &error))?;
        registers.rip = CODE_AT;
        registers.rflags = 2;
        registers.rcx = rounds;
        vcpu.set_regs(&registers).map_err(|error| said("writing registers", &error))?;
        let started = Instant::now();
        match vcpu.run() {
            Ok(VcpuExit::Hlt) => Ok(started.elapsed()),
            Ok(_) => {
                let exit = vcpu.get_kvm_run().exit_reason;
                Err(format!("/dev/kvm: the guest did not halt, but was left for KVM exit {exit}"))
            }
            Err(error) if error.errno() == libc::EINTR => {
                Err("/dev/kvm: the guest did not halt within 2 s".to_owned())
            }
            Err(error) => Err(said("running", &error)),
        }
    }

    fn said(what: &str, error: &kvm_ioctls::Error) -> String {
        let error = io::Error::from_raw_os_error(error.errno());
        format!("/dev/kvm: {what}: {}", crate::error_text(&error))
    }

    /// Blocks the signal in this thread.
    fn block_kick() -> io::Result<()> {
        // SAFETY: all bits zero is a valid set; the next call makes it the empty one.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: a set of ours.
        unsafe { libc::sigemptyset(&raw mut set) };
        // SAFETY: a set of ours and a signal that exists.
        unsafe { libc::sigaddset(&raw mut set, kick()) };
        // SAFETY: adds to the mask of the calling thread; the old one is not asked for.
        let status =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) };
        if status == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(status)) }
    }

    /// Lets the signal, and no other, interrupt `KVM_RUN`. It stays pending and blocked outside,
    /// so no handler is needed.
    fn let_kick_in(vcpu: &VcpuFd) -> io::Result<()> {
        #[repr(C)]
        struct SignalMask {
            length: u32,
            blocked: [u8; 8],
        }
        const { assert!(size_of::<SignalMask>() == 12) };
        let blocked = !(1_u64 << (kick() - 1));
        let mask = SignalMask { length: 8, blocked: blocked.to_ne_bytes() };
        // SAFETY: the structure has the layout of `kvm_signal_mask` with a set of the named length
        // and lives until the call returns.
        let status =
            unsafe { libc::ioctl(vcpu.as_raw_fd(), KVM_SET_SIGNAL_MASK as _, &raw const mask) };
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// One page with the guest's code.
    struct Memory(*mut u8);

    impl Memory {
        fn new() -> io::Result<Self> {
            // SAFETY: a new mapping at a place that the kernel chooses.
            let page = unsafe {
                mmap_anonymous(
                    ptr::null_mut(),
                    PAGE,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::PRIVATE,
                )
            }?;
            let page = page.cast::<u8>();
            // SAFETY: the page is mapped, writable, larger than the code and known to nobody else.
            unsafe { ptr::copy_nonoverlapping(CODE.as_ptr(), page, CODE.len()) };
            Ok(Self(page))
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: the page that `new` mapped; the machine that used it is closed.
            let _ = unsafe { munmap(self.0.cast(), PAGE) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Goal: a calibration ends in time wherever it runs, and finds a speed or a reason.
        #[test]
        fn a_calibration_ends_in_time() {
            let started = Instant::now();
            let speed = calibrate();
            assert!(started.elapsed() < LIMIT + PATIENCE + Duration::from_secs(2));
            match speed {
                Reading::Read(speed) => assert!(speed.instructions_per_second > 1e3),
                Reading::Absent => {
                    quietcore_skip::record(
                        "a_calibration_ends_in_time",
                        "there is no /dev/kvm here",
                    );
                }
                Reading::Unreadable(reason) => {
                    quietcore_skip::record("a_calibration_ends_in_time", &reason);
                }
            }
        }

        /// Goal: a guest that never halts is stopped, and the process survives the signal.
        /// Method: a guest of about 2^31 rounds, kicked after 20 ms.
        #[test]
        fn a_guest_without_an_end_is_stopped() {
            let (sender, receiver) = mpsc::channel();
            let thread = thread::spawn(move || {
                let _ = sender.send(endless());
            });
            if let Ok(early) = receiver.recv_timeout(Duration::from_millis(20)) {
                quietcore_skip::record(
                    "a_guest_without_an_end_is_stopped",
                    &format!("no guest runs here: {early:?}"),
                );
                return;
            }
            // SAFETY: the thread was not joined.
            unsafe { libc::pthread_kill(thread.as_pthread_t(), kick()) };
            let outcome = receiver.recv_timeout(LIMIT).unwrap();
            assert!(outcome.unwrap_err().contains("did not halt"));
            thread.join().unwrap();
        }

        fn endless() -> Result<Duration, String> {
            block_kick().unwrap();
            let memory = Memory::new().unwrap();
            let kvm = Kvm::new().map_err(|error| said("opening", &error))?;
            let vm = kvm.create_vm().map_err(|error| said("making", &error))?;
            let mut vcpu = prepare(&vm, &memory)?;
            run(&mut vcpu, u64::from(u32::MAX))
        }
    }
}
