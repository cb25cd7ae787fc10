//! Services of counters, alarms and schedule tables.

use super::tasks::is;
use super::*;

pub(super) fn lines() -> Vec<Line> {
    let mut lines = alarms();
    lines.extend(settings());
    lines.extend(counters());
    lines.extend(table_starts());
    lines.extend(table_ends());
    lines.extend(table_states());
    lines
}

fn set() -> Answer {
    SYSTEM.set_relative_alarm(ALARM, 3, 0)
}

fn advance(ticks: u32) -> Answer {
    (0..ticks).try_for_each(|_| SYSTEM.increment_counter(COUNTER))
}

/// Advances the counter where a case looks at what came of it.
fn pass(ticks: u32) -> Result<(), &'static str> {
    must(advance(ticks).is_ok(), "the counter could not be advanced")
}

fn alarms() -> Vec<Line> {
    use Service::{CancelAlarm, GetAlarm, GetAlarmBase};
    vec![
        line(GetAlarmBase, "it_tells_of_the_counter", None, LOOKING, || {
            let base = SYSTEM.alarm_base(ALARM)?;
            is(base.max_allowed == MAX_ALLOWED
                && base.min_cycle == MIN_CYCLE
                && base.ticks_per_base == 7)
        }),
        line(GetAlarmBase, "there_is_no_such_alarm", Status::Id, LOOKING, || {
            SYSTEM.alarm_base(NOTHING).map(drop)
        }),
        line(GetAlarm, "the_ticks_until_it_expires", None, LOOKING, || {
            is(SYSTEM.remaining_ticks(ALARM)? == 2)
        })
        .after(|| {
            set()?;
            advance(1)
        }),
        line(GetAlarm, "it_is_not_set", Status::NoFunction, LOOKING, || {
            SYSTEM.remaining_ticks(ALARM).map(drop)
        }),
        line(GetAlarm, "there_is_no_such_alarm", Status::Id, LOOKING, || {
            SYSTEM.remaining_ticks(NOTHING).map(drop)
        }),
        line(CancelAlarm, "it_never_expires_then", None, TASK_ISR, || SYSTEM.cancel_alarm(ALARM))
            .after(set)
            .then(|| {
                pass(4)?;
                must(state_is(LOWER, TaskState::Suspended), "it expired nevertheless")
            }),
        line(CancelAlarm, "it_is_not_set", Status::NoFunction, TASK_ISR, || {
            SYSTEM.cancel_alarm(ALARM)
        }),
        line(CancelAlarm, "there_is_no_such_alarm", Status::Id, TASK_ISR, || {
            SYSTEM.cancel_alarm(NOTHING)
        }),
    ]
}

fn expires_with_the_third_tick() -> Result<(), &'static str> {
    pass(2)?;
    must(state_is(LOWER, TaskState::Suspended), "it expired too early")?;
    pass(1)?;
    must(state_is(LOWER, TaskState::Ready), "it did not expire")
}

