//! Campaigns that measure each partition alone: what shares a CPU, what is left out, and what the
//! evidence says of it.

use std::fs;
use std::path::Path;

use quietcore_skip::skip;

use crate::command::call;

/// Number of times that an emulated guest is started again.
const STARTS_MAX: u32 = 3;

/// Writes a site with two processes on one CPU, a Linux guest without an image and a domain of Xen;
/// returns `None` on a machine with one CPU.
fn systems(folder: &Path, file: &str) -> Option<()> {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let last: u32 = online.trim().rsplit([',', '-']).next().unwrap().parse().unwrap();
    let one = |name: &str, lines: &str, model: &str| {
        format!(
            "[[partition]]\nname = \"{name}\"\nclass = \"process-control\"\n{lines}\n\
             [partition.vcr]\ncpus = [{last}]\n[partition.program]\nperiod = \"1 ms\"\n{model}\n"
        )
    };
    let guest = "backend = \"qemu\"\nguest = { system = \"linux\", image = \"no-image\", \
                 accelerator = \"tcg\" }";
    let text = format!(
        "[site]\nname = \"systems\"\n[host]\nhousekeeping = [0]\n{}{}{}{}[campaign]\nalone = true\n\
         profiles = [\"tp1\", \"tp2\"]\nduration = \"300 ms\"\nwarm_up = \"50 ms\"\n\
         exceedance = 1e-1\n",
        one("first", "", ""),
        one("second", "", ""),
        one("guest", guest, ""),
        one("domain", "backend = \"xen\"", "model = \"m\""),
    );
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    (last > 0).then_some(())
}

