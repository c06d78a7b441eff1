//! What holds for an embedded mall holds for one on Redis and MySQL: the same tests, on servers.

#[path = "api/main.rs"]
mod api;
#[path = "people/main.rs"]
mod people;
#[path = "sale/main.rs"]
mod sale;
