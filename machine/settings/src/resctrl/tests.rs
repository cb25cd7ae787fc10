//! Ways are held, given back, and never lost, whatever ends whoever held them.

use proptest::collection::vec;
use proptest::prelude::*;
use quietcore_units::Causes;

use super::*;

const ME: (u32, u64) = (100, 5000);
const OTHER: (u32, u64) = (200, 1);

fn tree() -> FakeTree {
    let tree = FakeTree::new();
    tree.live(ME.0, ME.1);
    tree
}

fn hold(tree: &FakeTree, partition: &str, ways: u32) -> Result<HeldShare<FakeTree>, ResctrlError> {
    HeldShare::hold_in(tree.clone(), ME, partition, MemoryShare::of_ways(ways))
}

fn limited(tree: &FakeTree, percent: u32) -> Result<HeldShare<FakeTree>, ResctrlError> {
    let share = MemoryShare { ways: None, bandwidth: Some(percent) };
    HeldShare::hold_in(tree.clone(), ME, "hmi", share)
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
    let ways = HeldShare::hold_in(tree.clone(), (200, 1), "hmi", MemoryShare::of_ways(2)).unwrap();
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
    assert_eq!(tree.masks("quietcore-100-5000-7-a").unwrap(), default_of(&tree), "given up");
    drop(second);
    assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
}

#[test]
fn a_share_that_was_given_up_leaves_no_limit_to_who_takes_it_up() {
    let tree = tree();
    let share = MemoryShare { ways: Some(3), bandwidth: Some(40) };
    let first = HeldShare::hold_in(tree.clone(), ME, "a", share).unwrap();
    let _second = hold(&tree, "b", 3).unwrap();
    drop(first);
    let again = hold(&tree, "a", 3).unwrap();
    again.check().unwrap();
    let group = "quietcore-100-5000-7-a";
    assert_eq!(tree.masks(group).unwrap(), "L3:0=7;1=7\n");
    assert_eq!(tree.limits(group).unwrap(), "MB:0=100;1=100\n");
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
        drop(HeldShare::hold_in(tree.clone(), (200, 1), "hmi", MemoryShare::of_ways(2)).unwrap());
        assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
    }
    panic!("it was refused each time");
}

/// Goal: partitions that restart, one after the other, find their ways again.
#[test]
fn ways_that_are_kept_for_later_are_had_again() {
    let tree = tree();
    let mut a = hold(&tree, "a", 3).unwrap();
    let mut b = hold(&tree, "b", 3).unwrap();
    for _ in 0..3 {
        drop(a);
        a = hold(&tree, "a", 3).unwrap();
        drop(b);
        b = hold(&tree, "b", 3).unwrap();
        assert_eq!((a.mask() | b.mask(), tree.groups().unwrap().len()), (0x3F, 2));
        a.check().unwrap();
        b.check().unwrap();
    }
    drop((a, b));
    assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
}

/// Goal: whichever change is refused, when ways are taken or given back, in the end everything has
/// what it had.
/// Method: a partition with a limit, and one with ways between those of others; the first change is
/// refused, then the second, and so on. What is left then is given back by the next one.
#[test]
fn one_refused_change_costs_nobody_anything_for_long() {
    for after in 0..30 {
        let tree = tree();
        let hmi = limited(&tree, 50).unwrap();
        let (a, b) = (hold(&tree, "a", 3).unwrap(), hold(&tree, "b", 3).unwrap());
        tree.refuse_one(after);
        drop(a);
        let again = hold(&tree, "a", 3);
        drop(b);
        drop(again);
        tree.refuse_after(None);
        drop(hmi);
        tree.kill(ME.0);
        assert_eq!(recover_in(&tree).left, Vec::<String>::new(), "{after}");
        assert_eq!(default_of(&tree), WHOLE, "{after}");
        assert_eq!(tree.groups().unwrap(), Vec::<String>::new(), "{after}");
    }
}

/// Goal: ways that somebody has again are not given back a second time, by a group that could not
/// be removed when they were.
#[test]
fn ways_that_were_taken_up_are_not_given_back_by_who_had_them_before() {
    for after in 0..8 {
        let tree = tree();
        tree.live(200, 1);
        let (a, b) = (hold(&tree, "a", 3).unwrap(), hold(&tree, "b", 3).unwrap());
        drop(a);
        tree.refuse_one(after);
        let share = MemoryShare::of_ways(3);
        let Ok(c) = HeldShare::hold_in(tree.clone(), (200, 1), "c", share) else { continue };
        drop(b);
        drop(limited(&tree, 50));
        c.check().unwrap_or_else(|error| panic!("{after}: {error}"));
        tree.refuse_after(None);
        drop(c);
        tree.kill(ME.0);
        assert_eq!(recover_in(&tree).left, Vec::<String>::new());
        assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
    }
}

