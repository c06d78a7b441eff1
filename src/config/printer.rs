//! The flags of the receipt printer.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::language::{Language, sentence};
use crate::mall::operator::printing::{PaperColumns, PrinterAddress, PrinterAddressError, PrinterOptions};

/// Longest name at the top of a receipt, in characters.
const HEADING_MAX_CHARS: usize = 40;

/// The flags of the receipt printer that `serve` and `demo` share.
#[derive(Args, Clone, Debug)]
pub struct PrinterConfig {
    /// The receipt printer (ESC/POS) of operators: `tcp://HOST:PORT`, by default port 9100, or the path of a
    /// device such as /dev/usb/lp0.
    #[arg(long, env = "MALLBOX_PRINTER", value_name = "ADDRESS")]
    pub printer: Option<String>,
    /// Characters per line of the receipt printer: 32 on paper of 58 mm, 48 on paper of 80 mm.
    #[arg(long, env = "MALLBOX_PRINTER_COLUMNS", default_value = "32", value_name = "32|48", value_parser = columns())]
    pub printer_columns: u32,
    /// The name of the mall at the top of receipts, 1 to 40 characters.
    #[arg(long, env = "MALLBOX_PRINTER_HEADING", default_value = "mallbox", value_name = "NAME")]
    pub printer_heading: String,
}

/// Why the flags of the receipt printer cannot be used.
#[derive(Debug)]
pub enum PrinterConfigError {
    /// The value of --printer is no address.
    Address(String, PrinterAddressError),
    /// --printer names a directory.
    Directory(PathBuf),
    /// The value of --printer-heading is empty or too long, or has control characters.
    Heading(String),
}

impl PrinterConfigError {
    /// Returns the message: flag, value, and the expected value.
    #[must_use]
    pub fn words(&self, l: Language) -> String {
        match self {
            Self::Address(text, PrinterAddressError::Form) => sentence!(
                l,
                "--printer应为tcp://192.168.1.50:9100这样的地址，或/dev/usb/lp0这样的绝对路径，而不是“{text}”",
                "--printer: expected an address such as tcp://192.168.1.50:9100, or an absolute path such as \
                 /dev/usb/lp0, not \"{text}\""
            ),
            Self::Address(text, PrinterAddressError::Host) => sentence!(
                l,
                "--printer {text}：tcp://后面应为主机名或IP地址，IPv6地址写在方括号里",
                "--printer {text}: expected a host name or an IP address after tcp://, IPv6 in brackets"
            ),
            Self::Address(text, PrinterAddressError::Port) => sentence!(
                l,
                "--printer {text}：端口应为1到65535的整数",
                "--printer {text}: expected a port from 1 to 65535"
            ),
            Self::Directory(path) => {
                let path = path.display();
                sentence!(
                    l,
                    "--printer {path}是目录；请指定设备或文件，例如/dev/usb/lp0",
                    "--printer {path} is a directory; name a device or a file, such as /dev/usb/lp0"
                )
            }
            Self::Heading(text) => sentence!(
                l,
                "--printer-heading应为1到{HEADING_MAX_CHARS}个字，不能有控制字符，而不是“{text}”",
                "--printer-heading: expected 1 to {HEADING_MAX_CHARS} characters without control characters, \
                 not \"{text}\""
            ),
        }
    }
}

impl PrinterConfig {
    /// Returns the printer that the flags name, if any. A device need not exist yet: USB printers come and
    /// go.
    ///
    /// # Errors
    /// [`PrinterConfigError`]: a value cannot be used.
    pub fn options(&self) -> Result<Option<PrinterOptions>, PrinterConfigError> {
        let heading = self.printer_heading.trim();
        let length = heading.chars().count();
        if !(1..=HEADING_MAX_CHARS).contains(&length) || heading.chars().any(char::is_control) {
            return Err(PrinterConfigError::Heading(heading.escape_debug().to_string()));
        }
        let Some(text) = &self.printer else { return Ok(None) };
        let address = PrinterAddress::parse(text)
            .map_err(|error| PrinterConfigError::Address(text.escape_debug().to_string(), error))?;
        if let PrinterAddress::Device(path) = &address
            && Path::is_dir(path)
        {
            return Err(PrinterConfigError::Directory(path.clone()));
        }
        let columns = if self.printer_columns == 48 { PaperColumns::Wide } else { PaperColumns::Narrow };
        Ok(Some(PrinterOptions { address, columns, heading: heading.to_owned() }))
    }
}

/// Parses the number of characters per line.
fn columns() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["32", "48"]).map(|text| if text == "48" { 48 } else { 32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(printer: Option<&str>, heading: &str) -> PrinterConfig {
        PrinterConfig {
            printer: printer.map(str::to_owned),
            printer_columns: 48,
            printer_heading: heading.to_owned(),
        }
    }

    #[test]
    fn a_printer_is_an_address_a_width_and_a_heading() {
        assert!(config(None, "mallbox").options().unwrap().is_none());
        let printer = config(Some("tcp://192.0.2.7"), " 城西广场 ").options().unwrap().unwrap();
        assert_eq!(printer.address.to_string(), "tcp://192.0.2.7:9100");
        assert_eq!((printer.columns.count(), printer.heading.as_str()), (48, "城西广场"));
        assert!(config(Some("/dev/usb/lp-not-there-yet"), "mallbox").options().unwrap().is_some());
    }

    #[test]
    fn a_wrong_value_is_named_with_its_flag_and_what_was_expected() {
        let long = "长".repeat(41);
        for (printer, heading, en, zh) in [
            (Some("lp0"), "m", "--printer: expected an address such as", "绝对路径，而不是“lp0”"),
            (Some(""), "m", "not \"\"", "而不是“”"),
            (Some("tcp://a b"), "m", "--printer tcp://a b: expected a host name", "主机名或IP地址"),
            (Some("tcp://a:0"), "m", "expected a port from 1 to 65535", "端口应为1到65535的整数"),
            (Some("/dev"), "m", "--printer /dev is a directory", "/dev是目录"),
            (Some("/dev\n"), "m\n\u{1B}", "--printer-heading: expected 1 to 40", "不能有控制字符"),
            (None, "  ", "--printer-heading: expected 1 to 40", "--printer-heading应为"),
            (None, &long, "--printer-heading: expected 1 to 40", "--printer-heading应为"),
        ] {
            let error = config(printer, heading).options().unwrap_err();
            let words = (error.words(Language::En), error.words(Language::Zh));
            assert!(words.0.contains(en) && words.1.contains(zh), "{words:?}");
            assert!(!words.0.contains('\u{1B}'), "{words:?}");
        }
    }
}
