//! Rounds of one or two binaries, side by side, with their ratios.

use crate::side::{METRICS, Measured};

const COLUMN: usize = 32;

/// Values of one metric of one kind of call: for each binary, one value a round.
struct Row {
    connections: usize,
    what: &'static str,
    metric: usize,
    values: Vec<Vec<f64>>,
}

/// All measurements, in the order of the first round.
pub struct Table {
    sides: usize,
    rows: Vec<Row>,
}

impl Table {
    pub fn new(sides: usize) -> Self {
        Self { sides, rows: Vec::new() }
    }

    /// Adds a round of the binary with this number.
    pub fn add(&mut self, side: usize, connections: usize, round: Vec<Measured>) {
        for Measured { what, values } in round {
            for (metric, value) in values.into_iter().enumerate() {
                self.row(connections, what, metric).values[side].push(value);
            }
        }
    }

    fn row(&mut self, connections: usize, what: &'static str, metric: usize) -> &mut Row {
        let is_it = |row: &Row| row.connections == connections && row.what == what && row.metric == metric;
        let at = self.rows.iter().position(is_it).unwrap_or(self.rows.len());
        if at == self.rows.len() {
            let values = vec![Vec::new(); self.sides];
            self.rows.push(Row { connections, what, metric, values });
        }
        &mut self.rows[at]
    }

    /// Prints medians with minimum and maximum, and the ratios of the first binary to the second.
    pub fn print(&self, programs: &[String]) {
        for (number, program) in programs.iter().enumerate() {
            println!("[{number}] {program}");
        }
        for row in &self.rows {
            let (metric, decimals) = METRICS[row.metric];
            if row.metric == 0 {
                println!("\n{}, connections: {}", row.what, row.connections);
            }
            print!("  {metric:<18}");
            for values in &row.values {
                print!("{:>COLUMN$}", spread(values.clone(), decimals));
            }
            if let [own, other] = &row.values[..] {
                // A tick of CPU time may be too coarse for a short round.
                let ratios = own.iter().zip(other).filter(|(_, other)| **other > 0.0);
                let ratios = ratios.map(|(own, other)| own / other).collect();
                print!("   ratio {:>COLUMN$}", spread(ratios, 3));
            }
            println!();
        }
    }
}

/// Returns the median with minimum and maximum.
fn spread(mut values: Vec<f64>, decimals: usize) -> String {
    values.sort_by(f64::total_cmp);
    let [least, .., most] = values[..] else {
        return values.first().map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"));
    };
    let median = f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]);
    format!("{median:.decimals$} ({least:.decimals$}..{most:.decimals$})")
}
