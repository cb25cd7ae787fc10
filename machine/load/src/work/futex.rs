//! Two threads that wake each other through a futex.
//!
//! The word says whose turn it is. Each thread waits for its turn, gives the turn to the other one
//! and wakes it. Only wakes that found a sleeper are counted.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};

use crate::board::Beat;
use crate::work::WorkError;

/// Turns of the first thread between two signs of progress.
const BATCH: u32 = 64;
const FIRST: u32 = 1;
const SECOND: u32 = 2;

pub(super) fn run(beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    let turn = Arc::new(AtomicU32::new(FIRST));
    let partner_wakes = Arc::new(AtomicU64::new(0));
    let partner = {
        let turn = Arc::clone(&turn);
        let wakes = Arc::clone(&partner_wakes);
        move || -> io::Result<()> {
            loop {
                let woken = take_turn(&turn, SECOND, FIRST)?;
                wakes.fetch_add(woken, Relaxed);
            }
        }
    };
    thread::Builder::new()
        .name("load-partner".to_owned())
        // A futex can fail only by our own fault; the first thread would fail in the same way.
        .spawn(partner)
        .map_err(WorkError::refused("start the second thread"))?;
    beat.start();
    loop {
        let mut woken = 0;
        for _ in 0..BATCH {
            let outcome = take_turn(&turn, FIRST, SECOND);
            woken += outcome.map_err(WorkError::refused("wait on a futex"))?;
        }
        beat.add(woken + partner_wakes.swap(0, Relaxed), 0);
    }
}

/// Waits until it is `own` turn, gives it to the `other`, and returns how many sleepers it woke.
fn take_turn(turn: &AtomicU32, own: u32, other: u32) -> io::Result<u64> {
    while turn.load(Acquire) != own {
        match futex::wait(turn, Flags::PRIVATE, other, None) {
            // The turn changed before we slept, or a signal came between.
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    turn.store(other, Release);
    Ok(futex::wake(turn, Flags::PRIVATE, 1)? as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turn_goes_to_and_fro() {
        let turn = Arc::new(AtomicU32::new(FIRST));
        let other = Arc::clone(&turn);
        let partner = thread::spawn(move || {
            for _ in 0..100 {
                take_turn(&other, SECOND, FIRST).unwrap();
            }
        });
        for _ in 0..100 {
            take_turn(&turn, FIRST, SECOND).unwrap();
        }
        partner.join().unwrap();
        assert_eq!(turn.load(Acquire), FIRST);
    }
}
