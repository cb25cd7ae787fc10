//! From an OIL text to a checked configuration.

use crate::application::application;
use crate::check::check;
use crate::configuration::Configuration;
use crate::problem::{Collector, Problems};
use crate::text::including::tokens;
use crate::text::parser::parse;

/// Reads the OIL text of an application. `name` is what problems call the file. `include` gives the
/// text of a file as `#include` names it, or says why there is none.
///
/// # Errors
/// Every problem of the text, at its place. Where a statement can't be read, what follows from its
/// absence is not told.
pub fn read(
    name: &str,
    text: &str,
    include: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Configuration, Problems> {
    let mut collector = Collector::default();
    let tokens = tokens(name, text, include, &mut collector);
    let tree = parse(&tokens, &mut collector);
    let is_whole = collector.is_clean();
    let application = application(&tree, &mut collector);
    let configuration = match application {
        Some(application) if is_whole => check(application, &mut collector),
        _ => None,
    };
    let remarks = collector.finish()?;
    let mut configuration = configuration.expect("an application without problems is complete");
    configuration.remarks = remarks;
    Ok(configuration)
}
