//! The site file through its public functions: reading, planning, and the texts people see.

mod stored;
mod support;
