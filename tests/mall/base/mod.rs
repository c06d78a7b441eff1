//! The base of all areas.

mod clock_drills;
mod fails_four_times;
mod machine;
mod retries;
mod retry_breakers;
mod retry_crashes;
mod retry_rush;
mod retry_world;
