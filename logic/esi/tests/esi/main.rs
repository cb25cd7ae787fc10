//! ESI files as users see them: read, and made the layout of the process data.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod choice;
mod hostile;
mod odd;
mod support;
