//! prototype
#![allow(unsafe_code)]
use core::arch::asm;
pub(crate) fn put(bytes: &[u8]) {
    for byte in bytes {
        // SAFETY: prototype
        unsafe { asm!("out dx, al", in("dx") 0x3f8u16, in("al") *byte, options(nomem, nostack)) };
    }
}
pub(crate) fn exit(code: u8) -> ! {
    loop {
        // SAFETY: prototype
        unsafe { asm!("out dx, al", "hlt", in("dx") 0x501u16, in("al") code, options(nomem, nostack)) };
    }
}
