//! Channels that can't be, and programs that have none.

use super::*;

#[test]
fn a_program_without_channels_is_told_so() {
    let site = Site::up(LONE);
    site.wait_for("a step was run", || site.value("lone", "lone_DW.now") > 0.0);
    let paths =
        ["lone_DW.sent", "lone_DW.received", "lone_DW.group", "lone_DW.message", "lone_DW.value"];
    // Status `E_NOT_OK` of `Com.h`.
    assert_eq!(site.values("lone", paths), [1.0, 1.0, 1.0, 1.0, 5.0]);
}

#[test]
fn a_channel_that_cannot_be_is_refused_before_anything_runs() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    copy_model("lone", &folder.path().join("lone"));
    let queues: Vec<String> = (0..64)
        .map(|number| format!("{{ name = \"s{number}\", type = \"u8\", queue = 65536 }}"))
        .collect();
    let other = LONE.replace("\"lone\"\nclass", "\"other\"\nclass").replace("[0]", "[1]");
    let text = format!(
        "{LONE}{}\n[[channel]]\nname = \"wide\"\nfrom = \"lone\"\nto = \"other\"\nsignals = [{}]",
        other.split_once("[[partition]]").map(|(_, rest)| format!("[[partition]]{rest}")).unwrap(),
        queues.join(", ")
    );
    let checked = quietcore_site::read("cell.toml", text.as_bytes(), &catalogue());
    let plan = Plan {
        site: Arc::new(checked.unwrap_or_else(|error| panic!("{error}"))),
        site_file: folder.path().join("cell.toml"),
        runtime: "/nowhere".into(),
        start: Restart::Cold,
        controls: None,
        started_by: StartedBy::this_process(),
    };
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let error = Running::up(plan, &places, &mut |_| {}).expect_err("too large");
    assert_eq!(error.to_string(), "there is no channel `wide`");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.contains("make its queues shorter"), "{cause}");
}
