//! The storefront and the console in a real browser, each test with its own mall and profile.
//!
//! Reasons and figures: `src/decisions/0031-browser-tests.md`.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/process.rs"]
mod process;

mod cash;
mod challenge_service;
mod claim_gateways;
mod claim_limits;
mod console;
mod counter;
mod customer;
mod dialogs;
mod gateway;
mod guards;
mod guards_in_time;
mod harness;
mod judgement;
mod kiosk;
mod kiosk_keys;
mod learn;
mod levels;
mod manual;
mod notes;
mod operator;
mod own;
mod own_sessions;
mod people;
mod printing;
mod privacy;
mod report;
mod reviews;
mod rivals;
mod sales;
mod screens;
mod second_factor;
mod security;
mod shop_day;
mod staff;
mod thresholds;
mod town;
mod units_per_user;
mod waiting_lists;
mod waiting_rooms;
mod waves;
mod webhooks;
mod words;
