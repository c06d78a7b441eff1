//! Shapes as people write them: a name with a peak, pieces, or a trace.

use std::time::Duration;

use super::shape::{Piece, Shape, ShapeError};

/// Reason why a text is no shape.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ShapeTextError {
    /// A piece in another form than `RATExLENGTH` or `RATE..RATExLENGTH`.
    #[error("'{0}' is neither RATExLENGTH nor RATE..RATExLENGTH, as in 500x10s or 100..2000x500ms")]
    Piece(String),
    /// A named shape without a peak.
    #[error("the shape {0} needs a rate, that of its peak")]
    NoPeak(String),
    /// Pieces, which have rates of their own, and a peak.
    #[error("pieces have rates of their own: leave the peak of {0} out")]
    PeakOfPieces(f64),
    /// A line of a trace in another form than `SECONDS RATE`, or not later than the one before.
    #[error("line {line} of the trace, '{text}': expected SECONDS RATE, later than the line before")]
    TraceLine {
        /// Number of the line, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// A trace without an end: the last rate has to be 0.
    #[error("the last line of a trace has to say when it ends: SECONDS 0")]
    NoEnd,
    /// Rates or lengths out of range.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

impl Shape {
    /// Reads a shape: `flash`, `pulse` or `steps` with the peak `peak`, or pieces such as
    /// `500x10s,500..20000x5s`.
    ///
    /// # Errors
    /// The first piece that cannot be read.
    pub fn parse(text: &str, peak: Option<f64>) -> Result<Self, ShapeTextError> {
        let Some(pieces) = named(text) else {
            let pieces: Vec<_> = text.split(',').map(piece).collect::<Result<_, _>>()?;
            if let Some(peak) = peak {
                return Err(ShapeTextError::PeakOfPieces(peak));
            }
            return Ok(Self::new(&pieces)?);
        };
        let peak = peak.ok_or_else(|| ShapeTextError::NoPeak(text.to_owned()))?;
        let scaled = |&(from, to, ms): &(f64, f64, u64)| Piece {
            from: from * peak,
            to: to * peak,
            lasts: Duration::from_millis(ms),
        };
        Ok(Self::new(&pieces.iter().map(scaled).collect::<Vec<_>>())?)
    }

    /// Reads a trace: lines `SECONDS RATE`, the rate valid until the next line, the last one 0. Empty lines
    /// and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn parse_trace(text: &str) -> Result<Self, ShapeTextError> {
        let mut pieces = Vec::new();
        let mut last: Option<(f64, f64)> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let bad = || ShapeTextError::TraceLine { line, text: text.to_owned() };
            let (at, rate) = text.split_once(char::is_whitespace).ok_or_else(bad)?;
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            let (at, rate) = number(at).zip(number(rate)).ok_or_else(bad)?;
            // The first instant is the beginning, whatever clock the trace was taken by.
            if let Some((before, rate)) = last {
                let lasts = Duration::try_from_secs_f64(at - before).map_err(|_| bad())?;
                if lasts.is_zero() {
                    return Err(bad());
                }
                pieces.push(Piece::even(rate, lasts));
            }
            last = Some((at, rate));
        }
        if last.is_none_or(|(_, rate)| rate != 0.0) {
            return Err(ShapeTextError::NoEnd);
        }
        Ok(Self::new(&pieces)?)
    }
}

/// Returns the pieces of a named shape: rates as shares of the peak, and milliseconds.
fn named(name: &str) -> Option<&'static [(f64, f64, u64)]> {
    Some(match name {
        // A thousandfold start, two seconds of the peak, and a long end.
        "flash" => &[(0.001, 0.001, 5_000), (1.0, 1.0, 2_000), (1.0, 0.1, 3_000), (0.1, 0.01, 10_000)],
        "pulse" => &[
            (1.0, 1.0, 1_000),
            (0.1, 0.1, 4_000),
            (1.0, 1.0, 1_000),
            (0.1, 0.1, 4_000),
            (1.0, 1.0, 1_000),
            (0.1, 0.1, 4_000),
        ],
        "steps" => {
            &[(0.2, 0.2, 5_000), (0.4, 0.4, 5_000), (0.6, 0.6, 5_000), (0.8, 0.8, 5_000), (1.0, 1.0, 5_000)]
        }
        _ => return None,
    })
}

