//! The end of a panic: a message, and the end of the process. A guest crashes by an instruction
//! instead, and reports the address of it.
//!
//! Only in the static library, which has no standard library to do this. A panic is a broken
//! invariant of the kernel; nothing of it can be used after that.

// UNSAFETY: ends the process.
#![expect(unsafe_code, reason = "the process is ended by the C library")]

use core::fmt::Write as _;
use core::panic::PanicInfo;

use crate::port::hosted::alone::write_error;
use crate::text::Text;

// SAFETY: so the C library declares it.
unsafe extern "C" {
    /// The C library's; in a program for a guest that of its support.
    fn abort() -> !;
}

#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    let mut text = Text::<512>::new();
    // A text that is too long is cut, which is no error.
    let _ = writeln!(text, "quietcore-osek: {information}");
    write_error(text.as_bytes());
    // SAFETY: it ends the process or crashes, and has no conditions.
    unsafe { abort() }
}
