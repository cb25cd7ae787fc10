/* A system in one boot sector: it writes a line to the serial port and waits for the power button.
 *
 * FLOOD writes for ever. DEAF does not look at the button. OFF switches the machine off at once. */

    .code16
    .globl start
start:
    cli
    xorw %ax, %ax
    movw %ax, %ds
    movw %ax, %ss
    movw $0x7c00, %sp
    ljmp $0, $1f
1:  movw $hello, %si
    call print
#ifdef FLOOD
    jmp 1b
#endif
#ifdef OFF
    jmp off
#endif
    /* Power management of the q35, as its BIOS places it: enable the button's bit. */
    movw $0x602, %dx
    movw $0x0100, %ax
    outw %ax, %dx
wait:
    sti
    hlt
#ifndef DEAF
    movw $0x600, %dx
    inw %dx, %ax
    testw $0x0100, %ax
    jnz off
#endif
    jmp wait
off:
    movw $bye, %si
    call print
    movw $0x604, %dx
    movw $0x2000, %ax
    outw %ax, %dx
    jmp wait

print:
    lodsb
    testb %al, %al
    jz 2f
    movb %al, %bl
3:  movw $0x3fd, %dx
    inb %dx, %al
    testb $0x20, %al
    jz 3b
    movb %bl, %al
    movw $0x3f8, %dx
    outb %al, %dx
    jmp print
2:  ret

hello: .asciz "hello from the disk\n"
bye: .asciz "goodbye\n"
    .org 510
    .word 0xaa55
