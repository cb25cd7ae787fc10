//! The processor: the switch of contexts, which a bare machine and a Linux process of it share.

pub mod switch;
