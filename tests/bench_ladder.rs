//! `mallbox bench ladder` and `mallbox learn`, as a user runs them.
