//! The local interrupt controller and its timer (Intel SDM volume 3, chapter 11).
//!
//! | | where the processor has it | else |
//! |---|---|---|
//! | registers | model-specific ones (x2APIC) | memory at 0xFEE0_0000 |
//! | timer | goes off when the time stamp counter gets to a value | counts down |
//!
//! KVM has both; QEMU's own processor has neither.
//!
//! Under KVM the end of an interrupt is told in a word of memory that the two share, where KVM says
//! that this is enough: writing the register would leave the guest on processors whose controller
//! is not virtual (KVM's `msr.rst`, `MSR_KVM_PV_EOI_EN`).
// UNSAFETY: accesses registers of the processor.
#![expect(
    unsafe_code,
    reason = "the controller is reached by registers and at an address of its own"
)]

use core::arch::asm;
use core::arch::x86_64::{__cpuid, _rdtsc};
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::AtomicU32;

use crate::clock::Clock;

/// The vector of the timer.
pub const TIMER_VECTOR: u8 = 0xE0;
/// The vector of interrupts that nobody raised.
pub const SPURIOUS_VECTOR: u8 = 0xFF;

/// The model-specific register that switches the controller on.
const BASE: u32 = 0x1B;
const BASE_ENABLED: u64 = 1 << 11;
const BASE_X2APIC: u64 = 1 << 10;
/// The first of the controller's own, and where they are in memory, 16 bytes apart.
const REGISTERS: u32 = 0x800;
const MEMORY: usize = 0xFEE0_0000;
/// The counter's value at which the timer goes off.
const DEADLINE: u32 = 0x6E0;

/// Registers, as numbers of both kinds.
const END_OF_INTERRUPT: u32 = 0x0B;
const SPURIOUS: u32 = 0x0F;
const TIMER: u32 = 0x32;
const INITIAL_COUNT: u32 = 0x38;
const DIVIDE: u32 = 0x3E;
/// To interrupt the own processor: one of the first kind alone, and one of both.
const SELF: u32 = 0x3F;
const COMMAND: u32 = 0x30;

const SOFTWARE_ENABLED: u32 = 1 << 8;
const TIMER_BY_COUNTER: u32 = 2 << 17;
const DIVIDE_BY_ONE: u32 = 0b1011;
/// The command goes to the own processor.
const TO_SELF: u32 = 1 << 18;

/// Leaf by which hypervisors say who they are, and what KVM can do.
const HYPERVISOR: u32 = 0x4000_0000;
const KVM_FEATURES: u32 = 0x4000_0001;
const KVM_NAME: [u32; 3] = [0x4B4D_564B, 0x564B_4D56, 0x4D];
const HAS_MEMORY_END: u32 = 1 << 6;
const MEMORY_END: u32 = 0x4B56_4D04;

/// The word in which KVM says, by its lowest bit, that the end of an interrupt need not be written;
/// who clears it has told the end.
#[repr(align(64))]
struct EndWord(AtomicU32);

static END_WORD: EndWord = EndWord(AtomicU32::new(0));

/// The longest that the timer without the counter waits, in ns, so that its count fits.
const COUNT_MAX_NS: u64 = 1_000_000_000;

/// The local interrupt controller of this processor.
#[derive(Clone, Copy, Debug)]
pub struct Apic {
    has_registers: bool,
    has_deadline: bool,
    clock: Clock,
}

impl Apic {
    /// Switches it on. The timer goes by `clock`.
    ///
    /// # Safety
    /// Called once a processor, with its interrupts off and its gates in place.
    pub unsafe fn switch_on(clock: Clock) -> Self {
        let features = __cpuid(1).ecx;
        if has_end_in_memory() {
            let place = END_WORD.0.as_ptr().expose_provenance() as u64;
            // SAFETY: KVM has this register; the word lives for ever, and is used as it says.
            unsafe { write_register(MEMORY_END, place | 1) };
        }
        let apic = Self {
            has_registers: features >> 21 & 1 == 1,
            has_deadline: features >> 24 & 1 == 1,
            clock,
        };
        let mode = if apic.has_registers { BASE_ENABLED | BASE_X2APIC } else { BASE_ENABLED };
        // SAFETY: the processor has a controller, and this mode of it.
        unsafe { write_register(BASE, read_register(BASE) | mode) };
        apic.write(SPURIOUS, SOFTWARE_ENABLED | u32::from(SPURIOUS_VECTOR));
        let timer = u32::from(TIMER_VECTOR);
        if apic.has_deadline {
            apic.write(TIMER, timer | TIMER_BY_COUNTER);
            // The mode is in force before the first deadline is.
            // SAFETY: it has no conditions.
            unsafe { asm!("mfence", options(nostack)) };
        } else {
            apic.write(DIVIDE, DIVIDE_BY_ONE);
            apic.write(TIMER, timer);
        }
        SWITCHED.0.set(Some(apic));
        apic
    }

