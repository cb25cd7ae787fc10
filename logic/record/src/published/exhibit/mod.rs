//! Every table and every figure of the five papers, with the commands that make its counterpart.
//!
//! ```text
//! exhibits() ─┬─► page()            docs/papers.md, compared by a test
//!             └─► compare --tables  text and JSON
//! ```
//!
//! A command is written as it is typed in the root of the repository. A test of the command line
//! parses each of them, reads the site files that they name, and follows the evidence folders from
//! one command to the next. An exhibit without a counterpart says what is missing for one.

mod hofer;
mod kong;
mod mahmud;
mod page;
mod queiroz;
mod scordino;

use std::sync::LazyLock;

use serde::Serialize;

use super::{Citation, Table, papers, tables};

pub use page::page;

/// A table or figure of a paper, and its counterpart here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhibit {
    /// The paper's key and the place in it, such as `queiroz2023/figure-8`.
    pub id: &'static str,
    /// Its subject in our words; `None` where a [`Table`] of the same id has a title.
    own_title: Option<&'static str>,
    /// Kind of what the paper prints there.
    pub content: Content,
    /// The commands of the counterpart, in their order; empty where there is none.
    pub commands: &'static [&'static str],
    /// Parts that a whole counterpart still lacks; `None` where it lacks none.
    pub missing: Option<&'static str>,
    /// Differences of the counterpart from the paper's method.
    pub differs: &'static str,
    /// Systems and profiles of a run whose figures stand beside the published ones, profile by
    /// profile; `None` where no run is shown so.
    pub shows: Option<ShownSystems>,
}

/// The systems and profiles of a run that a table or plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownSystems {
    /// Names of the profiles, such as `tp3`.
    pub profiles: &'static [&'static str],
    /// Systems that it shows, by their kernels.
    pub kernels: Kernels,
}

/// Kernels of the systems that a table or plot is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// General-purpose ones: Linux as it is usually built.
    GeneralPurpose,
    /// Real-time ones: Linux with PREEMPT_RT, or an OSEK kernel.
    RealTime,
}

impl Kernels {
    /// Returns `true` if systems with such a kernel are among them.
    pub const fn has(self, is_real_time: bool) -> bool {
        match self {
            Self::GeneralPurpose => !is_real_time,
            Self::RealTime => is_real_time,
        }
    }

    /// Returns them in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::GeneralPurpose => "with a general-purpose kernel",
            Self::RealTime => "with a real-time kernel",
        }
    }
}

/// Kind of what a paper prints at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Figures, limits or conditions; the [`Table`] of the same id holds them.
    Table,
    /// A plot of the figures that another table holds.
    PlotOfTable(&'static str),
    /// A plot whose figures are printed nowhere.
    Plot,
    /// A drawing of parts and how they work together.
    Drawing,
}

/// Part of the counterpart that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    /// The commands make all of it.
    Whole,
    /// The commands make some of it.
    Partly,
    /// There is none yet.
    NotYet,
}

impl Exhibit {
    /// Returns an exhibit whose title is that of the [`Table`] with its id.
    const fn of_table(
        id: &'static str,
        commands: &'static [&'static str],
        missing: Option<&'static str>,
        differs: &'static str,
    ) -> Self {
        let (own_title, content) = (None, Content::Table);
        Self { id, own_title, content, commands, missing, differs, shows: None }
    }

    /// Returns an exhibit of which no [`Table`] is held.
    const fn of_picture(
        (id, title): (&'static str, &'static str),
        content: Content,
        commands: &'static [&'static str],
        missing: Option<&'static str>,
        differs: &'static str,
    ) -> Self {
        Self { id, own_title: Some(title), content, commands, missing, differs, shows: None }
    }

    /// Returns the same with the systems and profiles whose figures stand beside the published.
    const fn showing(self, kernels: Kernels, profiles: &'static [&'static str]) -> Self {
        Self { shows: Some(ShownSystems { profiles, kernels }), ..self }
    }

    /// Returns its published figures, where they are held.
    pub fn table(&self) -> Option<&'static Table> {
        tables().iter().find(|table| table.id == self.id)
    }

    /// Returns the table whose figures it shows: its own, or that of which it is a plot.
    pub fn shown_table(&self) -> Option<&'static Table> {
        let id = match self.content {
            Content::PlotOfTable(table) => table,
            Content::Table | Content::Plot | Content::Drawing => self.id,
        };
        tables().iter().find(|table| table.id == id)
    }

    /// Returns the paper in which it stands.
    ///
    /// # Panics
    /// If its id begins with the key of no paper; a test looks at all of them.
    pub fn citation(&self) -> &'static Citation {
        let key = self.id.split('/').next();
        papers::ALL
            .into_iter()
            .find(|citation| Some(citation.key) == key)
            .expect("the id of an exhibit begins with the key of its paper")
    }

    /// Returns its subject: the title of its [`Table`], or its own.
    pub fn title(&self) -> &'static str {
        self.own_title.or_else(|| Some(self.table()?.title)).unwrap_or_default()
    }

    /// Returns its name within the paper, such as `figure 8`.
    pub fn name(&self) -> String {
        self.id.split('/').next_back().unwrap_or_default().replace('-', " ")
    }

    /// Returns `true` if a run that is made here can stand beside its published figures.
    pub fn stands_beside_runs(&self) -> bool {
        !self.commands.is_empty() && self.table().is_some_and(Table::has_figures_of_a_run)
    }

    /// Returns how much of the counterpart there is.
    pub const fn availability(&self) -> Availability {
        match (self.commands.is_empty(), self.missing) {
            (true, _) => Availability::NotYet,
            (false, Some(_)) => Availability::Partly,
            (false, None) => Availability::Whole,
        }
    }
}

/// Returns every table and figure, in the order of the papers, tables first.
pub fn exhibits() -> &'static [Exhibit] {
    static ALL: LazyLock<Vec<Exhibit>> = LazyLock::new(|| {
        [queiroz::ALL, scordino::ALL, kong::ALL, hofer::ALL, mahmud::ALL].concat()
    });
    &ALL
}

#[cfg(test)]
mod tests;
