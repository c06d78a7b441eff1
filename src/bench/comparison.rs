//! Results of several runs, side by side.

use std::fmt::Write as _;

/// Name of a measured quantity, and the number of decimals shown.
pub(super) type Quantity = (&'static str, usize);

/// Result of a run on a ground.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) ground: &'static str,
    pub(super) figures: Vec<(Quantity, f64)>,
    pub(super) books_balance: bool,
}

const NAMES: usize = 36;
const COLUMN: usize = 34;

/// Formats a table with one row per quantity and one column per ground: median, minimum and maximum of the
/// ground's runs.
pub(super) fn table(outcomes: &[Outcome]) -> String {
    let grounds = in_order(outcomes.iter().map(|outcome| outcome.ground));
    let whats = in_order(outcomes.iter().flat_map(|outcome| outcome.figures.iter().map(|(what, _)| *what)));
    let mut text = format!("{:NAMES$}", "");
    for ground in &grounds {
        let _ = write!(text, "{ground:>COLUMN$}");
    }
    for what in whats {
        let _ = write!(text, "\n{:NAMES$}", what.0);
        for ground in &grounds {
            let runs = outcomes.iter().filter(|outcome| outcome.ground == *ground);
            let values = runs.flat_map(|run| run.figures.iter().filter(|(of, _)| *of == what));
            let _ = write!(text, "{:>COLUMN$}", cell(values.map(|(_, value)| *value).collect(), what.1));
        }
    }
    text + "\n"
}

fn cell(mut values: Vec<f64>, digits: usize) -> String {
    values.sort_by(f64::total_cmp);
    match values[..] {
        [] => "-".to_owned(),
        [value] => format!("{value:.digits$}"),
        [least, .., most] => {
            let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
            format!("{:.digits$} ({least:.digits$}..{most:.digits$})", f64::midpoint(low, high))
        }
    }
}

/// Removes duplicates and keeps the order of first occurrence.
fn in_order<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut once, one| {
        if !once.contains(&one) {
            once.push(one);
        }
        once
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ground_has_a_column_and_what_it_lacks_a_dash() {
        let outcome = |ground, figures: &[(Quantity, f64)]| Outcome {
            ground,
            figures: figures.to_vec(),
            books_balance: true,
        };
        let (claims, calls) = (("claims /s", 0), ("Redis calls per claim", 2));
        let text = table(&[
            outcome("directory", &[(claims, 40.0)]),
            outcome("servers", &[(claims, 9.0), (calls, 2.0)]),
            outcome("servers", &[(claims, 5.0), (calls, 2.5)]),
            outcome("directory", &[(claims, 30.0)]),
            outcome("servers", &[(claims, 7.0), (calls, 3.25)]),
        ]);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["directory", "servers"]);
        assert_eq!(lines[1], ["claims", "/s", "35", "(30..40)", "7", "(5..9)"]);
        assert_eq!(lines[2], ["Redis", "calls", "per", "claim", "-", "2.50", "(2.00..3.25)"]);
    }
}
