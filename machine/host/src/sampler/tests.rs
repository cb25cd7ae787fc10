//! Samples of texts as the kernel writes them, and of texts as nobody should.

use std::fs;

use proptest::prelude::*;

use super::*;

const STAT: &str = "\
cpu  30 2 11 200 5 1 3 9 0 0
cpu0 10 1 5 100 2 1 1 4 0 0
cpu1 20 1 6 100 3 0 2 5 0 0
intr 500 0 9 9
ctxt 700
btime 1
processes 40
softirq 1 2 3
";

#[test]
fn the_columns_of_each_cpu_are_joined_and_summed() {
    let sample = parse(STAT).unwrap();
    let second = sample.cpu(1).unwrap();
    assert_eq!((second.user, second.idle, second.steal), (21, 103, 5));
    assert_eq!(sample.total().all(), 261);
    assert_eq!(sample.total().steal, 9);
    assert_eq!((sample.interrupts, sample.context_switches, sample.forks), (500, 700, 40));
}

#[test]
fn a_difference_holds_what_grew_and_survives_steps_back() {
    let earlier = parse(STAT).unwrap();
    let mut later = parse(STAT).unwrap();
    later.cpus[1].steal += 10;
    later.cpus[1].user += 30;
    later.cpus[0].idle -= 1;
    later.interrupts += 25;
    later.at = Nanos::from_millis(100);
    let grown = Sample::difference(&later, &earlier);
    assert_eq!(grown.at, Nanos::from_millis(100));
    assert_eq!(grown.interrupts, 25);
    assert_eq!(grown.cpu(0).unwrap().all(), 0);
    assert!((grown.cpu(1).unwrap().steal_share() - 0.25).abs() < 1e-12);
    assert!((grown.cpu(1).unwrap().busy_share() - 1.0).abs() < 1e-12);
    assert!(grown.cpu(0).unwrap().steal_share().abs() < 1e-12);
}

#[test]
fn a_cpu_that_was_plugged_in_is_left_out() {
    let later = parse(STAT).unwrap();
    let mut earlier = later.clone();
    earlier.cpus.remove(1);
    assert!(Sample::difference(&later, &earlier).cpu(1).is_none());
}

#[test]
fn texts_of_another_form_are_refused_and_named() {
    for text in ["", "cpu  1 2 3 4\n", "cpu0 1 2 x 4\n", "cpu0 1 2 3\n", "cpu0 1 2 3 4\nctxt\n"] {
        assert!(matches!(parse(text), Err(SampleError::Malformed { .. })), "{text:?}");
    }
}

#[test]
fn a_sampler_reads_again_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    let cpu = "sys/devices/system/cpu/cpu1";
    fs::create_dir_all(at("proc")).unwrap();
    fs::create_dir_all(at(cpu).join("cpufreq")).unwrap();
    fs::create_dir_all(at(cpu).join("thermal_throttle")).unwrap();
    fs::write(at("proc/stat"), STAT).unwrap();
    fs::write(at(cpu).join("cpufreq/scaling_cur_freq"), "2400000\n").unwrap();
    fs::write(at(cpu).join("thermal_throttle/core_throttle_count"), "3\n").unwrap();
    let mut sampler = Sampler::open(&Source::below(folder.path())).unwrap();
    let first = sampler.sample().unwrap();
    assert_eq!(first.frequencies_khz, [(1, 2_400_000)]);
    assert_eq!(first.throttled, 3);
    fs::write(at("proc/stat"), STAT.replace("ctxt 700", "ctxt 750")).unwrap();
    let grown = Sample::difference(&sampler.sample().unwrap(), &first);
    assert_eq!(grown.context_switches, 50);
}

#[test]
fn without_the_file_the_error_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let error = Sampler::open(&Source::below(folder.path())).unwrap_err();
    assert!(error.to_string().starts_with("/proc/stat can't be read"), "{error}");
}

#[test]
fn this_machine_can_be_sampled() {
    let mut sampler = Sampler::open(&Source::live()).unwrap();
    let first = sampler.sample().unwrap();
    let second = sampler.sample().unwrap();
    assert!(second.at >= first.at);
    assert!(first.total().all() > 0);
}

proptest! {
    #[test]
    fn any_text_is_a_sample_or_an_error(text in "(cpu[0-9]{0,3} [0-9 \
        x]{0,40}\n|\\PC{0,30}\n){0,6}") {
        let _ = parse(&text);
    }
}
