//! The record: the truth about people, shops, vouchers, orders and payments, in one SQLite file.

mod checkpoint;
mod database;
#[cfg(test)]
mod database_tests;
mod migrations;
mod opening;
mod readers;
mod settings;
mod task;
mod trouble;
mod writer;

pub(crate) use database::Database;
