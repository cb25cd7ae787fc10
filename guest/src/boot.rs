//! From the loader's jump to Rust: long mode, with memory addressed as it is.
//!
//! The loader enters by the PVH protocol: 32-bit protected mode, no paging, EBX holds the address
//! of its start information. The page tables are data of the image, made by the assembler: the
//! first 4 GiB in pages of 2 MiB.
// UNSAFETY: the first instructions of all.
#![expect(unsafe_code, reason = "nothing that Rust needs is there before these instructions")]

use core::arch::global_asm;

use crate::{descriptors, host};

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
quietcore_guest_pd:
    .set address, 0
    .rept 2048
    .quad address + 0x83
    .set address, address + 0x200000
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
    // SAFETY: the image has such a function; see the crate.
    let status = unsafe { quietcore_guest_main() };
    host::end(status)
}

// SAFETY: what the assembler, the linker or the image defines under these names is of these types.
unsafe extern "C" {
    /// What the image does; its return ends the guest with that status.
    fn quietcore_guest_main() -> u8;
}
