//! Systems of this machine beside those of a published table, profile by profile: as box plots, and
//! for a table as its figures.

use maud::{Markup, html};
use quietcore_evidence::Evidence;
use quietcore_record::histogram::Histogram;
use quietcore_record::published::exhibit::{Content, Exhibit, ShownSystems};
use quietcore_record::published::{self, BoxPlot, Figure};
use quietcore_record::record::Record;
use quietcore_record::statistics::Statistics;
use quietcore_units::Nanos;

use crate::derived::published_box;
use crate::figures;
use crate::html::quantity;
use crate::plot::BoxFigures;
use crate::section::comparison::{Group, Row, own_row, published_row, row_groups};

/// A run whose partitions are systems, each measured alone.
#[derive(Clone, Debug)]
pub struct Systems {
    /// Name of its folder, beside the document of the course.
    pub folder: String,
    /// Records and manifest of that folder.
    pub evidence: Evidence,
    /// Its partitions, in the order of the site file.
    pub systems: Vec<System>,
}

/// A partition as a system that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// Name of the partition.
    pub partition: String,
    /// Description of what realises it, such as `Linux guest of QEMU`.
    pub title: String,
    /// `true` if its kernel is a real-time one.
    pub is_real_time: bool,
}

/// A row of figures: a system of this machine, or of the paper.
struct FigureRow {
    label: String,
    is_own: bool,
    cells: Vec<String>,
}

/// The columns of a table, as queiroz2023 has them.
const COLUMNS: [(Figure, &str); 8] = [
    (Figure::LowerWhisker, "p2.5"),
    (Figure::LowerQuartile, "p25"),
    (Figure::Median, "Median"),
    (Figure::Mean, "Mean"),
    (Figure::StandardDeviation, "Deviation"),
    (Figure::UpperQuartile, "p75"),
    (Figure::UpperWhisker, "p97.5"),
    (Figure::JitterWhiskers, "Max jitter"),
];

/// Mark of a system whose figures its record calls not valid, such as those of an emulated one.
const NOT_VALID: &str = "not valid";

/// An hour, in ns.
const HOUR_NS: u64 = 3_600_000_000_000;

/// Draws an exhibit's figures of this machine beside the published ones; empty for one that shows
/// no run, or whose run is not among `runs`.
pub(super) fn content(exhibit: &Exhibit, folders: &[&str], runs: &[Systems]) -> Markup {
    let run = runs.iter().find(|run| folders.contains(&run.folder.as_str()));
    let (Some(shows), Some(table), Some(run)) = (exhibit.shows, exhibit.shown_table(), run) else {
        return html! {};
    };
    let shown = BesidePaper { shows, table, run };
    html! {
        (shown.boxes())
        @if exhibit.content == Content::Table { (shown.figures()) }
    }
}

/// An exhibit's table with the run that stands beside it.
struct BesidePaper<'a> {
    shows: ShownSystems,
    table: &'static published::Table,
    run: &'a Systems,
}

