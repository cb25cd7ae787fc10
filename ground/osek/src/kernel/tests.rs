//! Placeholder for the kernel's own tests.
