//! Why a server cannot be inspected.

/// Why a server cannot be inspected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConnectFailure {
    /// No program listens at the address.
    Refused,
    /// No reply within the time limit: the server hangs, or the address belongs to another program.
    Silent,
    /// The server refuses the login; the server's own text.
    Login(String),
    /// The reply is not one of this kind of server.
    OtherProgram,
    /// Another cause, in the words of the driver or of the server.
    Other(String),
}
