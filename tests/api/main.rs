//! The HTTP API as `API.md` has it: a real embedded mall behind the real server, and every call that exists.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod bad_requests;
mod calls;
mod openapi;
mod schemathesis;
mod steps;
mod web;
mod world;
