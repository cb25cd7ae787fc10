//! Ways are held, given back, and never lost, whatever ends whoever held them.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const ME: (u32, u64) = (100, 5000);

fn tree() -> FakeTree {
    let tree = FakeTree::new();
    tree.live(ME.0, ME.1);
    tree
}

fn hold(
    tree: &FakeTree,
    partition: &str,
    ways: u32,
) -> Result<CacheWays<FakeTree>, CacheWaysError> {
    CacheWays::hold_in(tree.clone(), ME, partition, ways)
}

fn default_of(tree: &FakeTree) -> String {
    tree.masks("").unwrap()
}

const WHOLE: &str = "L3:0=fff;1=fff\n";

#[test]
fn ways_are_taken_from_everything_else_and_given_back() {
    let tree = tree();
    let ways = hold(&tree, "axis", 4).unwrap();
    assert_eq!(ways.mask(), 0xF);
    assert_eq!(tree.groups().unwrap(), ["quietcore-100-5000-f-axis"]);
    assert_eq!(tree.masks("quietcore-100-5000-f-axis").unwrap(), "L3:0=f;1=f\n");
    assert_eq!(default_of(&tree), "L3:0=ff0;1=ff0\n");
    assert!(ways.contention().is_empty());
    ways.add(77).unwrap();
    assert_eq!(tree.read("quietcore-100-5000-f-axis/tasks").unwrap(), "77");
    ways.check().unwrap();
    drop(ways);
    assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
    assert!(tree.read("tasks").unwrap().contains("77"), "its thread is nobody's any more");
}

#[test]
fn a_killed_owner_leaves_nothing_for_long() {
    let tree = tree();
    std::mem::forget(hold(&tree, "axis", 4).unwrap());
    tree.kill(ME.0);
    // Another process with the same number.
    tree.live(ME.0, 9000);
    let ways = CacheWays::hold_in(tree.clone(), (200, 1), "hmi", 2).unwrap();
    assert_eq!((ways.mask(), tree.groups().unwrap().len()), (0x3, 1));
    tree.live(200, 1);
    drop(ways);
    assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
}

#[test]
fn ways_between_are_kept_until_they_can_be_given_back() {
    let tree = tree();
    let (first, second) = (hold(&tree, "a", 3).unwrap(), hold(&tree, "b", 3).unwrap());
    assert_eq!((first.mask(), second.mask()), (0b111, 0b11_1000));
    drop(first);
    // What is beside the default group's ways belongs to the second.
    assert_eq!(default_of(&tree), "L3:0=fc0;1=fc0\n");
    assert!(tree.groups().unwrap().contains(&"quietcore-0-0-7-a".to_owned()));
    drop(second);
    assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
}

/// Goal: a change that is refused leaves what was there.
/// Method: refuse the first change, then the second, and so on until none is refused.
#[test]
fn a_refused_change_leaves_the_tree_as_it_was() {
    for changes in 0..4 {
        let tree = tree();
        tree.refuse_after(Some(changes));
        let Err(error) = hold(&tree, "axis", 4) else {
            assert_eq!(changes, 3, "a group, its masks, the default masks");
            return;
        };
        assert!(error.to_string().contains("can't be changed"), "{error}");
        // What could not be undone then is undone by the next one.
        tree.refuse_after(None);
        tree.kill(ME.0);
        drop(CacheWays::hold_in(tree.clone(), (200, 1), "hmi", 2).unwrap());
        assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
    }
    panic!("it was refused each time");
}

#[test]
fn what_is_not_effective_is_refused_and_what_changes_later_is_noticed() {
    let tree = tree();
    tree.forget();
    let error = hold(&tree, "axis", 4).unwrap_err().to_string();
    assert!(error.contains("wrote `L3:0=f;1=f`, read back `L3:0=fff;1=fff`"), "{error}");
    let tree = self::tree();
    let ways = hold(&tree, "axis", 4).unwrap();
    tree.write("schemata", "L3:0=ff8;1=ff8").unwrap();
    let error = ways.check().unwrap_err().to_string();
    assert!(error.contains("read back `L3:0=ff8;1=ff8`"), "{error}");
}

#[test]
fn others_in_the_same_ways_are_told() {
    let tree = tree();
    tree.make("cloud").unwrap();
    let ways = hold(&tree, "axis", 11).unwrap();
    assert_eq!(ways.contention(), ["group `cloud` fills 11 of them", "devices fill 1 of them"]);
}