    /// Has the timer's interrupt raised at an instant, in ns of the clock; `None` for never.
    #[inline]
    pub fn set_timer(&self, at_ns: Option<u64>) {
        if self.has_deadline {
            // A deadline of zero is none.
            let counter = at_ns.map_or(0, |instant| self.clock.counter_at(instant).max(1));
            // SAFETY: the processor has this register.
            unsafe { write_register(DEADLINE, counter) };
            return;
        }
        let count =
            at_ns.map_or(0, |instant| instant.saturating_sub(self.now()).clamp(1, COUNT_MAX_NS));
        self.write(INITIAL_COUNT, count as u32);
    }

    /// Has the timer raise another vector than its own from now on; a probe has no other use of it.
    pub fn set_timer_vector(&self, vector: u8) {
        let mode = if self.has_deadline { TIMER_BY_COUNTER } else { 0 };
        self.write(TIMER, u32::from(vector) | mode);
    }

    /// Has the timer's interrupt raised at once.
    #[inline]
    pub fn raise_timer(&self) {
        if self.has_deadline {
            // Every value but zero has passed.
            // SAFETY: the processor has this register.
            unsafe { write_register(DEADLINE, 1) };
        } else {
            self.write(INITIAL_COUNT, 1);
        }
    }

    /// Interrupts the own processor with a vector.
    #[inline]
    pub fn interrupt_self(&self, vector: u8) {
        let vector = u32::from(vector);
        if self.has_registers {
            self.write(SELF, vector);
        } else {
            self.write(COMMAND, vector | TO_SELF);
        }
    }

    /// The instant, in ns of the clock.
    #[inline]
    pub fn now(&self) -> u64 {
        // SAFETY: every processor with 64 bits has the counter.
        self.clock.now_by(|| unsafe { _rdtsc() })
    }

    /// Says that the interrupt that was entered has been seen to.
    #[inline]
    pub fn end_of_interrupt(&self) {
        // The word is zero where nobody knows it.
        if !take_end_bit() {
            self.write(END_OF_INTERRUPT, 0);
        }
    }

    #[inline]
    fn write(&self, register: u32, value: u32) {
        if self.has_registers {
            // SAFETY: the controller was switched on in this mode.
            unsafe { write_register(REGISTERS + register, u64::from(value)) };
        } else {
            let place: *mut u32 = ptr::with_exposed_provenance_mut(MEMORY + register as usize * 16);
            // SAFETY: as above; the address is no memory of Rust's.
            unsafe { place.write_volatile(value) };
        }
    }
}

/// The controller, once it was switched on: for the entry of an interrupt that must not have come.
struct Switched(Cell<Option<Apic>>);

// SAFETY: there is one processor; it is set before interrupts are let in, and only read then.
unsafe impl Sync for Switched {}

static SWITCHED: Switched = Switched(Cell::new(None));

/// Ends an interrupt that came too early, and has it come once more.
#[cold]
pub(crate) fn raise_again(vector: u8) {
    if let Some(apic) = SWITCHED.0.get() {
        apic.end_of_interrupt();
        apic.interrupt_self(vector);
    }
}

/// Clears the lowest bit of the word and returns whether it was set: by one instruction, because
/// KVM takes the bit back whenever it finds it set between two of them, and wants the register
/// written then. A bit that was looked at and cleared afterwards would be an end that nobody hears.
#[inline]
fn take_end_bit() -> bool {
    let was_set: u8;
    // SAFETY: the word is ours, and lives for ever.
    unsafe {
        asm!(
            "btr dword ptr [{word}], 0",
            "setc {was_set}",
            word = in(reg) END_WORD.0.as_ptr(),
            was_set = out(reg_byte) was_set,
            options(nostack),
        );
    }
    was_set != 0
}

/// Returns `true` if the hypervisor is KVM and takes the end of an interrupt in memory.
fn has_end_in_memory() -> bool {
    // A processor without a hypervisor has no such name there, whatever it answers.
    let name = __cpuid(HYPERVISOR);
    [name.ebx, name.ecx, name.edx] == KVM_NAME && __cpuid(KVM_FEATURES).eax & HAS_MEMORY_END != 0
}

/// Reads a model-specific register.
///
/// # Safety
/// The processor has it.
unsafe fn read_register(number: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: our caller says that there is such a register.
    unsafe {
        asm!(
            "rdmsr",
            in("ecx") number, out("eax") low, out("edx") high,
            options(nostack, preserves_flags),
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Writes a model-specific register.
///
/// # Safety
/// The processor has it, and may be what this makes of it.
unsafe fn write_register(number: u32, value: u64) {
    // SAFETY: as above.
    unsafe {
        asm!(
            "wrmsr",
            in("ecx") number, in("eax") value as u32, in("edx") (value >> 32) as u32,
            options(nostack, preserves_flags),
        );
    }
}
