//! The HTTP API: a real mall behind the real server, and every operation of the OpenAPI description.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod bad_requests;
mod calls;
mod catalogue;
mod openapi;
mod operator;
mod pages;
mod people;
mod revalidation;
mod schemathesis;
mod selling;
mod world;
mod writing;