fn settings() -> Vec<Line> {
    use Service::{SetAbsAlarm, SetRelAlarm};
    vec![
        line(SetRelAlarm, "it_expires_then", None, TASK_ISR, || {
            SYSTEM.set_relative_alarm(ALARM, 3, 0)
        })
        .then(expires_with_the_third_tick),
        line(SetRelAlarm, "it_is_set_already", Status::State, TASK_ISR, || {
            SYSTEM.set_relative_alarm(ALARM, 3, 0)
        })
        .after(set),
        line(SetRelAlarm, "there_is_no_such_alarm", Status::Id, TASK_ISR, || {
            SYSTEM.set_relative_alarm(NOTHING, 3, 0)
        }),
        line(SetRelAlarm, "no_tick_from_now", Status::Value, TASK_ISR, || {
            SYSTEM.set_relative_alarm(ALARM, 0, 0)
        })
        .extended_status(),
        line(SetRelAlarm, "beyond_the_counter", Status::Value, TASK_ISR, || {
            SYSTEM.set_relative_alarm(ALARM, MAX_ALLOWED + 1, 0)
        })
        .extended_status(),
        line(SetRelAlarm, "a_cycle_below_the_shortest", Status::Value, TASK_ISR, || {
            SYSTEM.set_relative_alarm(ALARM, 3, MIN_CYCLE - 1)
        })
        .extended_status(),
        line(SetRelAlarm, "a_cycle_beyond_the_counter", Status::Value, TASK_ISR, || {
            SYSTEM.set_relative_alarm(ALARM, 3, MAX_ALLOWED + 1)
        })
        .extended_status(),
        line(SetAbsAlarm, "it_expires_then", None, TASK_ISR, || {
            SYSTEM.set_absolute_alarm(ALARM, 3, 0)
        })
        .then(expires_with_the_third_tick),
        line(SetAbsAlarm, "the_counter_is_there_already", None, TASK_ISR, || {
            SYSTEM.set_absolute_alarm(ALARM, 0, 0)?;
            is(SYSTEM.remaining_ticks(ALARM)? == MAX_ALLOWED + 1)
        }),
        line(SetAbsAlarm, "it_is_set_already", Status::State, TASK_ISR, || {
            SYSTEM.set_absolute_alarm(ALARM, 3, 0)
        })
        .after(set),
        line(SetAbsAlarm, "there_is_no_such_alarm", Status::Id, TASK_ISR, || {
            SYSTEM.set_absolute_alarm(NOTHING, 3, 0)
        }),
        line(SetAbsAlarm, "beyond_the_counter", Status::Value, TASK_ISR, || {
            SYSTEM.set_absolute_alarm(ALARM, MAX_ALLOWED + 1, 0)
        })
        .extended_status(),
        line(SetAbsAlarm, "a_cycle_below_the_shortest", Status::Value, TASK_ISR, || {
            SYSTEM.set_absolute_alarm(ALARM, 3, MIN_CYCLE - 1)
        })
        .extended_status(),
        line(SetAbsAlarm, "a_cycle_beyond_the_counter", Status::Value, TASK_ISR, || {
            SYSTEM.set_absolute_alarm(ALARM, 3, MAX_ALLOWED + 1)
        })
        .extended_status(),
    ]
}

fn counters() -> Vec<Line> {
    use Service::{GetCounterValue, IncrementCounter};
    vec![
        line(GetCounterValue, "it_begins_anew_after_the_largest", None, TASK_ISR, || {
            is(SYSTEM.counter_value(COUNTER)? == 1)
        })
        .after(|| advance(MAX_ALLOWED + 2)),
        line(GetCounterValue, "there_is_no_such_counter", Status::Id, TASK_ISR, || {
            SYSTEM.counter_value(NOTHING).map(drop)
        }),
        line(IncrementCounter, "by_one_tick", None, TASK_ISR, || {
            SYSTEM.increment_counter(COUNTER)?;
            is(SYSTEM.counter_value(COUNTER)? == 1)
        }),
        line(IncrementCounter, "it_is_driven_by_the_machine", Status::Id, TASK_ISR, || {
            SYSTEM.increment_counter(HARDWARE_COUNTER)
        }),
        line(IncrementCounter, "there_is_no_such_counter", Status::Id, TASK_ISR, || {
            SYSTEM.increment_counter(NOTHING)
        }),
    ]
}

fn start() -> Answer {
    SYSTEM.start_table_relative(TABLE, 1)
}

