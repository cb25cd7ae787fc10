//! Late releases: where the time of one went, as a bar of its shares and as a chart of its course.

pub(super) mod course;
pub(super) mod shares;
