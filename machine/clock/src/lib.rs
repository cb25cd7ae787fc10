//! The machine's clocks: reading them, sleeping on them, and finding out whether their time is real.