#[test]
fn too_many_ways_and_no_resctrl_say_what_would_be_right() {
    let tree = tree();
    let _held = hold(&tree, "axis", 6).unwrap();
    assert_eq!(
        hold(&tree, "hmi", 6).unwrap_err().to_string(),
        "6 ways side by side are asked for; of the 12 ways, 6 are reserved already, one stretch \
         must be left to everything else, and a mask has 1 at least"
    );
    let folder = tempfile::tempdir().unwrap();
    let nothing = LiveTree::below(Source::below(folder.path()));
    let error = CacheWays::hold_in(nothing, ME, "axis", 1).unwrap_err().to_string();
    assert!(error.contains("mount -t resctrl"), "{error}");
}

#[test]
fn a_tree_of_files_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("sys/fs/resctrl");
    for (path, text) in [
        ("schemata", "    L3:0=fff"),
        ("info/L3/cbm_mask", "fff\n"),
        ("info/last_cmd_status", "ok\n"),
        ("other/schemata", "L3:0=1"),
        ("../../../proc/7/stat", "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 0"),
    ] {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    }
    let tree = LiveTree::below(Source::below(folder.path()));
    let _lock = tree.lock().unwrap();
    assert_eq!(tree.groups().unwrap(), ["other"]);
    assert_eq!(rules(&tree).unwrap(), Rules { full: 0xFFF, least: 1, devices: 0, sparse: false });
    write_masks(&tree, "other", &Masks::parse("L3:0=3")).unwrap();
    assert_eq!(std::fs::read_to_string(root.join("other/schemata")).unwrap(), "L3:0=3\n");
    tree.make("new").unwrap();
    assert!(tree.write("new/schemata", "L3:0=1").is_err(), "nothing is created");
    tree.remove("new").unwrap();
    assert!(tree.lives(7, 4242) && !tree.lives(7, 4241) && !tree.lives(8, 4242));
}

#[test]
fn this_machine_grants_ways_or_says_why_not() {
    match CacheWays::hold("test", 1) {
        Ok(ways) => {
            ways.add(std::process::id()).unwrap();
            ways.check().unwrap();
        }
        Err(error) => {
            quietcore_skip::record("this_machine_grants_ways_or_says_why_not", &error.to_string());
        }
    }
}

proptest! {
    /// Whatever is held and given back in whatever order, with whoever killed: in the end
    /// everything is where it was.
    #[test]
    fn in_the_end_nothing_is_left(steps in vec((0_u8..4, 0_usize..3, 1_u32..6), 1..30)) {
        let tree = tree();
        let mut held: Vec<CacheWays<FakeTree>> = Vec::new();
        for (number, (what, which, ways)) in steps.into_iter().enumerate() {
            match what {
                0 | 1 => held.extend(hold(&tree, &format!("p{number}"), ways)),
                2 if which < held.len() => drop(held.remove(which)),
                3 => {
                    let owner = (1000 + number as u32, 1);
                    tree.live(owner.0, owner.1);
                    std::mem::forget(CacheWays::hold_in(tree.clone(), owner, "x", ways));
                    tree.kill(owner.0);
                }
                _ => {}
            }
            let taken: Vec<u64> = held.iter().map(CacheWays::mask).collect();
            let all = taken.iter().fold(0, |bits, mask| bits | mask);
            let sum: u32 = taken.iter().map(|mask| mask.count_ones()).sum();
            prop_assert_eq!(all.count_ones(), sum, "ways have one owner");
        }
        drop(held);
        drop(hold(&tree, "last", 1));
        prop_assert_eq!(default_of(&tree), WHOLE);
        prop_assert!(tree.groups().unwrap().is_empty());
    }

    #[test]
    fn names_are_read_as_written(
        process: u32, began: u64, owed: u64, partition in "[a-z0-9-]{1,20}",
    ) {
        let name = Name { owner: (process, began), owed, partition };
        prop_assert_eq!(Name::parse(&name.text()), Some(name));
    }

    #[test]
    fn any_name_is_read_or_not(text in "(quietcore-)?[0-9a-f-]{0,30}\\PC{0,10}") {
        let _ = Name::parse(&text);
    }
}
