//! `quietcore top`

mod collect;
mod draw;
mod view;

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event};

use self::collect::Collector;
use self::view::{Answer, View};
use super::site;
use crate::arguments::Top;
use crate::command;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal;

/// The longest wait for a key between two looks at the stop flag.
const DOZE: Duration = Duration::from_millis(50);

/// The screen can't be drawn.
#[derive(Debug, thiserror::Error)]
enum TopError {
    #[error("`quietcore top` draws on a terminal, and this is none; use `quietcore top --once`")]
    NoTerminal,
    #[error("the terminal can't be drawn on; use `quietcore top --once`")]
    Terminal(#[source] io::Error),
}

pub(in crate::command) fn run(request: &Top) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let mut collector = Collector::new(site::named(request.site.name())?);
    if request.once {
        let snapshot = collector.collect()?;
        command::print(&draw::text(&snapshot, terminal::width()))?;
        return Ok(Status::Done);
    }
    if !io::stdout().is_terminal() {
        return Err(TopError::NoTerminal.into());
    }
    let mut screen = ratatui::try_init().map_err(TopError::Terminal)?;
    let shown = show(request, &mut collector, &mut screen, &stop);
    // The terminal is restored before anything is printed on it.
    ratatui::restore();
    shown.map(|()| Status::Done)
}

fn show(
    request: &Top,
    collector: &mut Collector,
    screen: &mut ratatui::DefaultTerminal,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let mut view = View::new(terminal::color());
    let period = Duration::from_secs_f64(1.0 / request.rate);
    let mut snapshot = collector.collect()?;
    let mut due = Instant::now() + period;
    loop {
        screen.draw(|frame| draw::draw(frame, &snapshot, &view))?;
        // Until the next look, keys are answered at once.
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                snapshot = collector.collect()?;
                due = Instant::now() + period;
                break;
            }
            if !event::poll(left.min(DOZE))? {
                continue;
            }
            match event::read()? {
                Event::Key(key) => match view.press(key, &snapshot) {
                    Answer::End => return Ok(()),
                    Answer::Redraw => break,
                    Answer::Nothing => {}
                },
                Event::Resize(..) => break,
                _ => {}
            }
        }
    }
}