fn piece(text: &str) -> Result<Piece, ShapeTextError> {
    let bad = || ShapeTextError::Piece(text.to_owned());
    let (rates, length) = text.trim().split_once('x').ok_or_else(bad)?;
    let rate = |text: &str| text.trim().parse::<f64>().map_err(|_| bad());
    let (from, to) = match rates.split_once("..") {
        Some((from, to)) => (rate(from)?, rate(to)?),
        None => (rate(rates)?, rate(rates)?),
    };
    Ok(Piece { from, to, lasts: length_of(length.trim()).ok_or_else(bad)? })
}

fn length_of(text: &str) -> Option<Duration> {
    let (number, seconds) = [("ms", 0.001), ("s", 1.0), ("m", 60.0)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    Duration::try_from_secs_f64(number.trim().parse::<f64>().ok()? * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(shape: &Shape) -> (u64, u64, f64) {
        let lasts = shape.lasts().unwrap();
        (u64::try_from(lasts.as_millis()).unwrap(), shape.due_by(lasts), shape.peak())
    }

    #[test]
    fn pieces_are_read() {
        assert_eq!(ends(&Shape::parse("500x10s", None).unwrap()), (10_000, 5_000, 500.0));
        let two = Shape::parse("100..2000x500ms, 0x1s,2000x0.5m", None).unwrap();
        assert_eq!(ends(&two), (31_500, 60_525, 2_000.0));
    }

    #[test]
    fn named_shapes_have_their_peak() {
        for (name, ms) in [("flash", 20_000), ("pulse", 15_000), ("steps", 25_000)] {
            let shape = Shape::parse(name, Some(5_000.0)).unwrap();
            assert_eq!((ends(&shape).0, ends(&shape).2), (ms, 5_000.0), "{name}");
            assert_eq!(Shape::parse(name, None), Err(ShapeTextError::NoPeak(name.to_owned())));
        }
        let flash = Shape::parse("flash", Some(20_000.0)).unwrap();
        let in_second = |n| flash.due_by(Duration::from_secs(n + 1)) - flash.due_by(Duration::from_secs(n));
        assert_eq!((in_second(4), in_second(5)), (20, 20_000), "a thousandfold start");
    }

    #[test]
    fn a_trace_begins_at_its_first_line() {
        let trace = Shape::parse_trace("# from a proxy\n100 10\n102.5 200\n\n103 0\n").unwrap();
        assert_eq!(ends(&trace), (3_000, 125, 200.0));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for text in ["", "500", "x", "500x10", "500xs", "ax1s", "1..x1s", "5x1s,,", "1x-1s", "pulses"] {
            let refused = Shape::parse(text, Some(1.0));
            assert!(matches!(refused, Err(ShapeTextError::Piece(_))), "{text}: {refused:?}");
        }
        assert_eq!(Shape::parse("5x1s", Some(2.0)), Err(ShapeTextError::PeakOfPieces(2.0)));
        assert!(matches!(Shape::parse("1e9x1s", None), Err(ShapeTextError::Shape(ShapeError::Rate(_)))));
        let line = |line, text: &str| ShapeTextError::TraceLine { line, text: text.to_owned() };
        for (trace, wrong) in [
            ("", ShapeTextError::NoEnd),
            ("0 10\n5 10", ShapeTextError::NoEnd),
            ("0 10\n5", line(2, "5")),
            ("0 10\n0 0", line(2, "0 0")),
            ("5 10\n4 0", line(2, "4 0")),
            ("0 nan\n1 0", line(1, "0 nan")),
            ("0 0\n1 0", ShapeTextError::Shape(ShapeError::Empty)),
            ("0 -3\n1 0", ShapeTextError::Shape(ShapeError::Rate(-3.0))),
        ] {
            assert_eq!(Shape::parse_trace(trace), Err(wrong), "{trace:?}");
        }
    }
}
