//! Texts about a build for the user: the kind of program that the folder was taken for, the
//! compiler's warnings, and the reasons where nothing could be built.

pub(super) mod diagnostic;
pub(super) mod foreign;
pub(super) mod lacks;
mod origin;

pub use foreign::Foreign;
pub use lacks::Lack;
pub use origin::Origin;

use quietcore_wording::plural;

use crate::build::{Build, Diagnostic, LeftOut};

/// Most warnings that are told one by one.
const WARNINGS_TOLD_MAX: usize = 5;

/// Most files that are told with the reason why they are left out.
const LEFT_OUT_TOLD_MAX: usize = 6;

impl Build {
    /// Names the kind of program that the folder was taken for.
    pub fn taken_for(&self) -> String {
        let interface = &self.interface;
        match &interface.kernel {
            Some(kernel) => format!("an OSEK program, which `{}` describes", kernel.oil),
            None => {
                let rates = interface.rates.len();
                let steps =
                    if rates == 1 { "one rate".to_owned() } else { format!("{rates} rates") };
                match &interface.class {
                    Some(class) => format!("generated C++, class `{class}` with {steps}"),
                    None => {
                        let language = interface.language;
                        format!("generated {language}, model `{}` with {steps}", self.model)
                    }
                }
            }
        }
    }

    /// Counts the compiler's warnings and lists the first few, a line each. Empty without any.
    pub fn warnings_told(&self) -> Vec<String> {
        let count = self.warnings.len();
        if count == 0 {
            return Vec::new();
        }
        let mut lines = vec![format!("the compiler has {count} warning{}:", plural(count as u64))];
        let mut warnings: Vec<&Diagnostic> = self.warnings.iter().collect();
        // The result of an undeclared function is taken for an `int`.
        warnings.sort_by_key(|it| !it.message.contains("implicit declaration"));
        lines.extend(warnings.iter().take(WARNINGS_TOLD_MAX).map(ToString::to_string));
        let more = count.saturating_sub(WARNINGS_TOLD_MAX);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines
    }

    /// Lists the remarks on the build and the files that are left out of it, a line each.
    pub fn remarks_told(&self) -> Vec<String> {
        self.remarks.iter().cloned().chain(left_out_told(&self.left_out)).collect()
    }
}

/// Names the source files that are no part of a program, with the reasons; `None` if there are
/// none.
pub fn left_out_told(files: &[LeftOut]) -> Option<String> {
    let told: Vec<String> = files.iter().take(LEFT_OUT_TOLD_MAX).map(ToString::to_string).collect();
    let more = files.len() - told.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    (!told.is_empty()).then(|| format!("left out: {}{more}", told.join(", ")))
}
