//! What people and programs read: the HTML report, JUnit, CSV and text.
