//! Pages beside the report of an evidence folder: over a folder of runs, of a recording of signals,
//! and of a paper's reproduction.

pub mod index;
pub mod recording;
pub mod reproduction;
