//! Tests of the partition: blocks come as asked for, and what can't be done is refused.

use super::*;
use quietcore_process::field::PageKind;
use quietcore_units::Scheduling;

fn job() -> MemoryJob {
    MemoryJob {
        commands: 0,
        answers: 0,
        cpu: None,
        policy: Scheduling::Other,
        field_bytes: 1 << 20,
        stride_bytes: 64,
        pages: PageKind::Small,
        block: Nanos::from_micros(200),
        warm_up_max: Nanos::from_millis(50),
    }
}

/// Returns the answers of a victim to these commands.
fn answers(job: &MemoryJob, commands: &[Command]) -> Result<Vec<Answer>, ServeError> {
    let lines: Vec<String> =
        commands.iter().map(|it| serde_json::to_string(it).unwrap() + "\n").collect();
    let mut answers = Vec::new();
    serve(job, io::Cursor::new(lines.concat()), |answer| {
        answers.push(answer.clone());
        Ok(())
    })?;
    Ok(answers)
}

fn is_refused(answer: &Answer, words: &str) -> bool {
    matches!(answer, Answer::Refused { because } if because.contains(words))
}

/// Goal: blocks come as asked for, each after a way through all of the set.
#[test]
fn blocks_of_both_patterns_are_measured() {
    let mut commands = vec![Command::Cycle { seed: 7 }];
    for bytes in [1 << 10, 100 << 10] {
        commands.push(Command::WorkingSet { bytes });
        commands.extend(AccessPattern::ALL.map(|pattern| Command::Measure { pattern }));
    }
    let answers = answers(&job(), &commands).unwrap();
    assert_eq!(answers.len(), commands.len() + 1, "one is at the begin");
    assert!(matches!(answers[0], Answer::Ready { thread: 1.., .. }), "{:?}", answers[0]);
    for (command, answer) in commands.iter().zip(&answers[1..]) {
        match (command, answer) {
            (Command::Measure { .. }, Answer::Block { accesses, time_ns, warm_up_accesses }) => {
                assert!(*accesses >= SLICE && accesses.is_multiple_of(SLICE));
                assert!(*time_ns >= 200_000, "{time_ns}");
                assert!(*warm_up_accesses >= 16);
            }
            (_, answer) => assert_eq!(*answer, Answer::Done),
        }
    }
    let Answer::Block { warm_up_accesses, .. } = answers[6] else { panic!("{answers:?}") };
    assert!(warm_up_accesses >= (100 << 10) / 64, "every line was read before");
}

#[test]
fn what_it_can_not_do_is_refused_and_it_goes_on() {
    let measure = Command::Measure { pattern: AccessPattern::Random };
    let set = |bytes| Command::WorkingSet { bytes };
    let commands = [measure, set(1000), set(0), set(2 << 20), set(4096), set(1024), measure];
    let answers = answers(&job(), &commands).unwrap();
    for (answer, words) in
        answers[1..].iter().zip(["no working set", "multiple", "multiple", "multiple"])
    {
        assert!(is_refused(answer, words), "{answer:?}");
    }
    assert_eq!(answers[5], Answer::Done);
    assert!(is_refused(&answers[6], "shrinks with a new cycle"));
    assert!(matches!(answers[7], Answer::Block { .. }));
}

#[test]
fn what_is_no_command_or_no_stride_ends_it_with_words() {
    let serve = |job: &MemoryJob, text: &str| {
        let error = serve(job, io::Cursor::new(text.to_owned()), |_| Ok(())).unwrap_err();
        error.to_string()
    };
    assert!(serve(&job(), "{\"dance\":1}\n").contains("this is no command"));
    assert!(serve(&job(), &"x".repeat(1 << 20)).contains("this is no command"));
    let job = MemoryJob { stride_bytes: 24, ..job() };
    assert!(serve(&job, "").contains("24 bytes"));
}

#[test]
fn commands_and_answers_survive_the_way() {
    let command = Command::Measure { pattern: AccessPattern::Sequential };
    let text = serde_json::to_string(&command).unwrap();
    assert_eq!(serde_json::from_str::<Command>(&text).unwrap(), command);
    let degraded = vec![NotInForce::refused(ThreadSetting::WorkingSetLock, "not permitted")];
    let answer = Answer::Ready { thread: 3, degraded, field: None };
    let text = serde_json::to_string(&answer).unwrap();
    assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
}
