//! The right to run a site, the signs of a leftover, and the folders that are refused.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn environment<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
    |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
}

fn chosen(user: u32, set: &[(&str, &str)]) -> (String, Option<String>) {
    let places = Places::choose(user, environment(set)).unwrap();
    (places.run.display().to_string(), places.state.map(|path| path.display().to_string()))
}

#[test]
fn folders_follow_user_and_environment() {
    let home = ("HOME", "/h");
    let xdg = ("XDG_RUNTIME_DIR", "/x");
    assert_eq!(chosen(0, &[home, xdg]).0, "/run/quietcore");
    assert_eq!(chosen(0, &[home]).1.unwrap(), "/var/lib/quietcore");
    assert_eq!(chosen(7, &[home, xdg]).0, "/x/quietcore");
    assert_eq!(
        chosen(7, &[home]),
        ("/tmp/quietcore-7".into(), Some("/h/.local/state/quietcore".into()))
    );
    assert_eq!(chosen(7, &[home, ("XDG_STATE_HOME", "/s")]).1.unwrap(), "/s/quietcore");
    assert_eq!(chosen(0, &[("QUIETCORE_RUN_DIR", "/r"), xdg]).0, "/r");
    assert_eq!(chosen(7, &[("QUIETCORE_STATE_DIR", "/st"), home]).1.unwrap(), "/st");
    assert_eq!(chosen(7, &[("XDG_RUNTIME_DIR", "x")]), ("/tmp/quietcore-7".into(), None));
    let refused = Places::choose(7, environment(&[("QUIETCORE_RUN_DIR", "r")])).unwrap_err();
    assert!(refused.to_string().contains("`QUIETCORE_RUN_DIR` is `r`"), "{refused}");
}

struct Fixture {
    folder: tempfile::TempDir,
    places: Places,
}

fn ground() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    Fixture { folder, places }
}

fn description(site: &str) -> SiteDescription {
    SiteDescription {
        schema: SITE_SCHEMA.to_owned(),
        site: site.to_owned(),
        pid: std::process::id(),
        site_file: "/sites/line.toml".into(),
        started_at: "2026-11-21T20:15:03Z".to_owned(),
        started_by: Some(StartedBy::this_process()),
        partitions: vec!["axis".to_owned()],
        quietcore_version: "0".to_owned(),
    }
}

#[test]
fn a_second_up_is_refused_with_the_process_of_the_first() {
    let ground = ground();
    let first = Claim::take(&ground.places, "line").unwrap();
    let refused = Claim::take(&ground.places, "line").unwrap_err();
    let own = std::process::id();
    assert!(
        matches!(refused, PlaceError::AlreadyRunning { pid: Some(pid), .. } if pid == own),
        "{refused}"
    );
    assert!(refused.to_string().contains("quietcore down line"), "{refused}");
    // Another site is no obstacle.
    Claim::take(&ground.places, "other").unwrap();
    drop(first);
    Claim::take(&ground.places, "line").unwrap();
}

#[test]
fn a_running_site_is_listed_and_leaves_nothing() {
    let ground = ground();
    assert_eq!(ground.places.running().unwrap(), []);
    let claim = Claim::take(&ground.places, "line").unwrap();
    let _socket = claim.listen().unwrap();
    assert_eq!(ground.places.running().unwrap()[0].description, None);
    claim.describe(&description("line")).unwrap();
    let [site] = &ground.places.running().unwrap()[..] else { panic!("one site runs") };
    assert_eq!((site.name.as_str(), &site.description), ("line", &Some(description("line"))));
    assert_eq!(site.socket, ground.places.run_folder().join("line/socket"));
    let mode = fs::metadata(&site.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(claim);
    assert_eq!(fs::read_dir(ground.places.run_folder()).unwrap().count(), 0);
}

/// Goal: what a killed supervisor leaves is no obstacle and is not shown.
/// Method: make its folder by hand; nobody holds the lock.
#[test]
fn leftovers_are_recognised_by_the_free_lock_and_removed() {
    let ground = ground();
    drop(Claim::take(&ground.places, "line").unwrap());
    let folder = ground.places.run_folder().join("line");
    let leave = || {
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(LOCK), "1").unwrap();
        fs::write(folder.join(SOCKET), "").unwrap();
        fs::create_dir_all(folder.join("build/axis")).unwrap();
    };
    leave();
    assert_eq!(ground.places.running().unwrap(), []);
    assert!(!folder.exists());
    leave();
    let claim = Claim::take(&ground.places, "line").unwrap();
    claim.listen().unwrap();
    assert!(!folder.join("build").exists());
}

/// Goal: the machine's journal, which lies among the running sites, is never taken for what a
/// killed supervisor has left.
#[test]
fn folders_that_are_no_sites_are_neither_listed_nor_removed() {
    let ground = ground();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let journals = [JOURNAL, CONTAINERS].map(|name| ground.places.run_folder().join(name));
    for folder in &journals {
        make_own_folder(ground.places.run_folder(), RUN_VARIABLE).unwrap();
        make_own_folder(folder, RUN_VARIABLE).unwrap();
        fs::write(folder.join("journal.json"), "{}").unwrap();
        fs::File::open(folder).unwrap().set_modified(long_ago).unwrap();
    }
    assert!(ground.places.running().unwrap().is_empty());
    for folder in &journals {
        assert!(folder.join("journal.json").exists(), "{}", folder.display());
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(matches!(check_name(name), Err(PlaceError::Name { .. })), "{name}");
    }
}

