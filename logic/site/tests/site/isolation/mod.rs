//! Controls of a profile, and the twelve profiles of the isolation matrix.

use quietcore_site::{Control, LoadPlace, Machine, OverrideError, Site, Step, plan};

use crate::support::{expect_problem, machine, read_text};

/// A site with controls of its own, one partition, and these lines behind.
fn text(rest: &str) -> String {
    format!(
        "[site]\nname = \"s\"\n[host]\ncontrols = [\"governor\"]\n[[partition]]\nname = \"a\"\n\
         class = \"motion-control\"\n[partition.vcr]\ncpus = [1]\n{rest}"
    )
}

fn site(rest: &str) -> Site {
    read_text(&text(rest)).unwrap_or_else(|problems| panic!("{problems}"))
}

const OWN: &str = "[[profile]]\nname = \"own\"\n";
const CAMPAIGN: &str = "[campaign]\nprofiles = [\"own\"]\n";

fn under_own(profile: &str) -> (Vec<Control>, bool) {
    let site = site(&format!("{OWN}{profile}\n{CAMPAIGN}"));
    let own = &site.campaign().profiles[0];
    (site.controls_under(own).to_vec(), site.keeps_reservation(own))
}

#[test]
fn a_profile_changes_what_it_names_in_place_of_the_site() {
    use Control::{Governor, Interrupts, LoadBalance};
    assert_eq!(under_own(""), (vec![Governor], true), "as the site says");
    assert_eq!(under_own("controls = []"), (vec![], false));
    let twice = "controls = [\"load-balance\", \"interrupts\", \"interrupts\"]";
    assert_eq!(under_own(twice), (vec![Interrupts, LoadBalance], false));
    let more = "controls = [\"governor\", \"interrupts\"]";
    assert_eq!(under_own(more), (vec![Interrupts, Governor], true));
    assert_eq!(under_own("controls = [\"all\"]"), (Control::ALL.to_vec(), true));
    assert_eq!(under_own("pinned = false"), (vec![], false));
    assert_eq!(under_own("pinned = false\ncontrols = []"), (vec![], false));
}

#[test]
fn a_profile_takes_controls_from_the_one_it_is_like() {
    use Control::{Interrupts, LoadBalance, Watchdog};
    assert_eq!(under_own("like = \"iso5\"").0, [Interrupts, LoadBalance]);
    assert_eq!(under_own("like = \"tp2\"").0, [Control::Governor], "tp2 leaves it to the site");
    assert_eq!(under_own("like = \"iso5\"\ncontrols = []").0, []);
    assert_eq!(under_own("like = \"iso5\"\npinned = false").0, [], "no CPU is kept quiet");
    let chain = "controls = [\"watchdog\"]\n[[profile]]\nname = \"second\"\nlike = \"own\"\n\
                 [[profile.load]]\nkind = \"fork\"\n";
    let site = site(&format!("{OWN}{chain}[campaign]\nprofiles = [\"second\", \"own\"]\n"));
    let second = &site.campaign().profiles[0];
    assert_eq!(site.controls_under(second), [Watchdog]);
    assert_eq!(site.controls_of_campaign(), [Watchdog]);
}

#[test]
fn controls_of_a_profile_are_checked() {
    let own = |profile: &str| text(&format!("{OWN}{profile}\n{CAMPAIGN}"));
    let wrong = own("controls = [\"load-balanse\"]");
    expect_problem(&wrong, "profile.own.controls[0]", "did you mean `load-balance`?");
    let free = own("pinned = false\ncontrols = [\"interrupts\"]");
    expect_problem(&free, "profile.own.controls", "pins no partition");
    expect_problem(&own("like = \"iso13\""), "profile.own.like", "did you mean `iso1`?");
    let taken = |name: &str| text(&format!("[[profile]]\nname = \"{name}\"\n"));
    for name in ["iso7", "isolation"] {
        let problem = format!("`{name}` is the name of the isolation matrix of hofer2019");
        expect_problem(&taken(name), &format!("profile.{name}.name"), &problem);
    }
}

