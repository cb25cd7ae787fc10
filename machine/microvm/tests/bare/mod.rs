//! Guests of a few instructions, assembled with the test: entered at 1 MiB in protected mode with
//! flat segments and without paging.
// UNSAFETY: the assembler's labels are looked at as bytes.
#![expect(unsafe_code, reason = "code is copied from between two labels")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::Memory;
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Processor;
use vm_memory::{Bytes as _, GuestAddress};

/// Address at which guests are entered.
pub(crate) const ENTRY: u64 = 1 << 20;
/// A word of memory, which the guest `counting` counts up.
pub(crate) const COUNT: u64 = 3 << 20;
/// A port by which a guest ends.
pub(crate) const END: u16 = 0x501;

/// Defines a guest: a function that returns its bytes.
macro_rules! guest {
    ($(#[$about:meta])* $name:ident, $code:literal) => {
        guest! { $(#[$about])* $name, $code, ".code32" }
    };
    ($(#[$about:meta])* $name:ident, $code:literal, $mode:literal) => {
        core::arch::global_asm!(
            ".section .rodata.guest, \"a\", @progbits",
            $mode,
            concat!(".globl quietcore_test_", stringify!($name)),
            concat!(".globl quietcore_test_", stringify!($name), "_end"),
            concat!("quietcore_test_", stringify!($name), ":"),
            $code,
            concat!("quietcore_test_", stringify!($name), "_end:"),
            ".code64",
            ".text",
        );

        $(#[$about])*
        pub(crate) fn $name() -> &'static [u8] {
            let (start, end): (*const u8, *const u8);
            // SAFETY: takes the addresses of two labels.
            unsafe {
                core::arch::asm!(
                    concat!("lea {}, [rip + quietcore_test_", stringify!($name), "]"),
                    concat!("lea {}, [rip + quietcore_test_", stringify!($name), "_end]"),
                    out(reg) start, out(reg) end, options(nomem, nostack, preserves_flags),
                );
            }
            let bytes = end.addr() - start.addr();
            // SAFETY: what is between the labels is constant.
            unsafe { std::slice::from_raw_parts(start, bytes) }
        }
    };
}

guest! {
    /// Ends with status 7.
    ending, "mov edx, 0x501
    mov al, 7
    out dx, al
    hlt"
}
guest! {
    /// Counts a word of memory up, and never leaves.
    counting, "2: inc dword ptr [0x300000]
    jmp 2b"
}
guest! {
    /// Leaves again and again.
    leaving, "2: inc dword ptr [0x300000]
    out 0x80, al
    jmp 2b"
}
guest! {
    /// Halts and takes no interrupt any more.
    halting, "2: cli
    hlt
    jmp 2b"
}
guest! {
    /// Has no way to take an exception.
    faulting, "lidt [0x300000]
    ud2"
}
guest! {
    /// Writes 4 bytes to 64 MiB.
    writing_above, "mov eax, 0x11223344
    mov [0x4000000], eax
    mov edx, 0x501
    mov al, 9
    out dx, al
    hlt"
}
guest! {
    /// Ends with the byte at 64 MiB.
    reading_above, "mov al, [0x4000000]
    mov edx, 0x501
    out dx, al
    hlt"
}
guest! {
    /// Goes on where there is no memory.
    jumping_away, "mov eax, 0x7000000
    jmp eax"
}
guest! {
    /// Ends with status 5, from an instruction (10 bytes in) that it has made from another.
    changing_itself, "mov edx, 0x501
    mov ecx, 3
    2: mov al, 1
    mov byte ptr [0x10000B], 5
    dec ecx
    jnz 2b
    out dx, al
    hlt"
}
guest! {
    /// Rings the bell at 0xD0002000 five times, then ends.
    ringing, "mov ecx, 5
    2: mov dword ptr [0xD0002000], ecx
    dec ecx
    jnz 2b
    mov edx, 0x501
    xor eax, eax
    out dx, al
    hlt"
}
guest! {
    /// Says its counter to 0x300000 (low, high), then ends.
    telling_time, "rdtsc
    mov [0x300000], eax
    mov [0x300004], edx
    mov edx, 0x501
    xor eax, eax
    out dx, al
    hlt"
}

guest! {
    /// Writes to every page from the second above 64 MiB on, to the last address and again.
    writing_everywhere, "2: mov eax, 0x4001000
    3: mov [eax], eax
    add eax, 0xFF4
    jnc 3b
    jmp 2b"
}
guest! {
    /// Reads and writes every port, but the one by which it would end.
    asking_every_port, "xor edx, edx
    2: in al, dx
    in ax, dx
    in eax, dx
    inc edx
    cmp dx, 0x501
    je 2b
    out dx, al
    out dx, ax
    out dx, eax
    jmp 2b"
}
guest! {
    /// Writes and reads strings, of memory and of none.
    stringing, "2: mov esi, 0x100000
    mov edi, 0x3FFF00
    mov ecx, 0x2000
    mov edx, 0x3F8
    rep outsb
    mov ecx, 0x1000
    rep insd
    mov edi, 0x3FFFFF0
    mov ecx, 8
    rep stosd
    jmp 2b"
}

guest! {
    /// Writes to each page from 2 MiB to 4 MiB its address, then ends with status 3.
    numbering, "mov edi, 0x200000
    2: mov [edi], edi
    add edi, 0x1000
    cmp edi, 0x400000
    jne 2b
    mov edx, 0x501
    mov al, 3
    out dx, al
    hlt"
}
guest! {
    /// A process of Linux, the first: says something and has the machine restart.
    first_process, "mov eax, 1
    mov edi, 1
    lea rsi, [rip + 3f]
    mov edx, 29
    syscall
    mov eax, 169
    mov edi, 0xFEE1DEAD
    mov esi, 0x28121969
    mov edx, 0x01234567
    syscall
    2: jmp 2b
    3: .ascii \"hello from the first process\\n\"
    ", ".code64"
}

/// A device at every port and address, which counts what it is asked.
#[derive(Debug, Default)]
pub(crate) struct Everything {
    /// Number of times that it was asked.
    pub(crate) asked: AtomicU64,
}

impl Everything {
    fn ask(&self) -> After {
        self.asked.fetch_add(1, Relaxed);
        After::GoOn
    }
}

impl Bus for Everything {
    fn write_port(&self, port: u16, data: &[u8]) -> After {
        let after = self.ask();
        if port == END { After::End(u32::from(data[0])) } else { after }
    }

    fn read_port(&self, _: u16, _: &mut [u8]) {
        self.ask();
    }

    fn write_address(&self, _: u64, _: &[u8]) -> After {
        self.ask()
    }

    fn read_address(&self, _: u64, _: &mut [u8]) {
        self.ask();
    }
}

/// A machine with 4 MiB of memory and this guest in it; `None` where there is no KVM, which is
/// said.
#[track_caller]
pub(crate) fn machine(code: &[u8], options: &Options) -> Option<Machine> {
    let memory = Memory::new("4 MiB".parse().expect("a size"), true).expect("memory");
    memory.mapping().write_slice(code, GuestAddress(ENTRY)).expect("room");
    match Machine::with(memory, options) {
        Err(MachineError::Kvm(error)) => {
            quietcore_skip::skip!("no KVM: {error}");
            None
        }
        machine => Some(machine.expect("a machine")),
    }
}

/// Makes the processor of a machine.
pub(crate) fn processor(machine: &Machine) -> Processor {
    machine.processor(0, GuestAddress(ENTRY)).expect("a processor")
}

/// Returns the count that a guest has reached.
pub(crate) fn count(machine: &Machine) -> u32 {
    machine.memory().mapping().read_obj(GuestAddress(COUNT)).expect("it is memory")
}

/// Makes the calling thread a real-time one whose children inherit that.
///
/// # Errors
/// Where this process may not.
pub(crate) fn become_real_time() -> std::io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: reads the parameters; the thread is the caller.
    let set = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Reads where there is no memory.
pub(crate) fn fault() {
    let nowhere = std::ptr::without_provenance::<u8>(8);
    // SAFETY: none: the process is to end here, by the signal of a fault.
    unsafe { nowhere.read_volatile() };
}

/// Set once the end of this process has begun, if it takes 300 ms.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Returns `true` once the end of a process with [`end_slowly`] has begun.
pub(crate) fn ends() -> bool {
    ENDS.load(Relaxed)
}

/// Has the end of this process take 300 ms.
pub(crate) fn end_slowly() {
    extern "C" fn wait() {
        ENDS.store(true, Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    // SAFETY: the function does not unwind, and uses nothing that is gone by then.
    assert_eq!(unsafe { libc::atexit(wait) }, 0);
}

/// Makes a system call that changes nothing where it is let through.
///
/// # Errors
/// What it fails with.
pub(crate) fn system_call(number: i64, [first, second, third]: [i64; 3]) -> std::io::Result<i64> {
    // SAFETY: the arguments are numbers, or no addresses at all.
    let result = unsafe { libc::syscall(number, first, second, third, 0x22, -1, 0) };
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}

/// The names of the network interfaces that this process sees.
///
/// # Errors
/// Those of asking.
pub(crate) fn interfaces() -> std::io::Result<Vec<String>> {
    // SAFETY: has no conditions; the list is freed below.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return Err(std::io::Error::last_os_error());
    }
    let mut names = Vec::new();
    for index in 0.. {
        // SAFETY: the list ends with an entry whose number is zero, at which this stops.
        let entry = unsafe { *list.add(index) };
        if entry.if_index == 0 {
            break;
        }
        // SAFETY: every other entry has a name.
        let name = unsafe { std::ffi::CStr::from_ptr(entry.if_name) };
        names.push(name.to_string_lossy().into_owned());
    }
    // SAFETY: it was made above, and is not used any more.
    unsafe { libc::if_freenameindex(list) };
    Ok(names)
}
