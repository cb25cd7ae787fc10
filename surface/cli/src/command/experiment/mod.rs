//! `quietcore tune`, `quietcore disturb` and `quietcore cost`: variants of a run, measured in
//! turns.
//!
//! | module | what |
//! |---|---|
//! | `bench` | the site as a run of one block, and the end: records kept and shown |
//! | `progress` | blocks on a terminal, or as lines |

mod bench;
pub(super) mod cost;
pub(super) mod disturb;
mod progress;
pub(super) mod tune;
