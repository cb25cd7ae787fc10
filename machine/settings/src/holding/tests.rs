//! Tests of settings that come and go, on no machine.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;

use super::*;
use crate::fake::FakeSettings;
use crate::group::CpusetKind;
use crate::setting::Form;

fn file(name: &str, form: Form) -> Setting {
    Setting::file(format!("/proc/{name}"), form)
}

fn interrupt(number: u32) -> Setting {
    file(&format!("irq/{number}/smp_affinity_list"), Form::CpuList)
}

fn throttling() -> Setting {
    file("sys/kernel/sched_rt_runtime_us", Form::Text)
}

fn pages() -> Setting {
    file("nr_hugepages", Form::Text)
}

/// Returns the machine's values before anybody changes them.
fn originals() -> Vec<(Setting, String)> {
    let interrupts = (0..6).map(|number| (interrupt(number), "0-3".to_owned()));
    interrupts.chain([(throttling(), "950000".into()), (pages(), "2".into())]).collect()
}

fn without(cpus: &str) -> Want {
    Want::Without { cpus: cpus.parse().unwrap(), of: "0-3".parse().unwrap() }
}

fn asks(setting: Setting, want: Want) -> Request<()> {
    Request { control: (), setting, want }
}

struct Bench {
    settings: FakeSettings,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { settings: FakeSettings::new(originals()), folder: tempfile::tempdir().unwrap() }
    }

    /// The controls as a process sees them.
    fn of(&self, process: u32) -> Controls<FakeSettings> {
        Controls::new(
            self.settings.seen_by(process),
            Store::new(self.folder.path().join("journal")),
        )
    }

    fn value(&self, setting: &Setting) -> String {
        self.settings.values()[setting].clone()
    }

    fn is_as_before(&self) -> bool {
        self.settings.values() == originals().into_iter().collect::<BTreeMap<_, _>>()
    }

    fn journal_is_gone(&self) -> bool {
        !Store::new(self.folder.path().join("journal")).exists()
    }
}

fn effects(outcomes: &[Outcome<()>]) -> Vec<Effect> {
    outcomes.iter().map(|outcome| outcome.effect.clone()).collect()
}

#[test]
fn settings_are_given_read_back_and_put_back() {
    let bench = Bench::new();
    let requests = vec![
        asks(interrupt(0), without("1")),
        asks(throttling(), Want::Exactly("-1".into())),
        asks(pages(), Want::More(8)),
        asks(interrupt(1), without("7")),
        asks(interrupt(9), without("1")),
    ];
    let (held, outcomes) = bench.of(2).hold("press", requests).unwrap();
    let effective = Effect::Effective;
    assert_eq!(
        effects(&outcomes),
        [effective.clone(), effective.clone(), effective, Effect::Unchanged, Effect::Gone]
    );
    assert_eq!((outcomes[0].before.as_str(), outcomes[0].wanted.as_str()), ("0-3", "0,2,3"));
    assert_eq!(bench.value(&interrupt(0)), "0,2,3");
    assert_eq!(bench.value(&pages()), "10");
    assert_eq!(held.check().unwrap(), []);
    assert_eq!(held.release().unwrap(), []);
    assert!(bench.is_as_before());
    assert!(bench.journal_is_gone());
}

#[test]
fn what_the_kernel_refuses_or_ignores_is_told_and_the_rest_holds() {
    let bench = Bench::new();
    bench.settings.refuse(&interrupt(0), true);
    bench.settings.ignore(&interrupt(1));
    let requests = (0..3).map(|number| asks(interrupt(number), without("1"))).collect();
    let (held, outcomes) = bench.of(2).hold("press", requests).unwrap();
    let refused = Effect::Refused(Refusal::Machine { error: "permission denied".into() });
    assert_eq!(effects(&outcomes), [refused, Effect::Ignored("0-3".into()), Effect::Effective]);
    assert_eq!(held.check().unwrap(), []);
    drop(held);
    assert!(bench.is_as_before());
}