#[test]
fn a_share_that_could_not_be_given_back_does_not_stand_in_its_own_way() {
    let tree = tree();
    let first = limited(&tree, 50).unwrap();
    tree.refuse_after(Some(0));
    drop(first);
    assert_eq!(tree.groups().unwrap().len(), 1, "it can't be removed");
    assert_eq!(recover_in(&tree), Swept::default(), "its process lives");
    tree.refuse_after(None);
    let second = limited(&tree, 50).unwrap();
    second.check().unwrap();
    assert_eq!(tree.groups().unwrap().len(), 1);
}

#[test]
fn a_group_that_comes_to_reserved_ways_is_noticed() {
    let tree = tree();
    let ways = hold(&tree, "axis", 4).unwrap();
    tree.make("cloud").unwrap();
    let error = ways.check().unwrap_err().to_string();
    let why = "group `cloud` has come since, and may fill 4 of the partition's ways";
    assert_eq!(error, why);
}

#[test]
fn what_nobody_can_give_back_is_said() {
    let tree = tree();
    std::mem::forget(hold(&tree, "axis", 4).unwrap());
    tree.kill(ME.0);
    tree.refuse_after(Some(0));
    let swept = recover_in(&tree);
    assert_eq!((swept.gone, swept.left.len()), (0, 1));
    assert!(swept.left[0].contains("quietcore-100-5000-f-axis"), "{swept:?}");
    tree.refuse_after(None);
    assert_eq!(recover_in(&tree), Swept { gone: 1, left: Vec::new() });
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
fn ways_are_those_of_code_and_of_data() {
    let tree = FakeTree::of_code_and_data();
    tree.live(ME.0, ME.1);
    let ways = hold(&tree, "axis", 4).unwrap();
    assert_eq!(tree.masks("quietcore-100-5000-f-axis").unwrap(), "L3CODE:0=f\nL3DATA:0=f\n");
    assert_eq!(default_of(&tree), "L3CODE:0=ff0\nL3DATA:0=ff0\n");
    ways.check().unwrap();
    drop(ways);
    assert_eq!(default_of(&tree), "L3CODE:0=fff\nL3DATA:0=fff\n");
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
    let error = HeldShare::hold_in(nothing, ME, "axis", MemoryShare::of_ways(1)).unwrap_err();
    let error = Causes(&error).to_string();
    assert!(error.contains("mount -t resctrl"), "{error}");
    assert_eq!(error.matches("No such file").count(), 1, "{error}");
}

/// A limit alone takes no ways from anybody: its group has those of the default one, and follows.
#[test]
fn a_limited_partition_shares_the_ways_that_nobody_reserved() {
    let tree = tree();
    let hmi = limited(&tree, 35).unwrap();
    let group = "quietcore-100-5000-s-hmi";
    assert_eq!(tree.limits(group).unwrap(), "MB:0=40;1=40\n", "in steps of 10 %");
    assert_eq!(tree.masks(group).unwrap(), WHOLE);
    assert_eq!(tree.limits("").unwrap(), "MB:0=100;1=100\n");
    let axis = hold(&tree, "axis", 4).unwrap();
    assert_eq!(tree.masks(group).unwrap(), "L3:0=ff0;1=ff0\n");
    hmi.check().unwrap();
    axis.check().unwrap();
    let words = hmi.to_string();
    let siblings = "the limit slows down siblings of its CPUs, where there are any, too";
    assert_eq!(words, format!("40 % of the memory's bandwidth; {siblings}"));
    assert_eq!(axis.to_string(), "4 ways of the last-level cache (mask f)");
    drop(axis);
    assert_eq!(tree.masks(group).unwrap(), WHOLE);
    tree.write(&format!("{group}/schemata"), "MB:0=100;1=40").unwrap();
    let error = hmi.check().unwrap_err().to_string();
    assert!(error.contains("wrote `MB:0=40;1=40`, read back `MB:0=100;1=40`"), "{error}");
    drop(hmi);
    assert_eq!(tree.groups().unwrap().len(), 0);
}

#[test]
fn ways_and_a_limit_are_one_group() {
    let tree = tree();
    let share = MemoryShare { ways: Some(2), bandwidth: Some(100) };
    let held = HeldShare::hold_in(tree.clone(), ME, "axis", share).unwrap();
    assert_eq!(tree.groups().unwrap(), ["quietcore-100-5000-3-axis"]);
    assert_eq!(tree.masks("quietcore-100-5000-3-axis").unwrap(), "L3:0=3;1=3\n");
    held.check().unwrap();
    drop(held);
    assert_eq!((default_of(&tree).as_str(), tree.groups().unwrap().len()), (WHOLE, 0));
}

#[test]
fn limits_that_can_not_be_had_say_why() {
    let error = |tree: &FakeTree, percent| limited(tree, percent).unwrap_err().to_string();
    assert_eq!(
        error(&tree(), 9),
        "9 % of the memory's bandwidth is less than this machine's least limit, 10 %"
    );
    let absolute = FakeTree::of_absolute_bandwidth();
    assert!(error(&absolute, 40).contains("a group without limit has 2048"));
    assert_eq!(absolute.groups().unwrap().len(), 0, "the group is gone again");
    // Without cache allocation there are limits all the same.
    let bandwidth = FakeTree::of_bandwidth();
    bandwidth.live(ME.0, ME.1);
    let held = limited(&bandwidth, 50).unwrap();
    held.check().unwrap();
    let ways =
        HeldShare::hold_in(bandwidth.clone(), ME, "axis", MemoryShare::of_ways(1)).unwrap_err();
    assert_eq!(ways.to_string(), "resctrl does not divide the last-level cache of this machine");
    drop(held);
    assert_eq!(bandwidth.groups().unwrap().len(), 0);
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
    assert_eq!(rules(&tree), Rules { full: 0xFFF, least: 1, devices: 0, sparse: false });
    write_masks(&tree, "other", &Masks::parse("L3:0=3")).unwrap();
    assert_eq!(std::fs::read_to_string(root.join("other/schemata")).unwrap(), "L3:0=3\n");
    tree.make("new").unwrap();
    assert!(tree.write("new/schemata", "L3:0=1").is_err(), "nothing is created");
    tree.remove("new").unwrap();
    assert!(tree.lives(7, 4242) && !tree.lives(7, 4241) && !tree.lives(8, 4242));
}

#[test]
fn this_machine_grants_ways_or_says_why_not() {
    match HeldShare::hold("test", MemoryShare::of_ways(1)) {
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
    /// Whatever is held and given back in whatever order, with whoever killed and whatever change
    /// refused: what is held holds, and in the end everything is where it was.
    #[test]
    fn in_the_end_nothing_is_left(steps in vec((0_u8..6, 0_usize..3, 1_u32..6), 1..30)) {
        let tree = tree();
        tree.live(OTHER.0, OTHER.1);
        let mut held: Vec<HeldShare<FakeTree>> = Vec::new();
        for (number, (what, which, ways)) in steps.into_iter().enumerate() {
            match what {
                0 | 1 => {
                    let (owner, share) = ([ME, OTHER][what as usize], MemoryShare::of_ways(ways));
                    let name = format!("p{number}");
                    held.extend(HeldShare::hold_in(tree.clone(), owner, &name, share));
                }
                2 if which < held.len() => drop(held.remove(which)),
                3 => {
                    let owner = (1000 + number as u32, 1);
                    tree.live(owner.0, owner.1);
                    let share = MemoryShare::of_ways(ways);
                    std::mem::forget(HeldShare::hold_in(tree.clone(), owner, "x", share));
                    tree.kill(owner.0);
                }
                4 => {
                    let share = MemoryShare { ways: None, bandwidth: Some(10 * ways) };
                    let name = format!("p{number}");
                    held.extend(HeldShare::hold_in(tree.clone(), ME, &name, share));
                }
                5 => tree.refuse_one(ways as usize),
                _ => {}
            }
            prop_assert!(held.iter().all(|share| share.check().is_ok()));
            let taken: Vec<u64> = held.iter().map(HeldShare::mask).collect();
            let all = taken.iter().fold(0, |bits, mask| bits | mask);
            let sum: u32 = taken.iter().map(|mask| mask.count_ones()).sum();
            prop_assert_eq!(all.count_ones(), sum, "ways have one owner");
        }
        tree.refuse_after(None);
        drop(held);
        tree.kill(ME.0);
        tree.kill(OTHER.0);
        prop_assert_eq!(recover_in(&tree).left, Vec::<String>::new());
        prop_assert_eq!(default_of(&tree), WHOLE);
        prop_assert!(tree.groups().unwrap().is_empty());
    }
}
