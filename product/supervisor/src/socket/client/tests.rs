//! The choice of the intended site, and the messages where there is none.

use super::*;
use crate::places::{SITE_SCHEMA, SiteDescription};

fn running(sites: &[(&str, &[&str])]) -> Vec<RunningSite> {
    let describe = |site: &str, partitions: &[&str]| SiteDescription {
        schema: SITE_SCHEMA.to_owned(),
        site: site.to_owned(),
        pid: 1,
        site_file: "/line.toml".into(),
        started_at: String::new(),
        started_by: None,
        partitions: partitions.iter().map(|name| (*name).to_owned()).collect(),
        quietcore_version: String::new(),
    };
    sites
        .iter()
        .map(|(name, partitions)| RunningSite {
            name: (*name).to_owned(),
            socket: PathBuf::new(),
            description: Some(describe(name, partitions)),
        })
        .collect()
}

fn picked(
    sites: &[(&str, &[&str])],
    asked: Option<&str>,
    partition: Option<&str>,
) -> Result<String, String> {
    let running = running(sites);
    let site = pick(&running, asked, partition, Path::new("/r")).map_err(|it| it.to_string())?;
    Ok(site.name.clone())
}

#[test]
fn the_only_site_needs_no_name() {
    let one: &[(&str, &[&str])] = &[("line", &["axis"])];
    assert_eq!(picked(one, None, None).unwrap(), "line");
    assert_eq!(picked(one, Some("line"), Some("axis")).unwrap(), "line");
    let refused = picked(one, Some("lime"), None).unwrap_err();
    assert_eq!(refused, "site `lime` does not run; did you mean `line`?");
    let refused = picked(one, Some("xyz"), None).unwrap_err();
    assert_eq!(refused, "site `xyz` does not run; running: `line`");
}

#[test]
fn where_nothing_runs_the_way_to_start_is_said() {
    let refused = picked(&[], None, None).unwrap_err();
    assert!(refused.contains("`/r`") && refused.contains("quietcore up SITE.toml"), "{refused}");
}

#[test]
fn among_several_the_words_that_would_work_are_said() {
    let two: &[(&str, &[&str])] = &[("a", &["axis"]), ("b", &["tank"])];
    let refused = picked(two, None, Some("tank")).unwrap_err();
    assert_eq!(refused, "several sites run: `a`, `b`; say which one, such as `b/tank`");
    let refused = picked(two, None, None).unwrap_err();
    assert!(refused.ends_with("such as `--site a`"), "{refused}");
    assert_eq!(picked(two, Some("b"), None).unwrap(), "b");
}

#[test]
fn addresses_are_a_partition_or_a_site_and_a_partition() {
    let address = |text: &str| text.parse::<Address>();
    assert_eq!(address("axis").unwrap(), Address { site: None, partition: "axis".into() });
    let full = Address { site: Some("line".into()), partition: "axis".into() };
    assert_eq!(address("line/axis").unwrap(), full);
    assert_eq!(full.to_string(), "line/axis");
    for wrong in ["", "/", "a/", "/a", "a/b/c"] {
        let error = address(wrong).unwrap_err().to_string();
        assert!(error.contains("SITE/PARTITION"), "{error}");
    }
}

#[test]
fn a_socket_that_nobody_listens_on_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let claim = crate::places::Claim::take(&places, "line").unwrap();
    let refused = Client::connect(&places, None).unwrap_err();
    assert!(matches!(refused, ClientError::Connect { .. }), "{refused}");
    drop(claim.listen().unwrap());
    let refused = Client::connect(&places, None).unwrap_err().to_string();
    assert_eq!(refused, "site `line` can't be reached");
}

#[test]
fn root_is_not_told_that_only_root_sees_its_sites() {
    let elsewhere = Path::new("/run/elsewhere");
    assert_eq!(hint(elsewhere, false, true), "; sites of root are seen by root only");
    assert!(hint(elsewhere, true, true).contains("`QUIETCORE_RUN_DIR` is set"));
    assert_eq!(hint(elsewhere, false, false), "");
    assert_eq!(hint(Path::new(ROOTS_PLACE), true, true), "");
}
