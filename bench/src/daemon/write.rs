//! A group of writes: the cycles from the call to the first that sees it, through the daemon and
//! from a local client that asks the site itself.

use std::time::Instant;

use quietcore_api::v1;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{Applied, Change, ChangeKind, Verb};
use quietcore_units::Causes;

use crate::findings::{Common, Findings, Goal};
use crate::site::Life;

use super::process::Served;

/// Variables of a group.
const GROUP: usize = 8;
/// The most cycles until a group is in force.
const GOAL: Goal = Goal::AtMost(2.0);

/// The writes of one round.
#[derive(Default)]
struct Writes {
    cycles: Vec<u64>,
    took_us: Vec<f64>,
}

/// The figures of one side, a value a round.
#[derive(Default)]
struct Side {
    cycles_p50: Vec<f64>,
    cycles_p99: Vec<f64>,
    took_p50: Vec<f64>,
}

/// Writes through the daemon and without it, in turn.
pub(super) fn measure(
    life: &Life,
    served: &Served,
    rounds: usize,
    common: &Common,
    findings: &mut Findings,
) -> Result<(), String> {
    let count = common.length(500, 20);
    let (mut through, mut local) = (Side::default(), Side::default());
    let (mut client, partition) = life.client()?;
    let mut service = VariableServiceClient::new(served.channel());
    for round in 0..rounds {
        for daemon in [round.is_multiple_of(2), !round.is_multiple_of(2)] {
            let mut writes = Writes::default();
            for number in 0..count {
                let value = (round * count + number) as f64;
                let (before, begun) = (life.cycle()?, Instant::now());
                let cycle = if daemon {
                    by_daemon(served, &mut service, partition, value)?
                } else {
                    locally(&mut client, partition, value)?
                };
                writes.took_us.push(begun.elapsed().as_secs_f64() * 1e6);
                writes.cycles.push(cycle.saturating_sub(before));
            }
            let side = if daemon { &mut through } else { &mut local };
            side.take(writes);
        }
    }
    findings.figure("write in force, quietcored, p50", "cycles", &through.cycles_p50);
    findings.goal("write in force, quietcored, p99", "cycles", &through.cycles_p99, GOAL);
    findings.figure("write in force, local client, p99", "cycles", &local.cycles_p99);
    findings.figure("write answered, quietcored, p50", "µs", &through.took_p50);
    findings.figure("write answered, local client, p50", "µs", &local.took_p50);
    findings.ratio("write, quietcored / local client", &through.took_p50, &local.took_p50, None);
    findings.remark(format!(
        "{count} groups of {GROUP} variables a round and side; through the daemon each is in the \
         audit trail before the site is asked, and on disk before the answer"
    ));
    Ok(())
}

/// The variables of the group.
fn paths() -> impl Iterator<Item = String> {
    (0..GROUP).map(|index| format!("wide_DW.cell[{index}]"))
}

fn by_daemon(
    served: &Served,
    service: &mut VariableServiceClient<tonic::transport::Channel>,
    partition: &str,
    value: f64,
) -> Result<u64, String> {
    let change = |variable: String| v1::Change {
        kind: v1::ChangeKind::Set.into(),
        variable,
        value: Some(value.to_string()),
        ..v1::Change::default()
    };
    let request = v1::WriteVariablesRequest {
        partition: partition.to_owned(),
        changes: paths().map(change).collect(),
        ..v1::WriteVariablesRequest::default()
    };
    let answer = served.wait(service.write_variables(request));
    Ok(answer.map_err(|status| status.message().to_owned())?.into_inner().cycle)
}

fn locally(client: &mut Client, partition: &str, value: f64) -> Result<u64, String> {
    let change = |variable: String| Change {
        kind: ChangeKind::Set,
        variable,
        value: Some(value.to_string()),
        allow_nan: false,
    };
    let changes: Vec<_> = paths().map(change).collect();
    let applied = client.ask::<Applied>(partition, Verb::write(changes));
    Ok(applied.map_err(|error| Causes(&error).to_string())?.cycle)
}

impl Side {
    fn take(&mut self, mut writes: Writes) {
        writes.cycles.sort_unstable();
        writes.took_us.sort_unstable_by(f64::total_cmp);
        let last = writes.cycles.len().saturating_sub(1);
        let cycles = |part: usize| writes.cycles.get(last * part / 100).map(|it| *it as f64);
        self.cycles_p50.extend(cycles(50));
        self.cycles_p99.extend(cycles(99));
        self.took_p50.extend(writes.took_us.get(last / 2));
    }
}
