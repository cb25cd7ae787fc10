//! From the loader's jump to Rust: long mode, with memory addressed as it is.
//!
//! The loader enters by the PVH protocol: 32-bit protected mode, no paging, EBX holds the address
//! of its start information. The page tables are data of the image, made by the assembler, so that
//! the way to Rust is short:
//!
//! | from | to | mapped |
//! |---|---|---|
//! | 0 | 0x6000 | not at all: a null pointer is a page fault |
//! | 0x6000 | 0x8000 | to be read and written |
//! | 1 MiB | 4 MiB | in small pages, as the parts of the image need it: see `pages` |
//! | 4 MiB | 64 MiB | to be read and written: data, stacks, heap |
//! | 64 MiB | 3 GiB | nothing yet: post, data and code of programs, exchange, channels; see `pages` |
//! | 3 GiB | 3.25 GiB | to be read and written, uncached: registers of devices of its own |
//! | 3.25 GiB | + 2 MiB | to be read and written: devices |
//! | 4064 MiB | 4080 MiB | to be read and written: devices and interrupt controllers |
//!
//! All else is not mapped, and what is written is not executed.
// UNSAFETY: the first instructions of all.
#![expect(unsafe_code, reason = "nothing that Rust needs is there before these instructions")]

use core::arch::global_asm;

use crate::{descriptors, host, pages, xen};

global_asm!(
    r#"
    .section .note.pvh, "a", @note
    .balign 4
    .long 4
    .long 4
    .long 18
    .asciz "Xen"
    .long quietcore_guest_start

    .section .tables, "aw", @progbits
    .balign 4096
quietcore_guest_pml4:
    .quad quietcore_guest_pdpt + 0x3
    .zero 4088
quietcore_guest_pdpt:
    .quad quietcore_guest_pd + 0x0003
    .quad quietcore_guest_pd + 0x1003
    .quad quietcore_guest_pd + 0x2003
    .quad quietcore_guest_pd + 0x3003
    .zero 4064
    # Present is 1, writable 2, uncached 0x18, large 0x80; the highest bit is that nothing is
    # executed there.
    .macro large from, to, rights
    .set address, \from
    .rept (\to - \from) / 0x200000
    .quad address + 0x80 + \rights
    .set address, address + 0x200000
    .endr
    .endm
    .macro nothing from, to
    .zero (\to - \from) / 0x200000 * 8
    .endm
    .set read_write, 0x8000000000000003
    .set registers, 0x800000000000001b
    .globl quietcore_guest_pd
quietcore_guest_pd:
    .quad quietcore_guest_first + 0x0003
    .quad quietcore_guest_first + 0x1003
    large   0x00400000, 0x04000000, read_write
    nothing 0x04000000, 0xc0000000
    large   0xc0000000, 0xd0000000, registers
    large   0xd0000000, 0xd0200000, read_write
    nothing 0xd0200000, 0xfe000000
    large   0xfe000000, 0xff000000, read_write
    nothing 0xff000000, 0x100000000
    # The first 4 MiB. From 1 MiB on everything is allowed, until the parts of the image are known.
    .globl quietcore_guest_first
quietcore_guest_first:
    .zero 6 * 8
    .quad 0x8000000000006003
    .quad 0x8000000000007003
    .zero 248 * 8
    .set address, 0x100000
    .rept 768
    .quad address + 0x3
    .set address, address + 0x1000
    .endr
    .balign 16
quietcore_guest_gdt:
    .quad 0
    .quad 0x00af9a000000ffff
    .quad 0x00cf92000000ffff
quietcore_guest_gdt_end:
quietcore_guest_gdt_pointer:
    .word quietcore_guest_gdt_end - quietcore_guest_gdt - 1
    .long quietcore_guest_gdt

    .section .boot, "ax", @progbits
    .code32
    .globl quietcore_guest_start
quietcore_guest_start:
    cld
    # The interrupt controllers of old PCs, which firmware may have left on, are held back for good.
    mov al, 0xFF
    out 0xA1, al
    out 0x21, al
    mov eax, offset quietcore_guest_pml4
    mov cr3, eax
    mov eax, cr4
    or eax, 0x620          # PAE, FXSAVE, SIMD exceptions
    mov cr4, eax
    mov ecx, 0xC0000080    # EFER
    rdmsr
    or eax, 0x900          # long mode, no execute
    wrmsr
    mov eax, 0x80010033    # PG WP NE ET MP PE
    mov cr0, eax
    lgdt [quietcore_guest_gdt_pointer]
    ljmp 8, offset quietcore_guest_long
    .code64
quietcore_guest_long:
    mov eax, 16
    mov ds, eax
    mov es, eax
    mov ss, eax
    xor eax, eax
    mov fs, eax
    mov gs, eax
    mov esp, offset quietcore_guest_stack_top
    xor ebp, ebp
    call {begin}
    ud2

    .section .bss
    .balign 4096
    .zero 16384
quietcore_guest_stack_top:
    .text
"#,
    begin = sym begin
);

/// The first function: with a stack, and nothing else.
extern "C" fn begin() -> ! {
    // SAFETY: this is the first processor, and interrupts have been off since the reset.
    unsafe { descriptors::load() };
    pages::protect();
    // SAFETY: nothing else has run, with interrupts off.
    unsafe { xen::begin() };
    // SAFETY: the image has such a function; see the crate.
    let status = unsafe { quietcore_guest_main() };
    host::end(status)
}

// SAFETY: what the assembler, the linker or the image defines under these names is of these types.
unsafe extern "C" {
    /// Does the image's work; its return ends the guest with that status.
    fn quietcore_guest_main() -> u8;
}
