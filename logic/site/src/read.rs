//! From the bytes of a site file to the checked site, or to everything that is wrong with it.

use quietcore_record::class::Class;

use crate::problem::Problems;
use crate::site::Site;
use crate::{check, reading};

/// Reads and checks a site file.
///
/// `file_name` is how errors name the file. `catalogue` holds the published application classes.
///
/// # Errors
/// Everything that is wrong, in the order of the file. Only what makes the rest unreadable ends the
/// reading early: a file that is too large, not UTF-8, empty or not TOML.
pub fn read(file_name: &str, bytes: &[u8], catalogue: &[Class]) -> Result<Site, Problems> {
    let text = reading::text(file_name, bytes)?;
    let (document, written_twice) = reading::document(file_name, text)?;
    let mut collector = reading::collector::Collector::new(&document);
    for problem in written_twice {
        collector.push(problem.place, problem.problem, problem.remedy);
    }
    let raw = reading::shaped(&mut collector);
    check::check(&raw, catalogue, collector)
}