impl BesidePaper<'_> {
    /// Returns the systems whose kernels the exhibit is about.
    fn systems(&self) -> impl Iterator<Item = &System> {
        self.run.systems.iter().filter(|system| self.shows.kernels.has(system.is_real_time))
    }

    /// Returns the record of a system under a profile.
    fn record(&self, system: &System, profile: &str) -> Option<&Record> {
        self.run.evidence.records.iter().find(|record| {
            record.partition == system.partition
                && record.profile == profile
                && record.release.count() > 0
                && self.table.quantity.is_measured_by(&record.probe)
        })
    }

    fn published(&self, profile: &str) -> impl Iterator<Item = BoxPlot> {
        let all = self.table.box_plots().into_iter();
        all.filter(move |row| row.profile.as_deref() == Some(profile))
    }

    fn boxes(&self) -> Markup {
        let groups: Vec<Group> = self.shows.profiles.iter().map(|it| self.group(it)).collect();
        let own = self.systems().map(|it| it.partition.as_str()).collect::<Vec<_>>();
        html! {
            @if own.is_empty() {
                p { "This machine has run no system " (self.shows.kernels.words()) "." }
            }
            @if let Some(drawing) = row_groups(&groups) { figure { (drawing) } }
        }
    }

    fn group(&self, profile: &str) -> Group {
        let mut rows: Vec<Row> = Vec::new();
        for system in self.systems() {
            let Some(record) = self.record(system, profile) else { continue };
            let statistics = Statistics::of(record);
            let worst = record.spikes.iter().map(|spike| spike.latency_ns);
            let figures = BoxFigures::of(&record.release, &statistics, worst);
            let title = system.title.replace('`', "");
            let label = format!("{}: {title}", system.partition);
            let row = own_row(label, true, &statistics, figures);
            rows.push(if record.is_valid() { row } else { row.tagged(NOT_VALID) });
        }
        let source = self.table.source();
        for row in self.published(profile) {
            let mut row = published_box(row);
            row.label = without(profile, &row.label);
            rows.push(published_row(&row, &source));
        }
        Group { title: self.described(profile), rows }
    }

    /// Returns a profile with its description.
    fn described(&self, profile: &str) -> String {
        let known = self.run.evidence.manifest.profiles.iter().find(|(name, _)| name == profile);
        match known {
            Some((_, description)) if !description.is_empty() => {
                format!("{profile}: {description}")
            }
            _ => profile.to_owned(),
        }
    }

    fn figures(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label=(self.table.title) {
                table.statistics {
                    thead {
                        tr {
                            th scope="col" { "System" }
                            @for (_, title) in COLUMNS { th.n scope="col" { (title) } }
                        }
                    }
                    @for profile in self.shows.profiles {
                        tbody {
                            tr.group { th colspan=(COLUMNS.len() + 1) scope="colgroup" {
                                (self.described(profile)) } }
                            @for row in self.rows(profile) { (row.markup()) }
                        }
                    }
                }
            }
        }
    }

    fn rows(&self, profile: &str) -> Vec<FigureRow> {
        let mut rows: Vec<FigureRow> = Vec::new();
        for system in self.systems() {
            match self.record(system, profile) {
                Some(record) => rows.extend(self.own(system, record)),
                None => rows.push(FigureRow {
                    label: format!("{} (not measured)", system.partition),
                    is_own: true,
                    cells: vec!["–".to_owned(); COLUMNS.len()],
                }),
            }
        }
        let of_profile = |row: &&Vec<published::Cell>| self.table.row_profile(row) == Some(profile);
        rows.extend(self.table.rows.iter().filter(of_profile).map(|row| FigureRow {
            label: without(profile, &self.table.label(row)),
            is_own: false,
            cells: COLUMNS.map(|(figure, _)| self.printed(row, figure)).to_vec(),
        }));
        rows
    }

    /// Returns the figures of a system: of its whole run, and where the table looks at hours, of
    /// each part of it.
    fn own(&self, system: &System, record: &Record) -> Vec<FigureRow> {
        let by_time = self.table.column("hours").is_some();
        let length = Nanos::new(record.conditions.duration_ns);
        let name = match record.is_valid() {
            true => system.partition.clone(),
            false => format!("{} ({NOT_VALID})", system.partition),
        };
        let looks = record.stretches.as_ref().filter(|_| by_time).map(|it| it.looks(length));
        match looks {
            Some(looks) if looks.len() > 1 => looks
                .iter()
                .map(|(time, part)| row(format!("{name}, {}", after(*time)), part))
                .collect(),
            _ => vec![row(name, &record.release)],
        }
    }

    fn printed(&self, row: &[published::Cell], figure: Figure) -> String {
        let column = self.table.figure(figure);
        let nanos = column.and_then(|column| self.table.nanos(row, column));
        figures::or_dash(nanos, |(nanos, _)| figures::nanos_f64(nanos))
    }
}

/// Returns the name of a row without the profile, under whose heading it stands.
fn without(profile: &str, label: &str) -> String {
    label.strip_suffix(&format!(", {profile}")).unwrap_or(label).to_owned()
}

fn after(time: Nanos) -> String {
    match time.get().is_multiple_of(HOUR_NS) {
        true => format!("{} h", time.get() / HOUR_NS),
        false => figures::set_nanos(time.get()),
    }
}

fn row(label: String, sample: &Histogram) -> FigureRow {
    let of = Statistics::of_histogram(sample);
    let quantile = |value| figures::or_dash(value, figures::quantile);
    let real = |value| figures::or_dash(value, figures::nanos_f64);
    let cell = |figure: Figure| match figure {
        Figure::LowerWhisker => quantile(of.p2_5_ns),
        Figure::LowerQuartile => quantile(of.q1_ns),
        Figure::Median => quantile(of.median_ns),
        Figure::Mean => real(of.mean_ns),
        Figure::StandardDeviation => real(of.sd_ns),
        Figure::UpperQuartile => quantile(of.q3_ns),
        Figure::UpperWhisker => quantile(of.p97_5_ns),
        Figure::JitterWhiskers => figures::or_dash(of.jitter_whiskers_ns, figures::nanos),
        Figure::Minimum => figures::or_dash(of.min_ns, figures::nanos),
        Figure::Maximum => figures::maximum(&of),
    };
    FigureRow { label, is_own: true, cells: COLUMNS.map(|(figure, _)| cell(figure)).to_vec() }
}

impl FigureRow {
    fn markup(&self) -> Markup {
        html! {
            tr {
                th scope="row" {
                    @if self.is_own { strong { (self.label) } } @else { (self.label) }
                }
                @for cell in &self.cells { td.n { (quantity(cell)) } }
            }
        }
    }
}
