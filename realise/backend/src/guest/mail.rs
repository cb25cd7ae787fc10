//! The post of a guest: its job, then orders, one letter at a time.
//!
//! Only the guest writes its events, so it is also told of the builds that the host refuses. Such a
//! refusal waits here until the guest has taken the previous letter.

use std::collections::VecDeque;

use quietcore_boot::post::Poster;
use quietcore_exchange::{Region, Slot};
use quietcore_microvm::lines::Interrupt;
use quietcore_scan::guest::job::GuestOrder;
use quietcore_scan::stage::Stage;

use quietcore_process::remark::remark;

/// Limit of waiting refusals. Whoever gives orders waits for the answer to each, or gives up.
const REFUSED_MAX: usize = 16;

/// A way to make a guest look at its post, its stop request, and the time limit of its call.
pub(crate) trait Attention {
    /// Makes the guest look.
    fn call(&self);
}

impl Attention for Interrupt {
    fn call(&self) {
        // A guest that takes no interrupt has crashed, and its processor reports that.
        let _ = self.raise();
    }
}

/// The host's side of a guest's post.
#[derive(Debug)]
pub(crate) struct Mail<A = Interrupt> {
    poster: Poster<'static>,
    attention: A,
    /// Generations whose refusal the guest is yet to hear of.
    refused: VecDeque<u32>,
}

impl<A: Attention> Mail<A> {
    /// Takes a post in which nothing was put yet, and the way to call its guest's attention.
    pub(crate) fn new(poster: Poster<'static>, attention: A) -> Self {
        Self { poster, attention, refused: VecDeque::new() }
    }

    /// Checks that the guest has taken its last order, that it runs nothing in a build's slot, and
    /// that it can't go back to what is there.
    ///
    /// # Errors
    /// The reason for which the build is refused; in words.
    pub(crate) fn check_free(&self, stage: &Stage, region: Region<'_>) -> Result<(), String> {
        if !self.poster.is_taken() {
            return Err("the guest has not taken the order before".to_owned());
        }
        let active = u8::from(region.active().slot == Slot::B);
        stage.check_free(active, self.poster.is_kept()).map_err(|why| why.to_string())
    }

    /// Posts a letter and makes the guest look.
    ///
    /// # Errors
    /// When the letter is too long, or the previous one was not taken; in words.
    pub(crate) fn send(&mut self, letter: &[u8]) -> Result<(), String> {
        self.poster.post(letter).map_err(|error| error.to_string())?;
        self.attention.call();
        Ok(())
    }

    /// Posts an order as a letter.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    pub(crate) fn order(&mut self, order: &GuestOrder) -> Result<(), String> {
        let letter = order.to_bytes().map_err(|error| error.to_string())?;
        self.send(&letter)
    }

    /// Makes the guest report that a build is refused, as soon as it can take another letter.
    pub(crate) fn refuse(&mut self, generation: u32) {
        if self.refused.len() < REFUSED_MAX {
            self.refused.push_back(generation);
        } else {
            remark(format_args!("quietcore-runtime: build {generation}: nobody is told of it"));
        }
        self.tell_refused();
    }

    fn tell_refused(&mut self) {
        while let Some(&generation) = self.refused.front() {
            if !self.poster.is_taken() {
                return;
            }
            self.refused.pop_front();
            if let Err(why) = self.order(&GuestOrder::Refuse(generation)) {
                remark(format_args!("quietcore-runtime: {why}"));
            }
        }
    }

    /// Posts refusals that wait. Makes the guest look if a stop is requested or its call is over
    /// its time, since it wakes only for its releases. `now_ns` is the monotonic clock.
    pub(crate) fn look_after(&mut self, region: Region<'_>, now_ns: u64) {
        self.tell_refused();
        let is_over = self.poster.call_until().is_some_and(|until| until < now_ns);
        if region.stop_requested() || is_over {
            self.attention.call();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use quietcore_boot::post::{Taker, bytes_for};
    use quietcore_exchange::{Active, Shape};
    use quietcore_process::exchange::Exchange;

    use super::*;

    fn words() -> &'static [AtomicU64] {
        let words: Vec<_> = (0..bytes_for(64) / 8).map(|_| AtomicU64::new(0)).collect();
        Vec::leak(words)
    }

    /// Counts the calls of attention.
    type Count = Rc<Cell<u32>>;

    impl Attention for Count {
        fn call(&self) {
            self.set(self.get() + 1);
        }
    }

    fn mail(words: &'static [AtomicU64]) -> Mail<Count> {
        Mail::new(Poster::new(words).unwrap(), Count::default())
    }

    fn order(guest: &mut Taker<'_>) -> Option<GuestOrder> {
        let mut place = [0; 64];
        let letter = guest.take(&mut place).unwrap()?;
        Some(GuestOrder::from_bytes(letter).unwrap())
    }

    /// Goal: what runs is not overwritten. The host decides that before it copies anything.
    #[test]
    fn a_build_for_the_slot_that_runs_or_is_kept_is_refused() {
        let exchange = Exchange::create(&Shape { data_bytes: 4096, ..Shape::of_tasks(1) }).unwrap();
        let (region, words) = (exchange.region(), words());
        let (mail, guest) = (mail(words), Taker::new(words).unwrap());
        let refusal = |slot| mail.check_free(&Stage { slot, ..Stage::default() }, region);
        region.set_active(Active { slot: Slot::B, generation: 2 });
        assert_eq!(refusal(1), Err("it is meant for slot 1, but that is in use".to_owned()));
        assert_eq!(refusal(0), Ok(()));
        // The build in slot B has failed, and the guest has gone back.
        region.set_active(Active { slot: Slot::A, generation: 1 });
        assert_eq!(refusal(0), Err("it is meant for slot 0, but that is in use".to_owned()));
        guest.keeps().store(1, Relaxed);
        assert!(refusal(1).unwrap_err().contains("on probation"));
    }

    #[test]
    fn refusals_wait_while_the_post_is_full_and_come_in_their_order() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let words = words();
        let (mut mail, mut guest) = (mail(words), Taker::new(words).unwrap());
        mail.refuse(1);
        mail.refuse(2);
        mail.refuse(3);
        let refused = mail.check_free(&Stage::default(), exchange.region()).unwrap_err();
        assert!(refused.contains("has not taken"), "{refused}");
        for generation in 1..=3 {
            assert_eq!(order(&mut guest), Some(GuestOrder::Refuse(generation)));
            assert_eq!(order(&mut guest), None, "one at a time");
            mail.look_after(exchange.region(), 0);
        }
        assert_eq!(order(&mut guest), None);
    }

    #[test]
    fn a_guest_is_interrupted_for_a_stop_and_for_a_call_that_is_over_its_time() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let words = words();
        let (mut mail, guest) = (mail(words), Taker::new(words).unwrap());
        guest.call_until().store(100, Relaxed);
        mail.look_after(exchange.region(), 100);
        assert_eq!(mail.attention.get(), 0, "it may go on");
        mail.look_after(exchange.region(), 101);
        assert_eq!(mail.attention.get(), 1);
        exchange.region().request_stop();
        mail.look_after(exchange.region(), 0);
        assert_eq!(mail.attention.get(), 2);
    }
}
