//! Network cards that guests drive themselves.

use quietcore_site::GivenCard;

use crate::setting::{Setting, driver};
use crate::want::Want;

/// Returns the setting that takes a card away from the host's driver.
pub(crate) fn give(card: &GivenCard) -> (Setting, Want) {
    let device = card.address.clone();
    (Setting::Driver { device }, Want::Exactly(driver::PASSING.to_owned()))
}
