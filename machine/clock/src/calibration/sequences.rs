//! The instruction sequences of the calibration, for x86-64.
//!
//! Each function runs its sequence `iterations` times and returns the number of timed instructions
//! in one iteration. `iterations` is never 0: the loops count down to it. Each loop fits into 128
//! bytes and is aligned to as many, so that none crosses a page: a translator would cut it in two.
//
// UNSAFETY: the sequences must be exactly these instructions in every build, which only inline
// assembly promises; each touches registers alone.

#![expect(unsafe_code, reason = "exact instruction sequences need inline assembly")]

use std::arch::asm;

pub(super) fn integer_add(iterations: u64) -> u64 {
    // SAFETY: registers only, all declared.
    unsafe {
        asm!(
            ".p2align 7",
            "2:",
            ".rept 6",
            "add {a}, 1",
            "add {b}, 1",
            "add {c}, 1",
            "add {d}, 1",
            ".endr",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) iterations => _,
            a = inout(reg) 0_u64 => _,
            b = inout(reg) 0_u64 => _,
            c = inout(reg) 0_u64 => _,
            d = inout(reg) 0_u64 => _,
            options(nomem, nostack),
        );
    }
    26
}

pub(super) fn scalar_multiply(iterations: u64) -> u64 {
    // SAFETY: registers only, all declared; multiplying 1.3 by 1.0 raises no exception.
    unsafe {
        asm!(
            ".p2align 7",
            "2:",
            ".rept 2",
            "mulsd {a}, {k}",
            "mulsd {b}, {k}",
            "mulsd {c}, {k}",
            "mulsd {d}, {k}",
            "mulsd {e}, {k}",
            "mulsd {f}, {k}",
            "mulsd {g}, {k}",
            "mulsd {h}, {k}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) iterations => _,
            k = in(xmm_reg) 1.0_f64,
            a = inout(xmm_reg) 1.3_f64 => _,
            b = inout(xmm_reg) 1.3_f64 => _,
            c = inout(xmm_reg) 1.3_f64 => _,
            d = inout(xmm_reg) 1.3_f64 => _,
            e = inout(xmm_reg) 1.3_f64 => _,
            f = inout(xmm_reg) 1.3_f64 => _,
            g = inout(xmm_reg) 1.3_f64 => _,
            h = inout(xmm_reg) 1.3_f64 => _,
            options(nomem, nostack),
        );
    }
    16
}

pub(super) fn x87_multiply(iterations: u64) -> u64 {
    // SAFETY: the x87 stack is empty at an assembly block's borders; eight values are pushed
    // and all are popped again, and all eight registers are declared.
    unsafe {
        asm!(
            ".rept 7",
            "fldpi",
            ".endr",
            "fld1",
            ".p2align 7",
            "2:",
            ".rept 2",
            "fmul st(1), st",
            "fmul st(2), st",
            "fmul st(3), st",
            "fmul st(4), st",
            "fmul st(5), st",
            "fmul st(6), st",
            "fmul st(7), st",
            ".endr",
            "dec {n}",
            "jnz 2b",
            ".rept 8",
            "fstp st(0)",
            ".endr",
            n = inout(reg) iterations => _,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            options(nomem, nostack),
        );
    }
    14
}

pub(super) fn packed_multiply(iterations: u64) -> u64 {
    // SAFETY: registers only, all declared.
    unsafe {
        asm!(
            ".p2align 7",
            "2:",
            ".rept 2",
            "pmaddwd {a}, {k}",
            "pmaddwd {b}, {k}",
            "pmaddwd {c}, {k}",
            "pmaddwd {d}, {k}",
            "pmaddwd {e}, {k}",
            "pmaddwd {f}, {k}",
            "pmaddwd {g}, {k}",
            "pmaddwd {h}, {k}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) iterations => _,
            k = in(xmm_reg) 1.0_f64,
            a = inout(xmm_reg) 1.3_f64 => _,
            b = inout(xmm_reg) 1.3_f64 => _,
            c = inout(xmm_reg) 1.3_f64 => _,
            d = inout(xmm_reg) 1.3_f64 => _,
            e = inout(xmm_reg) 1.3_f64 => _,
            f = inout(xmm_reg) 1.3_f64 => _,
            g = inout(xmm_reg) 1.3_f64 => _,
            h = inout(xmm_reg) 1.3_f64 => _,
            options(nomem, nostack),
        );
    }
    16
}

pub(super) fn convert(iterations: u64) -> u64 {
    // SAFETY: registers only, all declared; 1.3 fits an integer.
    unsafe {
        asm!(
            ".p2align 7",
            "2:",
            ".rept 4",
            "cvttsd2si {a}, {k}",
            "cvttsd2si {b}, {k}",
            "cvttsd2si {c}, {k}",
            "cvttsd2si {d}, {k}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) iterations => _,
            k = in(xmm_reg) 1.3_f64,
            a = out(reg) _,
            b = out(reg) _,
            c = out(reg) _,
            d = out(reg) _,
            options(nomem, nostack),
        );
    }
    16
}

pub(super) fn divide(iterations: u64) -> u64 {
    // SAFETY: registers only, all declared; the quotients stay near 1, far from an exception.
    unsafe {
        asm!(
            ".p2align 7",
            "2:",
            ".rept 4",
            "movapd {c}, {k}",
            "divsd {c}, {a}",
            "movapd {a}, {k}",
            "divsd {a}, {c}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            n = inout(reg) iterations => _,
            k = in(xmm_reg) 1.543_210_987_654_321_f64,
            a = inout(xmm_reg) 1.234_567_890_123_456_7_f64 => _,
            c = out(xmm_reg) _,
            options(nomem, nostack),
        );
    }
    8
}
