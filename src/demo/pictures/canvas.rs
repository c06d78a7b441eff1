//! A writer for the subset of SVG used by the pictures.
//!
//! Whole numbers are fine enough for drawings of 400 by 300 and keep the text short. Colours may carry an
//! alpha digit (`#0002`), used for shadows and highlights.

use std::fmt::Write;

const FONT: &str = "system-ui, 'PingFang SC', 'Noto Sans CJK SC', sans-serif";

/// An SVG picture under construction.
pub(super) struct Canvas {
    text: String,
}

impl Canvas {
    pub(super) fn new(width: i32, height: i32) -> Self {
        let text = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" stroke-linecap="round" stroke-linejoin="round">"#
        );
        Self { text }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }

    /// Draws a rectangle of x, y, width, height with corner radius `r`.
    pub(super) fn rect(&mut self, [x, y, w, h]: [i32; 4], r: i32, fill: &str) {
        if r == 0 {
            // An equivalent path, a quarter shorter.
            self.path(&format!("M{x} {y}h{w}v{h}H{x}z"), fill);
            return;
        }
        self.put(format_args!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{r}" fill="{fill}"/>"#));
    }

    pub(super) fn dot(&mut self, x: i32, y: i32, r: i32, fill: &str) {
        self.put(format_args!(r#"<circle cx="{x}" cy="{y}" r="{r}" fill="{fill}"/>"#));
    }

    /// Draws an ellipse given by centre and semi-axes.
    pub(super) fn oval(&mut self, [x, y, rx, ry]: [i32; 4], fill: &str) {
        self.put(format_args!(r#"<ellipse cx="{x}" cy="{y}" rx="{rx}" ry="{ry}" fill="{fill}"/>"#));
    }

    pub(super) fn path(&mut self, d: &str, fill: &str) {
        let d = tight(d);
        self.put(format_args!(r#"<path d="{d}" fill="{fill}"/>"#));
    }

    /// Draws a stroked path with round ends.
    pub(super) fn line(&mut self, d: &str, colour: &str, width: i32) {
        let d = tight(d);
        self.put(format_args!(r#"<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width}"/>"#));
    }

    /// Draws a line of text centred on `x`, with the baseline at `y`.
    pub(super) fn words(&mut self, x: i32, y: i32, size: i32, fill: &str, words: &str) {
        let words = escape(words);
        self.put(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" font-family="{FONT}" font-weight="600" text-anchor="middle" fill="{fill}">{words}</text>"#
        ));
    }

    /// Starts a group with a transform; [`Canvas::close`] ends the group.
    pub(super) fn open(&mut self, transform: &str) {
        self.put(format_args!(r#"<g transform="{transform}">"#));
    }

    pub(super) fn close(&mut self) {
        self.text.push_str("</g>");
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(element);
    }
}

/// Removes the blanks before minus signs from path data.
fn tight(d: &str) -> String {
    d.replace(" -", "-")
}

/// Escapes text for XML content and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML 1.0 cannot represent these characters.
            c if c.is_control() && !matches!(c, '\t' | '\n' | '\r') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
