//! Prints what the doctor finds on this machine, as text or with `--json` as JSON.
//!
//! A list of CPUs as an argument (`1`, `2-3`) is taken for those of a partition.

use std::process::ExitCode;

use quietcore_host::Facts;
use quietcore_host::doctor::{Area, Report, Severity};
use quietcore_units::CpuSet;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let partition = arguments.iter().find_map(|text| text.parse::<CpuSet>().ok());
    let report = Report::new(Facts::read(), partition.as_ref());
    if arguments.iter().any(|argument| argument == "--json") {
        match serde_json::to_string_pretty(&report) {
            Ok(text) => println!("{text}"),
            Err(error) => {
                eprintln!("the report can't be written: {error}");
                return ExitCode::from(2);
            }
        }
        return ExitCode::SUCCESS;
    }
    print(&report);
    ExitCode::SUCCESS
}

fn print(report: &Report) {
    let mut area: Option<Area> = None;
    for finding in &report.findings {
        if area != Some(finding.area) {
            println!("\n== {} ==", finding.area);
            area = Some(finding.area);
        }
        println!("[{:>7}] {}: {}", finding.severity, finding.subject, finding.read);
        if finding.severity != Severity::Ok {
            println!("          right:  {}", finding.right);
            println!("          effect: {}", finding.effect);
            println!("          fix:    {}", finding.fix);
        }
    }
    println!();
    for severity in [Severity::Conformance, Severity::Advice, Severity::Unknown, Severity::Ok] {
        let count = report.findings.iter().filter(|finding| finding.severity == severity).count();
        println!("{severity:>8}: {count}");
    }
}
