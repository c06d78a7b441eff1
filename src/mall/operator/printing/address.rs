//! Addresses of receipt printers: a host and port of the network, or the path of a device.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;

/// Port of printers that take raw bytes over TCP.
const USUAL_PORT: u16 = 9100;
/// Beginning of the address of a printer in the network.
const SCHEME: &str = "tcp://";

/// Where a printer takes its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PrinterAddress {
    /// A printer that takes bytes over TCP.
    Network {
        /// Name or IP address, IPv6 without brackets.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// A device such as `/dev/usb/lp0`, or a file to append to.
    Device(PathBuf),
}

/// Why a text is no address of a printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrinterAddressError {
    /// Neither `tcp://…` nor an absolute path.
    Form,
    /// The host is missing or has characters that no host has.
    Host,
    /// The port is no number from 1 to 65535.
    Port,
}

impl PrinterAddress {
    /// Parses `tcp://host`, `tcp://host:port`, `tcp://[IPv6]:port` or an absolute path. Opens nothing.
    ///
    /// # Errors
    /// [`PrinterAddressError`] naming the wrong part.
    pub fn parse(text: &str) -> Result<Self, PrinterAddressError> {
        if let Some(rest) = text.strip_prefix(SCHEME) {
            let (host, port) = host_and_port(rest.strip_suffix('/').unwrap_or(rest))?;
            return Ok(Self::Network { host, port });
        }
        if text.starts_with('/') && !text.contains('\0') {
            Ok(Self::Device(PathBuf::from(text)))
        } else {
            Err(PrinterAddressError::Form)
        }
    }
}

impl fmt::Display for PrinterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network { host, port } if host.contains(':') => write!(f, "{SCHEME}[{host}]:{port}"),
            Self::Network { host, port } => write!(f, "{SCHEME}{host}:{port}"),
            Self::Device(path) => path.display().fmt(f),
        }
    }
}

fn host_and_port(text: &str) -> Result<(String, u16), PrinterAddressError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or(PrinterAddressError::Host)?;
            host.parse::<Ipv6Addr>().map_err(|_| PrinterAddressError::Host)?;
            (host, port)
        }
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            if host.is_empty() || !host.bytes().all(is_host_byte) {
                return Err(PrinterAddressError::Host);
            }
            (host, port)
        }
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => USUAL_PORT,
        // `parse` alone would take `+9100`.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0).ok_or(PrinterAddressError::Port)?
        }
        _ => return Err(PrinterAddressError::Port),
    };
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_or_an_absolute_path() {
        for (text, shown) in [
            ("tcp://192.0.2.7", "tcp://192.0.2.7:9100"),
            ("tcp://printer.shop.test:9101", "tcp://printer.shop.test:9101"),
            ("tcp://till_1/", "tcp://till_1:9100"),
            ("tcp://[2001:db8::7]", "tcp://[2001:db8::7]:9100"),
            ("tcp://[::1]:1", "tcp://[::1]:1"),
            ("/dev/usb/lp0", "/dev/usb/lp0"),
        ] {
            let address = PrinterAddress::parse(text).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(PrinterAddress::parse(shown), Ok(address));
        }
        for (text, error) in [
            ("", PrinterAddressError::Form),
            ("lp0", PrinterAddressError::Form),
            ("192.0.2.7:9100", PrinterAddressError::Form),
            ("http://192.0.2.7", PrinterAddressError::Form),
            ("TCP://192.0.2.7", PrinterAddressError::Form),
            ("/dev/l\0p", PrinterAddressError::Form),
            ("tcp://", PrinterAddressError::Host),
            ("tcp://:9100", PrinterAddressError::Host),
            ("tcp://me@printer", PrinterAddressError::Host),
            ("tcp://printer/queue", PrinterAddressError::Host),
            ("tcp://[::1", PrinterAddressError::Host),
            ("tcp://[printer]", PrinterAddressError::Host),
            ("tcp://打印机", PrinterAddressError::Host),
            ("tcp://printer:", PrinterAddressError::Port),
            ("tcp://printer:0", PrinterAddressError::Port),
            ("tcp://printer:65536", PrinterAddressError::Port),
            ("tcp://printer:+1", PrinterAddressError::Port),
            ("tcp://::1", PrinterAddressError::Host),
            ("tcp://[::1]9100", PrinterAddressError::Port),
        ] {
            assert_eq!(PrinterAddress::parse(text), Err(error), "{text}");
        }
    }
}