/// The kernel moves an interrupt when it comes next, and shows the CPUs before until that is done.
#[test]
fn an_interrupt_that_shows_the_cpus_before_for_a_moment_is_changed_and_put_back() {
    for readings in [1, 5] {
        let bench = Bench::new();
        bench.settings.lag(&interrupt(0), readings);
        let requests = vec![asks(interrupt(0), without("1"))];
        let (held, outcomes) = bench.of(2).hold("press", requests).unwrap();
        assert_eq!(effects(&outcomes), [Effect::Effective]);
        assert_eq!(held.release().unwrap(), []);
        assert!(bench.is_as_before());
    }
}

/// A process is killed before it read back what it wrote, and the next one is shown the original.
#[test]
fn an_interrupt_that_still_shows_the_original_is_put_back_all_the_same() {
    let bench = Bench::new();
    bench.settings.lag(&interrupt(0), 1);
    bench.settings.kill_after(Some(2));
    let hold = || bench.of(2).hold("press", vec![asks(interrupt(0), without("1"))]).map(drop);
    assert!(catch_unwind(AssertUnwindSafe(hold)).is_err(), "it is killed");
    assert_eq!(bench.value(&interrupt(0)), "0,2,3");
    assert_eq!(bench.of(3).recover().unwrap().left, []);
    assert!(bench.is_as_before());
}

/// A machine that stands still shows the CPUs before for longer than they are looked at.
#[test]
fn an_interrupt_that_would_move_after_the_last_look_stays_where_it_was() {
    let bench = Bench::new();
    bench.settings.lag(&interrupt(0), 1_000);
    let requests = vec![asks(interrupt(0), without("1"))];
    let (held, outcomes) = bench.of(2).hold("press", requests).unwrap();
    assert_eq!(effects(&outcomes), [Effect::Ignored("0-3".into())]);
    assert!(bench.is_as_before());
    assert_eq!(held.release().unwrap(), []);
    assert!(bench.journal_is_gone());
}

/// A process is killed before it has tried to move an interrupt that the kernel does not let move.
#[test]
fn an_interrupt_that_never_moves_needs_not_be_put_back() {
    let bench = Bench::new();
    bench.settings.refuse(&interrupt(0), true);
    bench.settings.kill_after(Some(1));
    let hold = || bench.of(2).hold("press", vec![asks(interrupt(0), without("1"))]).map(drop);
    assert!(catch_unwind(AssertUnwindSafe(hold)).is_err(), "it is killed");
    assert_eq!(bench.of(3).recover().unwrap().left, []);
    assert!(bench.is_as_before());
}