#[test]
fn claims_in_parallel_are_given_to_one() {
    let ground = ground();
    for _ in 0..20 {
        let won: Vec<Claim> = std::thread::scope(|scope| {
            let tries: Vec<_> =
                (0..4).map(|_| scope.spawn(|| Claim::take(&ground.places, "line").ok())).collect();
            tries.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(won.len(), 1);
        assert_eq!(ground.places.running().unwrap().len(), 1);
    }
}

#[test]
fn a_folder_that_is_not_this_users_alone_is_refused() {
    let ground = ground();
    let run = ground.places.run_folder().to_owned();
    let refusal = || {
        let taken = Claim::take(&ground.places, "line").unwrap_err().to_string();
        assert_eq!(ground.places.running().unwrap_err().to_string(), taken);
        taken
    };
    let real = ground.folder.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink(&real, &run).unwrap();
    assert!(refusal().contains("is a link"));
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
    fs::remove_file(&run).unwrap();
    fs::write(&run, "").unwrap();
    assert!(refusal().contains("is no folder"));
    fs::remove_file(&run).unwrap();
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).unwrap();
    let said = refusal();
    assert!(said.contains("may be written by others (mode 777)"), "{said}");
    assert!(said.contains("set `QUIETCORE_RUN_DIR`"), "{said}");
    let foreign = Places::new("/proc/1", "/proc/1");
    if rustix::process::geteuid().is_root() {
        quietcore_skip::skip!("root owns everything");
    } else {
        let refused = Claim::take(&foreign, "line").unwrap_err().to_string();
        assert!(refused.contains("belongs to user 0"), "{refused}");
    }
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let ground = ground();
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    for name in ["", ".", "..", "../line", "a/b", ".hidden", "a b", &long] {
        let refused = Claim::take(&ground.places, name).unwrap_err();
        assert!(matches!(refused, PlaceError::Name { .. }), "{name}: {refused}");
        assert!(ground.places.state_folder(name, Path::new("a.toml")).is_err());
    }
    assert!(!ground.places.run_folder().exists());
}

#[test]
fn a_path_too_long_for_a_socket_is_said_before_anything_runs() {
    let ground = ground();
    let deep = ground.folder.path().join("d".repeat(100));
    let refused = Claim::take(&Places::new(&deep, &deep), "line").unwrap_err();
    assert!(matches!(refused, PlaceError::SocketPath { .. }), "{refused}");
}

#[test]
fn state_has_a_folder_of_its_own() {
    let ground = ground();
    let file = ground.folder.path().join("line.toml");
    let folder = ground.places.state_folder("line", &file).unwrap();
    assert!(folder.starts_with(ground.folder.path().join("state")), "{folder:?}");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = ground.places.state_folder("line", &file).unwrap_err().to_string();
    assert!(refused.contains("set `QUIETCORE_STATE_DIR`"), "{refused}");
    let homeless = Places::choose(7, environment(&[])).unwrap();
    assert!(matches!(homeless.state_folder("line", &file), Err(PlaceError::NoHome)));
}

/// Goal: a copy of a site does not take over what the original has kept, and says so.
#[test]
fn state_belongs_to_a_site_file_and_not_to_a_name() {
    let ground = ground();
    let file = |folder: &str| {
        let folder = ground.folder.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("line.toml"), "").unwrap();
        folder.join("line.toml")
    };
    let (first, second) = (file("first"), file("second"));
    let state = |file: &Path| ground.places.state_folder("line", file).unwrap();
    assert_ne!(state(&first), state(&second));
    assert_eq!(
        state(&first),
        state(&second.with_file_name("../first/line.toml")),
        "however it is written"
    );
    assert_ne!(state(&first), ground.places.state_folder("mill", &first).unwrap());
    let others = |file: &Path| ground.places.states_of_others("line", file);
    assert!(others(&second).is_empty(), "nothing survives yet");
    let retain = |state: PathBuf| {
        fs::create_dir_all(state.join("builds")).unwrap();
        fs::create_dir(state.join("axis")).unwrap();
        fs::write(state.join("axis/retained.1"), "").unwrap();
    };
    retain(state(&first));
    assert_eq!(others(&second), std::slice::from_ref(&first));
    assert!(others(&first).is_empty());
    retain(state(&second));
    assert!(others(&second).is_empty(), "it has its own");
    fs::write(state(&first).join("site-file"), "/elsewhere.toml").unwrap();
    let refused = ground.places.state_folder("line", &first).unwrap_err().to_string();
    assert!(refused.contains("is of the site file `/elsewhere.toml`"), "{refused}");
}

/// Goal: what a program retains is there for the next version of its site.
#[test]
fn versions_of_a_site_that_was_received_share_their_state() {
    let ground = ground();
    let received = ground.places.received_sites().unwrap();
    let file = |version: &str| {
        let folder = received.join(version);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("site.toml"), "").unwrap();
        folder.join("site.toml")
    };
    let state = |file: &Path| ground.places.state_folder("line", file).unwrap();
    assert_eq!(state(&file("line/1")), state(&file("line/2")));
    assert_ne!(state(&file("line/1")), state(&file("mill/1")));
    let elsewhere = ground.folder.path().join("line.toml");
    fs::write(&elsewhere, "").unwrap();
    assert_ne!(state(&elsewhere), state(&file("line/1")));
}
