//! Gathers what is wrong and what is remarkable, each at its place, up to a bound.

use crate::problem::{KeyPosition, PROBLEMS_MAX, Problem, Problems, Remark, sorted};
use crate::reading::place::{Document, Path};

/// A document and what has been found in it so far.
#[derive(Debug)]
pub(crate) struct Collector<'d, 't> {
    pub(crate) document: &'d Document<'t>,
    problems: Vec<Problem>,
    left_out: usize,
    remarks: Vec<Remark>,
}

impl<'d, 't> Collector<'d, 't> {
    /// Makes a collector without problems.
    pub(crate) const fn new(document: &'d Document<'t>) -> Self {
        Self { document, problems: Vec::new(), left_out: 0, remarks: Vec::new() }
    }

    /// The value at `path` is wrong.
    pub(crate) fn refuse(
        &mut self,
        path: &Path,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if self.has_room() {
            self.push(self.document.place(path), problem.into(), remedy.into());
        }
    }

    /// The key at the end of `path` should not be there.
    pub(crate) fn refuse_key(
        &mut self,
        path: &Path,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if self.has_room() {
            self.push(self.document.key_place(path), problem.into(), remedy.into());
        }
    }

    /// The text at `place` is wrong.
    pub(crate) fn push(&mut self, place: KeyPosition, problem: String, remedy: String) {
        self.problems.push(Problem { place, problem, remedy });
    }

    /// Adds a remark on a value at `path` that is allowed and may still surprise.
    pub(crate) fn remark(&mut self, path: &Path, remark: impl Into<String>) {
        if self.remarks.len() < PROBLEMS_MAX {
            let place = self.document.place(path);
            let remark = remark.into();
            self.remarks.push(Remark { place, remark });
        }
    }

    /// Returns `true` if another problem is listed; otherwise it is counted.
    pub(crate) fn has_room(&mut self) -> bool {
        let room = self.problems.len() < PROBLEMS_MAX;
        if !room {
            self.left_out += 1;
        }
        room
    }

    /// Returns `true` if something is written at `path`, right or wrong.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.document.has(path)
    }

    /// The remarks, or the problems if there is one.
    pub(crate) fn finish(mut self) -> Result<Vec<Remark>, Problems> {
        if !self.problems.is_empty() {
            return Err(sorted(self.problems, self.left_out));
        }
        self.remarks.sort();
        Ok(self.remarks)
    }
}