fn table_starts() -> Vec<Line> {
    use Service::{StartScheduleTableAbs, StartScheduleTableRel};
    vec![
        line(StartScheduleTableRel, "its_point_is_reached_then", None, TASK_ISR, || {
            SYSTEM.start_table_relative(TABLE, 1)
        })
        .then(expires_with_the_third_tick),
        line(StartScheduleTableRel, "it_is_started", Status::State, TASK_ISR, || {
            SYSTEM.start_table_relative(TABLE, 1)
        })
        .after(start),
        line(StartScheduleTableRel, "no_tick_from_now", Status::Value, TASK_ISR, || {
            SYSTEM.start_table_relative(TABLE, 0)
        })
        .extended_status(),
        line(StartScheduleTableRel, "there_is_no_such_table", Status::Id, TASK_ISR, || {
            SYSTEM.start_table_relative(NOTHING, 1)
        }),
        line(StartScheduleTableAbs, "its_point_is_reached_then", None, TASK_ISR, || {
            SYSTEM.start_table_absolute(TABLE, 1)
        })
        .then(expires_with_the_third_tick),
        line(StartScheduleTableAbs, "it_is_started", Status::State, TASK_ISR, || {
            SYSTEM.start_table_absolute(TABLE, 1)
        })
        .after(start),
        line(StartScheduleTableAbs, "beyond_the_counter", Status::Value, TASK_ISR, || {
            SYSTEM.start_table_absolute(TABLE, MAX_ALLOWED + 1)
        })
        .extended_status(),
        line(StartScheduleTableAbs, "there_is_no_such_table", Status::Id, TASK_ISR, || {
            SYSTEM.start_table_absolute(NOTHING, 1)
        }),
    ]
}

fn table_ends() -> Vec<Line> {
    use Service::{NextScheduleTable, StopScheduleTable};
    vec![
        line(StopScheduleTable, "its_point_is_never_reached_then", None, TASK_ISR, || {
            SYSTEM.stop_table(TABLE)
        })
        .after(start)
        .then(|| {
            pass(4)?;
            must(state_is(LOWER, TaskState::Suspended), "its point was reached")
        }),
        line(StopScheduleTable, "it_is_not_started", Status::NoFunction, TASK_ISR, || {
            SYSTEM.stop_table(TABLE)
        }),
        line(StopScheduleTable, "there_is_no_such_table", Status::Id, TASK_ISR, || {
            SYSTEM.stop_table(NOTHING)
        }),
        line(NextScheduleTable, "it_starts_when_the_other_is_over", None, TASK_ISR, || {
            SYSTEM.next_table(TABLE, OTHER_TABLE)
        })
        .after(start)
        .then(|| {
            must(SYSTEM.table_status(OTHER_TABLE) == Ok(TableStatus::Next), "it does not follow")?;
            pass(9)?;
            let running = SYSTEM.table_status(OTHER_TABLE) == Ok(TableStatus::Running);
            must(running, "it did not start")?;
            let stopped = SYSTEM.table_status(TABLE) == Ok(TableStatus::Stopped);
            must(stopped, "the first one is not over")
        }),
        line(NextScheduleTable, "the_first_is_not_started", Status::NoFunction, TASK_ISR, || {
            SYSTEM.next_table(TABLE, OTHER_TABLE)
        }),
        line(NextScheduleTable, "the_second_is_started", Status::State, TASK_ISR, || {
            SYSTEM.next_table(TABLE, OTHER_TABLE)
        })
        .after(|| {
            start()?;
            SYSTEM.start_table_relative(OTHER_TABLE, 1)
        }),
        line(NextScheduleTable, "they_have_different_counters", Status::Id, TASK_ISR, || {
            SYSTEM.next_table(TABLE, FOREIGN_TABLE)
        })
        .after(start),
    ]
}

fn table_states() -> Vec<Line> {
    use Service::GetScheduleTableStatus;
    vec![
        line(GetScheduleTableStatus, "it_is_started", None, TASK_ISR, || {
            is(SYSTEM.table_status(TABLE)? == TableStatus::Running)
        })
        .after(start),
        line(GetScheduleTableStatus, "there_is_no_such_table", Status::Id, TASK_ISR, || {
            SYSTEM.table_status(NOTHING).map(drop)
        }),
    ]
}
