//! The flags for the load: when claims arrive, and over what.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::bench::load::Shape;
use crate::bench::{Generator, PRESETS, Preset};
use crate::cli::messages::{BenchMisuse, CommandFailure, UsageError};

/// Connections by default.
const CONNECTIONS: u16 = 64;

/// The flags of the load generator.
#[derive(Args, Debug)]
pub(super) struct GeneratorFlags {
    /// Connections shared by the crowd.
    #[arg(long, default_value_t = CONNECTIONS, value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
    /// Threads of the load generator, each with its share of the connections.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    threads: u16,
}

/// Reads the name of a published load.
pub(super) fn preset() -> impl TypedValueParser<Value = Preset> {
    let values = PRESETS.map(|preset| PossibleValue::new(preset.name).help(preset.published));
    PossibleValuesParser::new(values).try_map(|name| Preset::named(&name).ok_or("no such preset"))
}

impl Default for GeneratorFlags {
    fn default() -> Self {
        Self { connections: CONNECTIONS, threads: 1 }
    }
}

impl GeneratorFlags {
    /// Returns the generator, with the connections of a preset.
    pub(super) fn plan(&self, preset: Option<Preset>) -> Generator {
        let connections = preset.map_or(self.connections, |preset| preset.connections);
        Generator { connections: connections.into(), threads: self.threads.into() }
    }
}

/// The flags for the arrival of the claims.
#[derive(Args, Debug, Default)]
pub(super) struct ArrivalFlags {
    /// Claims per second over all connections, or the peak of a named --shape; without a rate, each
    /// connection claims again as soon as a response arrives.
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// Arrival of the claims: `flash`, `pulse` or `steps` with --rate as the peak, or pieces such as
    /// `500x10s,500..20000x5s`.
    #[arg(long, conflicts_with = "trace")]
    shape: Option<String>,
    /// A file with the arrival of the claims: lines SECONDS RATE, the last rate 0.
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    trace: Option<PathBuf>,
}

impl ArrivalFlags {
    /// Returns the arrivals. `None` for a closed loop.
    pub(super) fn shape(&self) -> anyhow::Result<Option<Shape>> {
        let shape = match (&self.trace, &self.shape) {
            (Some(file), _) => Some(Shape::parse_trace(&read(file)?)),
            (None, Some(text)) => Some(Shape::parse(text, self.rate)),
            (None, None) => self.rate.map(|rate| Ok(Shape::checked(rate)?)),
        };
        Ok(shape.transpose().map_err(|error| UsageError::Bench(BenchMisuse::BadShape(error)))?)
    }
}

/// Reads a text file.
pub(super) fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file)
        .map_err(|error| CommandFailure::CannotRead(file.to_owned()).with_cause(error))
}
