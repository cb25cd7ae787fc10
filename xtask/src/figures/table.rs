//! The tables, each with the machines on which its figures were measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::FiguresError;
use super::row::{self, Row};
use super::run::Run;

const HEAD: &str = "| what | beside | result | run |\n|---|---|---|---|\n";
/// The last cell of a row that no bench recorded.
const TYPED: &str = "typed by hand, not recorded yet";

/// The rows of all tables, and what the benches recorded.
#[derive(Debug)]
pub(crate) struct Tables {
    rows: BTreeMap<String, Vec<Row>>,
    runs: BTreeMap<String, Run>,
}

/// A row as it is written.
struct Cells {
    text: String,
    /// Clauses that were left out because nothing was measured for them.
    left_out: Vec<String>,
}

impl Tables {
    /// Reads the rows of all tables.
    pub(super) fn new(rows: &str, runs: BTreeMap<String, Run>) -> Result<Self, FiguresError> {
        let rows = toml::from_str(rows).map_err(|error| FiguresError::Rows(error.to_string()))?;
        Ok(Self { rows, runs })
    }

    /// The lines of a table, or `None` when there is no such table.
    pub(super) fn table(&self, name: &str) -> Result<Option<String>, FiguresError> {
        let Some(rows) = self.rows.get(name) else { return Ok(None) };
        let machines = self.machines(rows);
        // A blank line, or the marks before and behind would be part of the table.
        let mut text = format!("\n{HEAD}");
        for row in rows {
            text += &self.cells(row, &machines)?.text;
        }
        text.push('\n');
        for (letter, machine) in ('A'..='Z').zip(&machines) {
            let _ = writeln!(text, "- Machine {letter}: {machine}");
        }
        if !machines.is_empty() {
            text.push('\n');
        }
        Ok(Some(text))
    }

    /// The machines of a table, in the order of its rows.
    fn machines(&self, rows: &[Row]) -> Vec<String> {
        let mut machines = Vec::new();
        for run in rows.iter().filter_map(|row| self.runs.get(&row.bench)) {
            let machine = run.machine();
            if !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        machines
    }

    fn cells(&self, row: &Row, machines: &[String]) -> Result<Cells, FiguresError> {
        let Some(run) = self.runs.get(&row.bench) else {
            let (beside, result, run) = match &row.typed {
                Some(typed) => (typed.beside.as_str(), typed.result.as_str(), TYPED),
                None => ("", "not measured yet", ""),
            };
            let text = format!("| {} | {beside} | {result} | {run} |\n", row.what);
            return Ok(Cells { text, left_out: Vec::new() });
        };
        let mut left_out = Vec::new();
        let beside = clauses(row, &row.beside, run, &mut left_out)?;
        let result = clauses(row, &row.result, run, &mut left_out)?;
        let result = if result.is_empty() { "not measured".to_owned() } else { result };
        let machine = machines.iter().position(|machine| *machine == run.machine());
        let letter = ('A'..='Z').nth(machine.unwrap_or_default()).unwrap_or('?');
        let (day, rounds) = (run.day(), run.rounds);
        let text =
            format!("| {} | {beside} | {result} | {day}, {rounds} rounds, {letter} |\n", row.what);
        Ok(Cells { text, left_out })
    }

    /// Lists figures that are left out of the tables, and rows without a figure.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = BTreeSet::new();
        for row in self.rows.values().flatten() {
            let what = &row.what;
            match self.runs.get(&row.bench) {
                None => {
                    remarks.insert(format!("`{}` is not measured yet: {what}", row.bench));
                }
                Some(_) if row.typed.is_some() => {
                    remarks.insert(format!("`typed` can be taken from the row `{what}`"));
                }
                Some(_) => {}
            }
            // A row that can't be written was an error of the table.
            for clause in self.cells(row, &[]).map(|cells| cells.left_out).unwrap_or_default() {
                remarks.insert(format!("left out of `{what}`, not measured: {clause}"));
            }
        }
        remarks.into_iter().collect()
    }
}

/// The clauses of a cell that the run has figures for.
fn clauses(
    row: &Row,
    clauses: &[String],
    run: &Run,
    left_out: &mut Vec<String>,
) -> Result<String, FiguresError> {
    let mut kept = Vec::new();
    for clause in clauses {
        match row::filled(clause, run) {
            Ok(text) => kept.push(text),
            Err(_) if !run.not_measured.is_empty() => left_out.push(clause.clone()),
            Err(row::Missing(wanted)) => {
                let figures = run.figures.iter().map(|figure| figure.name.clone());
                let peers = run.peers.keys().map(|peer| format!("peer {peer}"));
                return Err(FiguresError::Unknown {
                    row: row.what.clone(),
                    wanted,
                    bench: run.bench.clone(),
                    has: figures.chain(peers).collect::<Vec<_>>().join("; "),
                });
            }
        }
    }
    Ok(kept.join("; "))
}
