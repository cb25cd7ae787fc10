//! What a panic ends in: a message, and the end of the process.
//!
//! Only in the static library, which has no standard library to do this. A panic is a broken
//! invariant of the kernel; nothing of it can be used after that.

// UNSAFETY: ends the process.
#![expect(unsafe_code, reason = "the process is ended by the C library")]

use core::fmt::Write as _;
use core::panic::PanicInfo;

use crate::port::hosted::alone::write_error;
use crate::text::Text;

#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    let mut text = Text::<512>::new();
    // A text that is too long is cut, which is no error.
    let _ = writeln!(text, "quietcore-osek: {information}");
    write_error(text.as_bytes());
    // SAFETY: it ends the process, and has no conditions.
    unsafe { libc::abort() }
}
