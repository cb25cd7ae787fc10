//! Events of a site as they happen.

use std::time::{Duration, Instant};

use quietcore_api::v1::WatchEventsResponse;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::EventLine;

use super::StreamEnd;
use crate::caller::Caller;
use crate::failure::CallError;

/// Time between two looks for new events.
const LOOK: Duration = Duration::from_millis(100);

/// Sends `first`, the events from number `since` on that are kept, then each as it happens unless
/// `past_only`, as far as their partitions are granted to the caller.
pub(crate) fn follow(
    mut client: Client,
    caller: &Caller,
    first: Vec<EventLine>,
    (since, past_only): (u64, bool),
    end: StreamEnd<WatchEventsResponse>,
) {
    let site = client.site().to_owned();
    let is_granted = |event: &EventLine| caller.grants().has_partition(&site, &event.partition);
    let mut next = since;
    let mut events = first;
    loop {
        while let Some(last) = events.last() {
            next = last.sequence + 1;
            let told = |event: EventLine| WatchEventsResponse { event: Some(event.into()) };
            if !end.send_all(events.drain(..).filter(is_granted).map(told)) {
                return;
            }
            // An answer may not hold all that there are.
            match client.events(next) {
                Ok(more) => events = more,
                Err(error) => return end.fail(CallError::from(error)),
            }
        }
        if past_only {
            return;
        }
        client.rest();
        if !end.sleep_until(Instant::now() + LOOK) {
            return;
        }
        match client.events(next) {
            Ok(more) => events = more,
            Err(error) => return end.fail(CallError::from(error)),
        }
    }
}
