//! The HTTP API: a real mall behind the real server, and every operation of the OpenAPI description.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod bad_note_requests;
mod bad_ops_requests;
mod bad_requests;
mod calls;
mod clock;
mod comments;
mod feeds;
mod follows;
mod front_end;
mod home;
mod live;
mod manual;
mod manual_pages;
mod nearby;
mod notes;
mod openapi;
mod ops;
mod original;
mod payment_modes;
mod people;
mod receipts;
mod schemathesis;
mod shop_types;
mod signs;
mod steps;
mod uploads;
mod visits;
mod vouchers;
mod web;
mod world;
