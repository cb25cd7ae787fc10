//! The ways in which one side writes and others read, each as an algorithm over shared words.
//!
//! | module | writer | readers | a reader gets |
//! |--------|--------|---------|---------------|
//! | [`sequence`] | one | any number | all words of one write, or [`TornRead`](crate::TornRead) |
//! | [`latest`] | one, never waits | any number | the newest record, whole |
//! | [`broadcast`] | one, never waits | any number | each record, or the number of those lost |
//! | [`queue`] | one | one | each record, once |
//!
//! None of them uses a locked instruction: each word has one writer. None takes an index, a length
//! or a loop count from a shared word: what is read is reduced to the size that the layout gave.

pub mod broadcast;
pub mod latest;
pub mod queue;
pub mod sequence;
pub mod words;
