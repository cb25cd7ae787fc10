//! `quietcore verify`: on this machine, on another one, and by somebody who has no Quietcore.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
#[path = "../command/mod.rs"]
mod command;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use command::{Said, call, said};
use serde_json::Value;

/// A Python with the packages of `docs/evidence-signature.md`; `./test` installs it.
const PYTHON: &str = "QUIETCORE_IN_TOTO_PYTHON";

const SIGNATURE: &str = "run/evidence.intoto.json";

/// Makes a signed folder `run`, from a histogram as cyclictest prints it.
fn signed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path());
    folder
}

/// Returns a histogram as cyclictest prints it.
fn histogram() -> String {
    let values: Vec<(u64, u64)> = (3..40).map(|us| (us, 4_000 / us)).collect();
    let bins: String = values.iter().map(|(us, count)| format!("{us:06} {count:06}\n")).collect();
    let total: u64 = values.iter().map(|(_, count)| count).sum();
    let average = values.iter().map(|(us, count)| us * count).sum::<u64>() / total;
    format!(
        "# Histogram\n{bins}# Total: {total:09}\n# Min Latencies: 00003\n# Avg Latencies: \
         {average:05}\n# Max Latencies: 00039\n# Histogram Overflows: 00000\n"
    )
}

fn import(folder: &Path) {
    fs::write(folder.join("latencies"), histogram()).unwrap();
    let imported =
        call(folder, &["import", "cyclictest", "latencies", "--interval", "1ms", "--out", "run"]);
    assert_eq!(imported.status, Some(0), "{}", imported.err);
}

/// Makes a call as on another machine: with a state folder, and so a key, of its own.
fn elsewhere(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = command::quietcore(folder);
    command.env("QUIETCORE_STATE_DIR", folder.join("elsewhere"));
    said(&command.args(arguments).output().unwrap())
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
}

#[test]
fn a_run_is_signed_by_the_machines_key_and_verify_says_so() {
    let folder = signed();
    let at = folder.path();
    let key = at.join("state/@key/signing-key.pem");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let verified = call(at, &["verify", "run"]);
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
    assert!(verified.out.starts_with("genuine: as it was signed by this machine's key"));
    assert!(verified.out.contains("\nNOT PROVEN: "), "{}", verified.out);
    let shown = call(at, &["show", "run"]);
    assert_eq!(shown.status, Some(0), "{}", shown.err);
    assert!(shown.err.contains("signature: of this machine"), "{}", shown.err);
    // A page made anew is signed anew.
    assert_eq!(call(at, &["report", "run"]).status, Some(0));
    assert_eq!(call(at, &["verify", "run"]).status, Some(0));
}

#[test]
fn a_changed_folder_is_not_genuine_and_the_file_is_named() {
    let folder = signed();
    let at = folder.path();
    let page = at.join("run/report.html");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("NOT PROVEN", "PASS")).unwrap();
    let verified = call(at, &["verify", "run", "--json"]);
    assert_eq!(verified.status, Some(1));
    let finding = json(&verified);
    assert_eq!((&finding["genuine"], &finding["signature"]), (&false.into(), &"broken".into()));
    assert!(finding["problems"].to_string().contains("`report.html` is not as it was signed"));
    assert_eq!(call(at, &["show", "run"]).status, Some(1));
}

/// Goal: whatever follows from the records and does not say so is named, without a signature too.
/// Method: forge each of the three, with the sums made anew.
#[test]
fn forged_pages_of_an_unsigned_folder_are_named() {
    for (name, from, to) in [
        ("evidence.json", "\"NOT PROVEN\"", "\"PASS\""),
        ("report.html", "NOT PROVEN", "PASS"),
        ("junit.xml", "skipped", "passed"),
    ] {
        let folder = signed();
        let at = folder.path();
        fs::remove_file(at.join(SIGNATURE)).unwrap();
        let shown = call(at, &["show", "run"]);
        assert_eq!(shown.status, Some(0), "{}", shown.err);
        assert!(shown.err.contains("signature: none"), "{}", shown.err);
        let file = at.join("run").join(name);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{name}");
        fs::write(&file, text.replace(from, to)).unwrap();
        let script = "sha256sum evidence.json junit.xml manifest.json records/* report.html \
                      >SHA256SUMS";
        let sums = Command::new("sh").args(["-c", script]).current_dir(at.join("run")).status();
        assert!(sums.unwrap().success());
        let shown = call(at, &["show", "run"]);
        assert_eq!(shown.status, Some(1), "{name}");
        assert!(shown.err.contains(&format!("changed: `{name}` ")), "{name}: {}", shown.err);
        // Made anew, and still not signed: this machine did not sign what it found.
        assert_eq!(call(at, &["report", "run"]).status, Some(0));
        assert_eq!(call(at, &["show", "run"]).status, Some(0));
        assert!(!at.join(SIGNATURE).exists());
        let verified = call(at, &["verify", "run"]);
        assert_eq!(verified.status, Some(1));
        assert!(verified.out.starts_with("NOT proven genuine: it is not signed"));
    }
}