#[test]
fn the_matrix_has_twelve_profiles_and_a_word_for_all() {
    let mut site = site("[campaign]\nprofiles = [\"isolation\"]\n");
    let named: Vec<String> = site.campaign().profiles.iter().map(|it| it.name.clone()).collect();
    assert_eq!(named, (1..=12).map(|row| format!("iso{row}")).collect::<Vec<_>>());
    let profiles = site.campaign().profiles.clone();
    let [iso1, .., iso12] = &profiles[..] else { panic!("twelve") };
    assert_eq!((iso1.pinned, iso1.workers(), iso1.controls.as_deref()), (false, 0, Some(&[][..])));
    let is_off = |control: &Control| site.controls_under(iso12).contains(control);
    let all_off = Control::ALL.into_iter().filter(is_off).collect::<Vec<_>>();
    let mut expected = vec![
        Control::Interrupts,
        Control::KernelThreads,
        Control::Workqueues,
        Control::LoadBalance,
        Control::Programs,
    ];
    expected.sort();
    assert_eq!(all_off, expected);
    assert!(iso12.description.contains("as iso10 on one kernel"), "{}", iso12.description);
    assert!(iso1.description.contains("row 1 of hofer2019, table I"), "{}", iso1.description);
    let place = |row: usize| profiles[row - 1].loads.first().map(|load| load.place);
    let places = [2, 4, 6, 8, 10, 12].map(place);
    let (anywhere, other) = (Some(LoadPlace::Anywhere), Some(LoadPlace::OtherCpus));
    assert_eq!(places, [anywhere, anywhere, anywhere, other, other, other]);
    assert!(profiles.iter().step_by(2).all(|profile| profile.loads.is_empty()));
    assert_eq!(profiles[4].controls, Some(vec![Control::Interrupts, Control::LoadBalance]));
    assert_eq!(profiles[8].controls, profiles[10].controls);
    // None of them has the governor, which this site reserves.
    assert!(!profiles.iter().any(|profile| site.keeps_reservation(profile)));

    site.select_profiles(&["tp1".to_owned()]).unwrap();
    site.select_profiles(&["isolation".to_owned(), "tp2".to_owned()]).unwrap();
    assert_eq!(site.campaign().profiles.len(), 13);
    let twice = site.select_profiles(&["iso3".to_owned(), "isolation".to_owned()]);
    assert_eq!(twice, Err(OverrideError::ProfileTwice { name: "iso3".to_owned() }));
    let nearest = site.select_profiles(&["isolatoin".to_owned()]).unwrap_err().to_string();
    assert!(nearest.contains("did you mean `isolation`?"), "{nearest}");
}

#[test]
fn the_plan_shows_what_each_profile_changes() {
    let site = site("[campaign]\nprofiles = [\"iso3\", \"iso5\", \"tp2\"]\n");
    let changed = |machine: &Machine| -> Vec<(String, Vec<Control>)> {
        let mut found: Vec<(String, Vec<Control>)> = Vec::new();
        let mut controls = Vec::new();
        for step in plan(&site, machine).unwrap().steps {
            match step {
                Step::Change { control, .. } => controls.push(control),
                Step::Measure { profile, .. } => {
                    found.push((profile, std::mem::take(&mut controls)));
                }
                _ => {}
            }
        }
        found
    };
    let of = |name: &str, controls: &[Control]| (name.to_owned(), controls.to_vec());
    let expected = [
        of("iso3", &[]),
        of("iso5", &[Control::Interrupts, Control::LoadBalance]),
        of("tp2", &[Control::Governor]),
    ];
    assert_eq!(changed(&machine(2)), expected);
    let user = Machine { root: false, ..machine(2) };
    assert_eq!(changed(&user), [of("iso3", &[]), of("iso5", &[]), of("tp2", &[])]);
    let said: Vec<_> = plan(&site, &user).unwrap().degraded;
    let names = "the settings of controls `interrupts`, `governor`, `load-balance` stay";
    assert!(said.iter().any(|it| it.what.starts_with(names)), "{said:?}");
    // Interrupts stay under two of three profiles, so nothing says that they are kept off.
    let said = plan(&site, &machine(2)).unwrap().degraded;
    assert!(said.iter().any(|it| it.cost.contains("interrupts run there")), "{said:?}");
}

#[test]
fn a_profile_that_keeps_things_off_every_cpu_is_refused() {
    let text = text("[campaign]\nprofiles = [\"iso9\"]\n")
        .replace("controls = [\"governor\"]", "housekeeping = []")
        .replace("cpus = [1]", "cpus = \"0-1\"");
    let refusals = plan(&read_text(&text).unwrap(), &machine(2)).unwrap_err();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(refusals[0].to_string().contains("profile `iso9` keeps things off"), "{refusals:?}");
}
