//! The text that a guest writes, from a pipe or a terminal of the host to its place: a console of
//! some lines, or a standard output.

use std::io::{self, Read};
use std::thread::{self, JoinHandle};

use quietcore_microvm::devices::console::Console;

/// Bytes of the console that are taken at once.
const CONSOLE_BYTES: usize = 4 << 10;
/// Stack of the thread that takes them.
const STACK_BYTES: usize = 256 << 10;

/// Returns the place of a guest's words that keeps some of them in a console, and counts the rest.
pub(crate) fn into(console: Console) -> impl FnMut(&[u8]) + Send + 'static {
    move |bytes| console.say(bytes)
}

/// Passes on what the guest writes, until there is no more. Returns the thread that does so.
///
/// # Errors
/// When no thread can be started.
pub(crate) fn collect(
    mut say: impl FnMut(&[u8]) + Send + 'static,
    mut text: impl Read + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let thread = thread::Builder::new().name("console".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || {
        let mut bytes = [0; CONSOLE_BYTES];
        while let Ok(count @ 1..) = text.read(&mut bytes) {
            say(&bytes[..count]);
        }
    })
}
