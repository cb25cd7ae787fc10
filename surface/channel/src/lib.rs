//! The C library by which ordinary programs of the host reach the channels of running sites.
//!
//! ```text
//! C program ─ quietcore_channel_… ─► HostChannel ─ memory of the channel ─► partition
//!                                         └ once: control socket of the site
//! ```
//!
//! `include/quietcore_channel.h` describes every function; here is what makes each safe. It is a
//! crate of its own because the tool is a program, and this is linked into those of others, as
//! `libquietcore_channel.so` or `.a`.

pub mod c;
