//! Lies with whole files: taken away, added, put in the place of others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::edit::{Lie, change, lie, set};
use crate::folder::reseal;
use crate::sample;

const SIGNATURE: &str = "evidence.intoto.json";

pub(crate) fn lies() -> Vec<Lie> {
    let mut lies = records();
    lies.extend(derived());
    lies.extend(others());
    lies
}

fn remove(root: &Path, name: &str) {
    fs::remove_file(root.join(name)).unwrap();
}

fn write(root: &Path, name: &str, text: &str) {
    fs::write(root.join(name), text).unwrap();
}

fn records() -> Vec<Lie> {
    vec![
        lie("the failing record away", |root| remove(root, sample::RECORD)),
        lie("the failing record and its sum away", |root| {
            remove(root, sample::RECORD);
            let sums = fs::read_to_string(root.join("SHA256SUMS")).unwrap();
            let kept: Vec<&str> = sums.lines().filter(|line| !line.contains("axis.tp4")).collect();
            write(root, "SHA256SUMS", &(kept.join("\n") + "\n"));
        }),
        lie("all records of a profile away", |root| {
            for name in ["axis.tp4.cpu1", "press.tp4.cycle", "press.tp4.Sort"] {
                remove(root, &format!("records/{name}.json"));
            }
        }),
        lie("a task's record away", |root| remove(root, "records/press.tp4.cycle.json")),
        lie("a kernel's task's record away", |root| remove(root, "records/press.tp4.Sort.json")),
        lie("all records away", |root| {
            fs::remove_dir_all(root.join("records")).unwrap();
            fs::create_dir(root.join("records")).unwrap();
        }),
        lie("another record in its file", |root| {
            fs::copy(root.join("records/axis.tp2.cpu1.json"), root.join(sample::RECORD)).unwrap();
        }),
        lie("another profile's record under its name", |root| {
            // With all that must be of the profile itself.
            let text = fs::read(root.join(sample::RECORD)).unwrap();
            let own: serde_json::Value = serde_json::from_slice(&text).unwrap();
            fs::copy(root.join("records/axis.tp2.cpu1.json"), root.join(sample::RECORD)).unwrap();
            change(root, sample::RECORD, |record| {
                for key in ["name", "profile", "reserved", "conditions"] {
                    record[key] = own[key].clone();
                }
            });
        }),
        lie("another partition's record under its name", |root| {
            let from = "records/press.tp4.cycle.json";
            fs::copy(root.join(from), root.join(sample::RECORD)).unwrap();
            change(root, sample::RECORD, |record| {
                record["name"] = json!("axis.tp4.cpu1");
                record["partition"] = json!("axis");
            });
        }),
        lie("the same record twice", |root| {
            fs::copy(root.join(sample::RECORD), root.join("records/copy.json")).unwrap();
        }),
        lie("a record cut off", |root| {
            let text = fs::read_to_string(root.join(sample::RECORD)).unwrap();
            write(root, sample::RECORD, &text[..text.len() / 2]);
        }),
        lie("a record that is a link", |root| {
            let aside = root.with_extension("aside");
            fs::rename(root.join(sample::RECORD), &aside).unwrap();
            symlink(&aside, root.join(sample::RECORD)).unwrap();
        }),
        // Whoever makes up a whole record with all that follows from it has a record.
        lie("a record made up from nothing, in which all fits", |root| {
            let record = sample::probe("tp4", 0);
            let text = serde_json::to_string_pretty(&record).unwrap();
            write(root, sample::RECORD, &text);
        })
        .beyond(),
    ]
}

fn derived() -> Vec<Lie> {
    let replace = |name, file: &'static str, from: &'static str, to: &'static str| {
        lie(name, move |root| {
            let text = fs::read_to_string(root.join(file)).unwrap();
            assert!(text.contains(from), "{file} has no {from}");
            write(root, file, &text.replace(from, to));
        })
    };
    let lies = vec![
        replace("a PASS on the page", "report.html", "FAIL", "PASS"),
        replace("a PASS in the JUnit file", "junit.xml", "FAIL", "PASS"),
        replace("a PASS in the summary", "evidence.json", "\"FAIL\"", "\"PASS\""),
        set(
            "a smaller maximum in the summary",
            "evidence.json",
            "/records/0/statistics/max_ns",
            json!(1),
        ),
        set("no verdicts in the summary", "evidence.json", "/verdicts", json!([])),
        lie("a page of something else", |root| write(root, "report.html", "<p>PASS</p>")),
        lie("a page that is a folder", |root| {
            remove(root, "report.html");
            fs::create_dir(root.join("report.html")).unwrap();
            write(root, "report.html/index.html", "<p>PASS</p>");
        }),
        lie("a page that is a link", |root| {
            let aside = root.with_extension("page");
            fs::rename(root.join("report.html"), &aside).unwrap();
            symlink(&aside, root.join("report.html")).unwrap();
        }),
    ];
    lies.into_iter().map(Lie::of_pages).collect()
}

fn others() -> Vec<Lie> {
    vec![
        lie("a note added", |root| write(root, "note.txt", "reviewed and approved")).beyond(),
        lie("a folder of notes added", |root| {
            fs::create_dir(root.join("notes")).unwrap();
            write(root, "notes/review.txt", "reviewed and approved");
        })
        .beyond(),
        lie("a recording added", |root| {
            fs::create_dir_all(root.join("traces")).unwrap();
            write(root, "traces/axis.csv", "cycle,x\r\n");
        })
        .beyond(),
        lie("no facts about the machine", |root| remove(root, "doctor.json")),
        lie("other facts about the machine", |root| {
            write(root, "doctor.json", "{ \"schema\": \"quietcore.doctor/1\" }\n");
        })
        .beyond(),
        set(
            "another kernel in the facts",
            "doctor.json",
            "/facts/kernel/release/read",
            json!("6.12-rt"),
        ),
        lie("no manifest", |root| remove(root, "manifest.json")),
        lie("no sums", |root| remove(root, "SHA256SUMS")),
        lie("sums of nothing", |root| write(root, "SHA256SUMS", "")),
        lie("the signature and the failing record away", |root| {
            remove(root, sample::RECORD);
            let _ = fs::remove_file(root.join(SIGNATURE));
        }),
        lie("the signature away, a record made up, and sealed by Quietcore itself", |root| {
            let text = serde_json::to_string_pretty(&sample::probe("tp4", 0)).unwrap();
            write(root, sample::RECORD, &text);
            reseal(root);
        })
        .beyond(),
    ]
}
