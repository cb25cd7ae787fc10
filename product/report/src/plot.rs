//! Plots as inline SVG, drawn by this crate alone.
//!
//! Colours and strokes are classes of the page's style sheet, so a plot follows light, dark and
//! print. Each has a title and a description for those who don't see it, and its parts have
//! tooltips; nothing needs a script.
//!
//! Plots that are to be compared have the same axes, made once for all records ([`Frame`]).

mod axis;
mod bars;
mod boxes;
mod frame;
mod histogram;
mod isolation;
mod labels;
mod late;
mod memory;
mod ranges;
mod recording;
mod routines;
mod svg;
mod timeline;

pub(crate) use axis::{Scale, time_mark};
pub(crate) use boxes::{BoxFigures, End, axis_strip, strip};
pub(crate) use frame::{Frame, Limit};
pub(crate) use histogram::{caption, histogram};
pub(crate) use isolation::isolation;
pub(crate) use late::course::{course_axis, course_row};
pub(crate) use late::shares::{class, ledger, tooltip};
pub(crate) use memory::{curves, pressure, slowed_routines};
pub(crate) use ranges::{Range, cost_strips, effects, ranges, scale_of};
pub(crate) use recording::recording;
pub(crate) use routines::{class_of, drawn, routines};
pub(crate) use svg::{Anchor, Svg, X};
pub(crate) use timeline::timeline;
