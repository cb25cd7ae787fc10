//! Segments as a MainDevice meets them that sends one datagram at a time.

mod arbitrary;
mod faults;
mod line;
mod mailbox;
mod registers;
mod sdo;