/// Goal: one call measures what the machine has of several systems, each alone; the others are
/// named with their reason from the plan to the evidence, and nothing is proven without them.
#[test]
fn systems_are_measured_one_after_the_other_and_missing_ones_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(()) = systems(folder.path(), "site.toml") else {
        return skip!("needs two CPUs; this machine has one");
    };
    let left_out = "left out: partition `guest` (tp1, tp2): site.toml:";
    // The program of the domain is not there either, and a plan refuses that.
    let text = fs::read_to_string(folder.path().join("site.toml")).unwrap();
    fs::write(folder.path().join("site.toml"), text.replace("model = \"m\"\n", "")).unwrap();
    let plan = call(folder.path(), &["plan", "site.toml"]);
    assert_eq!(plan.status, Some(0), "{}", plan.err);
    assert!(plan.err.contains(left_out), "{}", plan.err);
    assert!(plan.err.contains("left out: partition `domain` (tp1, tp2)"), "{}", plan.err);
    assert!(!plan.out.contains("`guest`"), "{}", plan.out);
    let up = call(folder.path(), &["up", "site.toml", "--for", "1s"]);
    assert_eq!(up.status, Some(2), "{}", up.out);
    assert!(up.err.contains("belongs to another partition too"), "{}", up.err);

    let run = call(folder.path(), &["qualify", "site.toml", "--out", "run"]);
    assert_eq!(run.status, Some(1), "not proven: {}{}", run.out, run.err);
    assert!(run.err.contains(left_out), "{}", run.err);
    for name in ["1/4 first tp1", "2/4 first tp2", "3/4 second tp1", "4/4 second tp2"] {
        assert!(run.err.contains(name), "{name}: {}", run.err);
    }
    let manifest = fs::read(folder.path().join("run/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let missing = manifest["not_measured"].as_array().unwrap().iter();
    let word = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap().to_owned();
    let mut missing: Vec<_> =
        missing.map(|it| word(it, "partition") + " " + &word(it, "profile")).collect();
    missing.sort_unstable();
    assert_eq!(missing, ["domain tp1", "domain tp2", "guest tp1", "guest tp2"]);
    // Two starts of one profile are no contradiction here.
    let report = call(folder.path(), &["report", "run"]);
    assert_eq!(report.status, Some(0), "{}", report.err);
    let again = call(folder.path(), &["qualify", "--resume", "run"]);
    assert_eq!(again.status, Some(1), "{}", again.err);
    assert!(!again.err.contains("1/"), "nothing is measured twice: {}", again.err);
    let renewed = ["qualify", "site.toml", "--renew", "run", "--out", "renewed"];
    let renewed = call(folder.path(), &renewed);
    assert_eq!(renewed.status, Some(0), "{}", renewed.err);
    assert!(renewed.out.starts_with("nothing to renew"), "{}", renewed.out);
}

/// Returns the record of the guest in what `show --json` prints.
fn of_guest(shown: &str) -> Option<serde_json::Value> {
    let shown: serde_json::Value = serde_json::from_str(shown).unwrap();
    let mut records = shown["records"].as_array().unwrap().iter();
    records.find(|it| it["partition"] == "guest").cloned()
}

/// Goal: a Linux guest is a system beside others, also where its processor is emulated, and then
/// its times are marked and prove nothing.
#[test]
fn a_guest_that_is_emulated_is_a_system_whose_times_are_not_valid() {
    let Some(image) = std::env::var_os("QUIETCORE_TEST_IMAGE") else {
        return skip!("QUIETCORE_TEST_IMAGE names no image of a Linux guest");
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(()) = systems(folder.path(), "site.toml") else {
        return skip!("needs two CPUs; this machine has one");
    };
    let text = fs::read_to_string(folder.path().join("site.toml")).unwrap();
    let text = text
        .replace("no-image", image.to_str().unwrap())
        .replace("accelerator = \"tcg\"", "accelerator = \"kvm\"");
    fs::write(folder.path().join("site.toml"), text).unwrap();
    let arguments = ["qualify", "site.toml", "--profile", "tp2", "--accelerator", "tcg"];
    let mut run = call(folder.path(), &[&arguments[..], &["--out", "run", "--json"]].concat());
    let mut guest = of_guest(&run.out);
    // On a machine that others use, an emulated guest may not begin in time.
    for _ in 0..STARTS_MAX {
        if guest.is_some() {
            break;
        }
        run = call(folder.path(), &["qualify", "--resume", "run", "--json"]);
        guest = of_guest(&run.out);
    }
    let guest = guest.unwrap_or_else(|| panic!("it was never measured: {}", run.err));
    assert_eq!(run.status, Some(1), "{}", run.err);
    assert_eq!(guest["valid"], false, "{guest}");
    assert!(guest["statistics"]["count"].as_u64() > Some(0), "{guest}");
    let kept = fs::read_to_string(folder.path().join("run/site.toml")).unwrap();
    assert!(kept.contains("accelerator = \"tcg\""), "what was measured is in the folder");
    let report = call(folder.path(), &["report", "run"]);
    assert_eq!(report.status, Some(0), "{}", report.err);
}

/// Goal: the plan of a paper's campaign makes images before it measures, counts what is possible,
/// and says what is not.
#[test]
fn the_plan_of_a_campaign_names_the_systems_that_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let Some(()) = systems(folder.path(), "examples/papers/queiroz2023.toml") else {
        return skip!("needs two CPUs; this machine has one");
    };
    let plan = call(folder.path(), &["campaign", "queiroz2023", "--plan"]);
    assert_eq!(plan.status, Some(0), "{}", plan.err);
    let image = plan.out.find("guest build --kernel stock").expect("images come first");
    let run = plan.out.find("qualify").expect("and something is measured");
    assert!(image < run, "{}", plan.out);
    assert_eq!(plan.out.matches("not needed   quietcore guest build").count(), 2, "{}", plan.out);
    assert!(plan.out.contains("`domain` is left out (tp1, tp2): "), "{}", plan.out);
    assert_eq!(plan.out.matches("300 ms each").count(), 1, "one run for all: {}", plan.out);
}
