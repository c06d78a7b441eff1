//! Histograms as text: HdrHistogram V2, compressed, in base64.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};

/// Writes a histogram.
pub(super) fn encoded(histogram: &Histogram<u64>) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes)?;
    Ok(BASE64_STANDARD.encode(bytes))
}

/// Reads a histogram.
pub(super) fn decoded(text: &str) -> anyhow::Result<Histogram<u64>> {
    let bytes = BASE64_STANDARD.decode(text)?;
    Ok(Deserializer::new().deserialize(&mut &bytes[..])?)
}
