//! The binary: parse, choose, run.

fn main() {}
