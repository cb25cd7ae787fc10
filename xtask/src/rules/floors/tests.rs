//! Dependencies down, up and sideways.

use super::*;

const SITE_USES_RECORD: &[Sideways] = &[Sideways { from: "site", to: "record", reason: "a test" }];

fn findings(crates: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(String, String)> = crates
        .iter()
        .map(|(folder, sections)| {
            let name = folder.rsplit('/').next().unwrap();
            let text = format!("[package]\nname = \"quietcore-{name}\"\n{sections}");
            (format!("{folder}/Cargo.toml"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let (manifests, errors) = manifests(&Tree::of(&files));
    assert_eq!(errors, []);
    let pairs: &[Sideways] = if crates.iter().any(|(folder, _)| *folder == "logic/site") {
        SITE_USES_RECORD
    } else {
        &[]
    };
    let findings = check_with(&manifests, pairs);
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn downwards_and_listed_sideways_is_right() {
    let crates = [
        ("ground/units", ""),
        ("logic/record", "[dependencies]\nquietcore-units.workspace = true"),
        ("logic/site", "[dependencies]\nquietcore-record.workspace = true"),
        ("xtask/skip", ""),
        ("machine/host", "[dev-dependencies]\nquietcore-skip.workspace = true"),
        ("xtask/images", ""),
        ("realise/guests", "[build-dependencies]\nquietcore-images.workspace = true"),
        ("bench", "[dependencies]\nquietcore-host.workspace = true"),
    ];
    assert_eq!(findings(&crates), [""; 0]);
}

#[test]
fn upwards_and_unlisted_sideways_is_found_even_for_tests() {
    let crates = [
        ("ground/units", "[dev-dependencies]\nquietcore-record.workspace = true"),
        ("logic/record", "[build-dependencies]\nquietcore-oil.workspace = true"),
        ("logic/oil", ""),
    ];
    let found = findings(&crates);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("ground/units/Cargo.toml:4: floors: `units` on floor 1"));
    assert!(found[1].contains("sideways on `oil`"));
}

#[test]
fn what_stands_on_no_floor_is_not_depended_on() {
    let found = findings(&[
        ("xtask/skip", ""),
        ("machine/host", "[dependencies]\nquietcore-skip.workspace = true"),
    ]);
    assert!(found[0].contains("stands on no floor (xtask/skip)"), "{found:?}");
}

#[test]
fn the_guest_uses_nothing_above_what_runs_a_cycle() {
    let found = findings(&[
        ("engine/scan", ""),
        ("product/report", ""),
        (
            "guest/boot",
            "[dependencies]\nquietcore-scan.workspace = true\nquietcore-report.workspace = true",
        ),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("the guest depends on `report` of floor"), "{found:?}");
}

#[test]
fn a_floor_stands_on_its_base_and_the_base_on_none_of_it() {
    let found = findings(&[
        ("machine/clock", "[dependencies]\nquietcore-wire.workspace = true"),
        ("machine/wire", "[dependencies]\nquietcore-clock.workspace = true"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`clock` depends sideways on `wire`"), "{found:?}");
}

#[test]
fn a_pair_that_nobody_needs_is_found() {
    let found = findings(&[("logic/record", ""), ("logic/site", "")]);
    assert!(found[0].contains("`site` no longer depends on `record`"));
}
