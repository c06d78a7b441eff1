//! What an operator of the machine decides about the receipt printer.

use super::address::PrinterAddress;

/// Columns of a line: the width of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PaperColumns {
    /// Paper of 58 mm: 32 columns.
    #[default]
    Narrow,
    /// Paper of 80 mm: 48 columns.
    Wide,
}

/// The receipt printer of a mall.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrinterOptions {
    /// Where the printer takes its bytes.
    pub address: PrinterAddress,
    /// Columns of a line.
    pub columns: PaperColumns,
    /// Name of the mall, the first line of every page.
    pub heading: String,
}

impl PaperColumns {
    /// Returns the number of columns; a Chinese character takes two.
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            Self::Narrow => 32,
            Self::Wide => 48,
        }
    }

    /// Returns the other width.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Narrow => Self::Wide,
            Self::Wide => Self::Narrow,
        }
    }
}