#[test]
fn a_folder_of_another_machine_is_shown_as_such_and_verified_by_its_key() {
    let folder = signed();
    let at = folder.path();
    let key = call(at, &["verify", "--print-key"]);
    assert!(key.out.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{}", key.out);
    fs::write(at.join("machine.pub.pem"), &key.out).unwrap();
    let shown = elsewhere(at, &["show", "run"]);
    assert_eq!(shown.status, Some(0), "{}", shown.err);
    assert!(shown.err.contains("signature: of another machine"), "{}", shown.err);
    let verified = elsewhere(at, &["verify", "run"]);
    assert_eq!(verified.status, Some(1));
    assert!(verified.out.contains("and this machine has none"), "{}", verified.out);
    let verified = elsewhere(at, &["verify", "run", "--key", "machine.pub.pem"]);
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
    // What others have signed is not signed anew, nor made anew where that would break it.
    assert_eq!(elsewhere(at, &["report", "run"]).status, Some(0));
    fs::write(at.join("run/report.html"), "PASS").unwrap();
    assert_eq!(elsewhere(at, &["verify", "run", "--key", "machine.pub.pem"]).status, Some(1));
    let other = elsewhere(at, &["verify", "--print-key"]);
    fs::write(at.join("other.pub.pem"), &other.out).unwrap();
    assert_ne!(other.out, key.out);
    let refused = call(at, &["verify", "run", "--key", "latencies"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("is no Ed25519 key in PEM"), "{}", refused.err);
}

#[test]
fn without_a_place_for_a_key_a_run_is_unsigned_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("latencies"), histogram()).unwrap();
    fs::write(at.join("file"), "").unwrap();
    let mut command = command::quietcore(at);
    command.env("QUIETCORE_STATE_DIR", at.join("file"));
    command.args(["import", "cyclictest", "latencies", "--interval", "1ms", "--out", "run"]);
    let imported = said(&command.output().unwrap());
    assert_eq!(imported.status, Some(0), "{}", imported.err);
    assert!(imported.err.contains("remark: not signed: "), "{}", imported.err);
    assert!(!at.join(SIGNATURE).exists());
}

/// Goal: a page that was removed is named and is no forgery, and one that was changed is one.
#[test]
fn a_page_that_is_gone_is_named_and_no_forgery() {
    let folder = signed();
    let at = folder.path();
    let page = at.join("run/report.html");
    let text = fs::read_to_string(&page).unwrap();
    fs::remove_file(&page).unwrap();
    let verified = call(at, &["verify", "run"]);
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
    assert!(verified.out.contains("\nreport.html is not there; "), "{}", verified.out);
    let whole: Value = serde_json::from_str(&call(at, &["verify", "run", "--json"]).out).unwrap();
    assert_eq!((&whole["genuine"], &whole["not_there"][0]), (&true.into(), &"report.html".into()));
    fs::write(&page, text.replace("NOT PROVEN", "PASS")).unwrap();
    assert_eq!(call(at, &["verify", "run"]).status, Some(1));
}

/// Goal: a folder that was not finished, as on a full disk, is not shown as one that was.
/// Method: take away a page, the sums of all, all of them, and make them anew.
#[test]
fn a_folder_that_was_not_finished_is_shown_with_what_it_lacks() {
    let folder = signed();
    let at = folder.path();
    let pages = ["evidence.json", "report.html", "junit.xml"];
    let page = |name: &str| at.join("run").join(name);
    let shown = || call(at, &["show", "run"]).err;
    assert!(!shown().contains("remark: "), "{}", shown());
    let text = fs::read_to_string(page("report.html")).unwrap();
    fs::remove_file(page("report.html")).unwrap();
    let changed = "`report.html` is missing: the folder is not as it was sealed";
    assert!(shown().contains(changed), "{}", shown());
    fs::write(page("report.html"), text).unwrap();
    fs::remove_file(at.join(SIGNATURE)).unwrap();
    let sums = fs::read_to_string(page("SHA256SUMS")).unwrap();
    let is_first = |line: &&str| !pages.iter().any(|name| line.ends_with(name));
    let first: String = sums.lines().filter(is_first).map(|line| format!("{line}\n")).collect();
    fs::write(page("SHA256SUMS"), first).unwrap();
    for name in pages {
        let told = format!("`{name}` has no sum: the run did not come to its end");
        assert!(shown().contains(&told), "{}", shown());
        fs::remove_file(page(name)).unwrap();
        let told = format!("`{name}` is missing: the run did not come to its end");
        assert!(shown().contains(&told), "{}", shown());
    }
    assert_eq!(call(at, &["report", "run"]).status, Some(0));
    assert!(!shown().contains("remark: "), "{}", shown());
}

/// Goal: a stranger verifies a folder offline, with packages that are not ours.
/// Method: the script of `docs/evidence-signature.md` on a folder, and on one that was changed.
#[test]
fn a_stranger_verifies_a_folder_with_packages_of_others() {
    let Some(python) = std::env::var_os(PYTHON).map(PathBuf::from).filter(|it| it.is_file()) else {
        quietcore_skip::skip!(
            "no Python with `in-toto-attestation`; run ./test, which installs it"
        );
        return;
    };
    let folder = signed();
    let at = folder.path();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verify_evidence.py");
    let verify = |key: &str| {
        let mut command = Command::new(&python);
        said(&command.arg(&script).args(["run", key]).current_dir(at).output().unwrap())
    };
    fs::write(at.join("own.pem"), call(at, &["verify", "--print-key"]).out).unwrap();
    fs::write(at.join("other.pem"), elsewhere(at, &["verify", "--print-key"]).out).unwrap();
    let verified = verify("own.pem");
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
    assert!(verified.out.starts_with("verified: ") && verified.out.ends_with(": NOT_PROVEN\n"));
    assert_eq!(verify("other.pem").status, Some(1));
    // Without its page it is as genuine as before, and both say that the page is gone.
    fs::remove_file(at.join("run/report.html")).unwrap();
    for verified in [verify("own.pem"), call(at, &["verify", "run"])] {
        assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
        assert!(verified.out.contains("report.html is not there"), "{}", verified.out);
    }
    let record = fs::read_dir(at.join("run/records")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("\"early\": 0", "\"early\": 1")).unwrap();
    let refused = verify("own.pem");
    assert_eq!(refused.status, Some(1));
    assert!(refused.out.contains("is not as it was signed"), "{}", refused.out);
}
