//! The text of a guest's crash: what happened, in which function, at which address.
//!
//! A crash of the program in one of its steps is no crash of the guest: the guest reports it as an
//! event and goes on. This is about a crash of the guest itself, or of the program where nothing
//! guards it.

use quietcore_boot::CrashRecord;
use quietcore_program_image::{Functions, Slot};

/// Describes a crash. `guest` are the functions of the guest's image, `programs` those of the
/// programs in the two slots.
pub(crate) fn words(record: &CrashRecord, guest: &Functions, programs: &[Functions; 2]) -> String {
    if record.vector == CrashRecord::PANIC {
        return "the guest panicked; it said why before".to_owned();
    }
    if record.vector == CrashRecord::HELD_BACK {
        return "the guest was interrupted while it held interrupts back, which no processor does; \
                the hypervisor below is at fault, and QEMU's emulated SVM is known for it"
            .to_owned();
    }
    let functions = match Slot::of_code(record.instruction) {
        Some(slot) => &programs[slot.index()],
        None => guest,
    };
    let (what, place) = (record.what(), functions.place(record.instruction));
    let mut text = format!("the guest crashed: {what} at {place}");
    if let Some(how) = record.access() {
        text.push_str(&format!(", {how} {:#x}", record.address));
    }
    text.push_str(&format!(", stack {:#x}", record.stack));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_names_the_exception_the_function_and_the_access() {
        let guest = Functions::from_iter([(0x10_0000, "boot"), (0x10_1000, "lead")]);
        let programs = [Functions::from_iter([(0x7800_0000, "axis_step")]), Functions::default()];
        let record = |instruction| CrashRecord {
            vector: CrashRecord::PAGE_FAULT,
            error_code: CrashRecord::WRITE,
            instruction,
            address: 0x1234,
            stack: 0x8000,
            ..CrashRecord::default()
        };
        let said = |instruction| words(&record(instruction), &guest, &programs);
        let text = said(0x10_1002);
        assert!(text.contains(": page fault at lead+0x2 (0x101002)"), "{text}");
        assert!(text.contains("writing to 0x1234") && text.contains("stack 0x8000"), "{text}");
        assert!(said(0x7800_0010).contains("at axis_step+0x10 "));
        assert!(said(0x7A00_0010).contains("at 0x7a000010,"), "of the other slot none is known");
        let panic = CrashRecord { vector: CrashRecord::PANIC, ..record(1) };
        assert!(words(&panic, &guest, &programs).contains("panicked"));
        let twice = CrashRecord { vector: CrashRecord::HELD_BACK, ..record(1) };
        assert!(words(&twice, &guest, &programs).contains("while it held interrupts back"));
        // Behind "it reset itself", by these words the lab knows a guest that its emulator felled.
        let fell = CrashRecord { vector: 8, instruction: 0xFFF0, ..CrashRecord::default() };
        let text = "the guest crashed: double fault at 0xfff0, stack 0x0";
        assert_eq!(words(&fell, &guest, &programs), text);
        let unknown = CrashRecord { vector: 77, ..record(1) };
        assert!(words(&unknown, &guest, &programs).contains(": exception at 0x1,"));
    }
}