#[test]
fn sites_come_and_go_in_any_order() {
    let bench = Bench::new();
    let hold = |process, name: &str, cpus: &str| {
        bench.of(process).hold(name, vec![asks(interrupt(0), without(cpus))]).unwrap().0
    };
    let first = hold(2, "first", "1");
    let second = hold(3, "second", "3");
    assert_eq!(bench.value(&interrupt(0)), "0,2");
    assert_eq!(first.release().unwrap(), []);
    assert_eq!(bench.value(&interrupt(0)), "0-2");
    assert_eq!(second.check().unwrap(), []);
    let error = bench.of(4).hold("second", vec![asks(pages(), Want::More(1))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "site `second` holds settings of this machine already, by process 3"
    );
    let (other, outcomes) =
        bench.of(4).hold("other", vec![asks(interrupt(0), without("0-2"))]).unwrap();
    assert_eq!(effects(&outcomes), [Effect::Refused(Refusal::NoCpu)]);
    drop((other, second));
    assert!(bench.is_as_before());
}

#[test]
fn what_drifts_is_told_and_what_others_set_is_left() {
    let bench = Bench::new();
    let requests = (0..2).map(|number| asks(interrupt(number), without("1"))).collect();
    let (held, _) = bench.of(2).hold("press", requests).unwrap();
    bench.settings.put(&interrupt(0), Some("2"));
    let drifts = held.check().unwrap();
    let (given, found) = ("0,2,3".into(), "2".into());
    let drift = MachineDrift::OtherValue { setting: (&interrupt(0)).into(), given, found };
    assert_eq!(drifts, [drift]);
    let left = held.release().unwrap();
    let foreign =
        Left::Foreign { setting: interrupt(0), found: "2".into(), original: "0-3".into() };
    assert_eq!(left, [foreign]);
    assert_eq!(bench.value(&interrupt(0)), "2");
    assert_eq!(bench.value(&interrupt(1)), "0-3");
    assert!(bench.journal_is_gone());
}

/// Goal: interrupts that a driver has placed anew, or has asked for since, are kept off again, and
/// all of them are what they were at the end.
#[test]
fn what_has_drifted_or_come_since_is_given_again() {
    let bench = Bench::new();
    bench.settings.put(&interrupt(5), None);
    let requests = || (0..6).map(|number| asks(interrupt(number), without("1"))).collect();
    let (held, _) = bench.of(2).hold("press", requests()).unwrap();
    assert_eq!(held.renew::<()>(requests()).unwrap(), [], "nothing has changed");
    bench.settings.put(&interrupt(2), Some("1"));
    bench.settings.put(&interrupt(5), Some("0-3"));
    let done = held.renew(requests()).unwrap();
    let told: Vec<_> = done.iter().map(|it| (&it.setting, &*it.before, &*it.wanted)).collect();
    assert_eq!(told, [(&interrupt(2), "1", "0,2,3"), (&interrupt(5), "0-3", "0,2,3")]);
    assert_eq!(held.check().unwrap(), []);
    assert_eq!(held.release().unwrap(), []);
    assert!(bench.is_as_before());
    assert!(bench.journal_is_gone());
}

/// Goal: what is nobody else's goes, whatever became of it meanwhile.
#[test]
fn groups_of_our_own_go_though_the_kernel_changed_them() {
    let bench = Bench::new();
    let path = "/cs/quietcore-others".to_owned();
    let own = Setting::Cpuset { path: path.clone(), kind: CpusetKind::Entered };
    let programs = Setting::Programs { path };
    bench.settings.put(&own, Some(""));
    bench.settings.put(&programs, Some("everywhere"));
    let requests = vec![
        asks(own.clone(), Want::Exactly("1".into())),
        asks(programs.clone(), Want::Exactly("apart".into())),
    ];
    let (held, _) = bench.of(2).hold("press", requests).unwrap();
    bench.settings.put(&own, Some("no CPUs"));
    bench.settings.put(&programs, Some("apart, less 3"));
    assert_eq!(held.check().unwrap().len(), 2);
    assert_eq!(held.release().unwrap(), []);
    assert_eq!((bench.value(&own), bench.value(&programs)), ("".into(), "everywhere".into()));
    assert!(bench.journal_is_gone());
}

#[test]
fn what_can_not_be_put_back_is_owed_until_it_can() {
    let bench = Bench::new();
    let (held, _) = bench.of(2).hold("press", vec![asks(pages(), Want::More(8))]).unwrap();
    bench.settings.refuse(&pages(), true);
    let owed = Left::Refused {
        setting: pages(),
        original: "2".into(),
        reason: "permission denied".into(),
    };
    assert_eq!(held.release().unwrap(), std::slice::from_ref(&owed));
    assert_eq!(bench.of(3).recover().unwrap().left, [owed]);
    bench.settings.refuse(&pages(), false);
    assert_eq!(bench.of(4).recover().unwrap().left, []);
    assert!(bench.is_as_before());
    assert!(bench.journal_is_gone());
}

#[test]
fn after_a_reboot_the_journal_says_nothing() {
    let bench = Bench::new();
    let (held, _) = bench.of(2).hold("press", vec![asks(pages(), Want::More(8))]).unwrap();
    std::mem::forget(held);
    let fresh = vec![(pages(), "5".to_owned())];
    bench.settings.reboot(fresh.clone());
    assert_eq!(bench.of(3).recover().unwrap().left, []);
    assert_eq!(bench.settings.values(), fresh.into_iter().collect());
    assert!(bench.journal_is_gone());
}

/// Settings that others keep on disk are still changed after a reboot, and are put back.
#[test]
fn what_outlives_a_reboot_is_owed_after_it() {
    let bench = Bench::new();
    let policing = Setting::Policing { interface: "right".to_owned() };
    let none = (policing.clone(), "rate 0 burst 0".to_owned());
    bench.settings.reboot([none.clone(), (pages(), "2".to_owned())]);
    let limit = Want::Exactly("rate 1000 burst 100".to_owned());
    let asked = vec![asks(policing.clone(), limit), asks(pages(), Want::More(8))];
    let (held, _) = bench.of(2).hold("press", asked).unwrap();
    std::mem::forget(held);
    let still = (policing.clone(), bench.value(&policing));
    assert_eq!(still.1, "rate 1000 burst 100");
    bench.settings.reboot([still, (pages(), "5".to_owned())]);
    assert_eq!(bench.of(3).recover().unwrap(), Recovery::default());
    assert_eq!(bench.settings.values(), [none, (pages(), "5".to_owned())].into());
    assert!(bench.journal_is_gone());
}

#[test]
fn a_damaged_journal_is_refused_and_nothing_is_changed() {
    let bench = Bench::new();
    let folder = bench.folder.path().join("journal");
    std::fs::create_dir(&folder).unwrap();
    let long = vec![b' '; (16 << 20) + 1];
    let cases: [(&[u8], &str); 3] = [
        (b"{", "EOF while parsing"),
        (
            br#"{"schema":"quietcore.journal/9","boot":"1","holders":[],"entries":[]}"#,
            "its schema is `quietcore.journal/9`",
        ),
        (&long, "it has more than 16777216 bytes"),
    ];
    for (text, why) in cases {
        std::fs::write(folder.join("journal.json"), text).unwrap();
        let error = bench.of(2).hold("press", vec![asks(pages(), Want::More(8))]).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(bench.is_as_before());
    }
}

/// Draws the settings that a site of a random plan asks for.
fn plan() -> impl Strategy<Value = Vec<(usize, u32)>> {
    prop::collection::vec((0..8_usize, 1..4_u32), 1..12)
}

fn requests(plan: &[(usize, u32)]) -> Vec<Request<()>> {
    let settings = originals();
    let request = |(place, number): &(usize, u32)| {
        let setting = settings[*place].0.clone();
        let want = match place {
            0..6 => without(&number.to_string()),
            6 => Want::Exactly("-1".into()),
            _ => Want::More(u64::from(*number)),
        };
        asks(setting, want)
    };
    plan.iter().map(request).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Goal: whatever is planned, in whatever order sites come, go and are killed, the machine is
    /// in the end what it was. Method: a hundred random plans of three sites, each of which is
    /// killed after a random number of reads and writes; the kernel refuses one setting and ignores
    /// another.
    #[test]
    fn a_machine_is_what_it_was_after_any_plan(
        plans in prop::collection::vec((plan(), prop::option::of(0..60_usize), any::<bool>()), 3),
        odd in prop::option::of((0..8_usize, 0..8_usize)),
    ) {
        let bench = Bench::new();
        if let Some((refused, ignored)) = odd {
            bench.settings.refuse(&originals()[refused].0, true);
            bench.settings.ignore(&originals()[ignored].0);
        }
        let mut living = Vec::new();
        for (process, (plan, killed, leaves)) in (2..).zip(&plans) {
            bench.settings.kill_after(*killed);
            let controls = bench.of(process);
            let run = AssertUnwindSafe(|| {
                let (held, _) = controls.hold(&format!("site-{process}"), requests(plan)).unwrap();
                if *leaves {
                    held.release().map(|_| None)
                } else {
                    Ok(Some(held))
                }
            });
            // A process that was killed is gone, and so is what it held.
            if let Ok(outcome) = catch_unwind(run) {
                living.extend(outcome.unwrap());
            }
        }
        bench.settings.kill_after(None);
        drop(living);
        for setting in originals() {
            bench.settings.refuse(&setting.0, false);
        }
        prop_assert_eq!(bench.of(9).recover().unwrap().left, []);
        prop_assert!(bench.is_as_before(), "{:?}", bench.settings.values());
        prop_assert!(bench.journal_is_gone());
    }
}
