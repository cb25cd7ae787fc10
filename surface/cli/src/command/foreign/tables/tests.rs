//! Tests of the list: its commands are commands, and it shows all that the papers show.

use std::path::Path;

use clap::Parser as _;
use quietcore_record::class::catalogue;
use quietcore_record::published;

use super::*;
use crate::arguments::Arguments;

/// Goal: the page of the papers and the commands stay together.
/// Method: parse each command with the definition of the command line, and read the site files that
/// it names.
#[test]
fn every_command_of_the_papers_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for exhibit in exhibits() {
        for command in exhibit.commands {
            let words: Vec<&str> = command.split(' ').collect();
            if let Err(error) = Arguments::try_parse_from(&words) {
                panic!("{}: `{command}`: {error}", exhibit.id);
            }
            for site in words.iter().filter(|word| word.ends_with(".toml")) {
                let bytes = std::fs::read(root.join(site)).expect("a site file of a command");
                if let Err(problems) = quietcore_site::read(site, &bytes, &catalogue()) {
                    panic!("{}: `{command}`: {problems}", exhibit.id);
                }
            }
            count += 1;
        }
    }
    assert!(count > 40, "only {count} commands were looked at");
    assert!(Arguments::try_parse_from(["quietcore", "probe", "rtt"]).is_err(), "a missing probe");
}

/// Goal: the commands of an exhibit can be typed one after the other.
/// Method: each folder that one reads, or one in it, was written by one before; each table is
/// published.
#[test]
fn a_command_reads_what_one_before_it_has_written() {
    for exhibit in exhibits() {
        let mut written = Vec::new();
        for command in exhibit.commands {
            let words: Vec<&str> = command.split(' ').collect();
            let read = match words[1] {
                "compare" => words[2..].split(|word| *word == "--with").next().unwrap_or_default(),
                "report" | "show" => &words[2..],
                _ => &[],
            };
            for folder in read {
                let is_written = written.iter().any(|path| Path::new(path).starts_with(folder));
                assert!(is_written, "{}: `{command}`: {folder}", exhibit.id);
            }
            for pair in words.windows(2) {
                match pair[0] {
                    "--out" => written.push(pair[1]),
                    "--with" => assert!(published::find(pair[1]).is_ok(), "{command}"),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn the_list_has_every_exhibit_with_its_commands_and_fits_its_width() {
    for width in [80, 100] {
        let listing = listing(width);
        assert!(listing.lines().all(|line| line.chars().count() <= width), "{width}:\n{listing}");
        let one_line = listing.replace(" \\\n", "").replace('\n', "");
        let squeezed: String = one_line.split_whitespace().collect();
        for exhibit in exhibits() {
            let headed = |line: &&str| line.split_whitespace().any(|word| word == exhibit.id);
            let heads = listing.lines().filter(headed).filter(|line| !line.contains("--with"));
            assert_eq!(heads.count(), 1, "{}", exhibit.id);
            for words in exhibit.commands.iter().copied().chain(exhibit.missing) {
                let words: String = words.split_whitespace().collect();
                assert!(squeezed.contains(&words), "{}: {words}", exhibit.id);
            }
        }
    }
}

#[test]
fn json_has_the_published_figures_and_the_counterpart_of_each() {
    let entries: Vec<Entry> = exhibits().iter().map(entry).collect();
    let entries = serde_json::to_value(&entries).expect("the list as JSON");
    let entries = entries.as_array().expect("a list");
    assert_eq!(entries.len(), exhibits().len());
    let of = |id: &str| entries.iter().find(|entry| entry["id"] == id).expect("an entry");
    let table = of("queiroz2023/table-4");
    assert_eq!(table["rows"].as_array().map(Vec::len), Some(22));
    assert_eq!(table["counterpart"]["stands_beside_runs"], true);
    let figure = of("queiroz2023/figure-8");
    assert_eq!(figure["content"]["plot-of-table"], "queiroz2023/table-3");
    assert!(figure.get("rows").is_none());
    let none = of("kong2021/table-3");
    assert_eq!(none["counterpart"]["availability"], "not-yet");
    assert!(none["rows"].is_array(), "its figures are held all the same");
}
