//! The address of MySQL, parsed from its URL, and the settings of every connection.

use std::path::PathBuf;
use std::time::Duration;

use mallbox_storage::OpenError;
use mysql_async::{Opts, OptsBuilder, PoolConstraints, SslOpts, UrlError};

/// Connections per process, unless the URL says otherwise: more than a few dozen make a server slower, not
/// faster.
const CONNECTIONS_DEFAULT: usize = 16;
/// Prepared statements cached per connection, least recently used out first: enough for claims, orders and
/// their pages. By default, a server allows 16,382 prepared statements over all connections, and 151
/// connections: the connections run out first.
pub(super) const PREPARED_STATEMENTS_MAX: usize = 64;
/// An idle connection is closed after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// TCP keepalive interval: detects a dead peer even on an idle connection.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Initial settings of every connection.
///
/// READ COMMITTED: a statement sees all earlier commits of other transactions, as retries and reads under a
/// lock require, and the gaps between rows are not locked. The lock wait timeout is one second (the minimum):
/// after that time the caller has given up, and a longer wait would only hold up other transactions.
const SETTINGS: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = 1",
];

/// The address of MySQL. Has no `Debug`, since it may contain a password.
#[derive(Clone)]
pub(in super::super) struct Address {
    /// How to connect to the mall's database.
    pub(super) opts: Opts,
    /// Name of the database.
    pub(in super::super) database: String,
}

impl Address {
    /// Parses `mysql://[user[:password]@]host[:port]/database[?require_ssl=true][&ca=FILE]`, and the driver's
    /// further parameters.
    pub(in super::super) fn parse(url: &str) -> Result<Self, OpenError> {
        let bad = |detail: String| OpenError::BadUrl { what: "MySQL", detail };
        if url.split_once('?').is_some_and(|(_, query)| query.contains('@')) {
            return Err(bad("a literal ? or @ must be written %3F or %40".into()));
        }
        let (url, OwnParams { ca, connections }) = without_ours(url).map_err(bad)?;
        let opts = Opts::from_url(&url).map_err(|error| bad(describe(error)))?;
        let database = opts.db_name().map(str::to_owned).ok_or_else(|| {
            bad("the URL has no database; expected mysql://user:password@host:3306/database".into())
        })?;
        // A reset would drop the prepared statements, and costs a round trip.
        let pool = opts.pool_opts().clone().with_constraints(connections).with_reset_connection(false);
        let ssl = opts.ssl_opts().cloned();
        if ca.is_some() && ssl.is_none() {
            return Err(bad("ca=FILE needs require_ssl=true".into()));
        }
        let builder = OptsBuilder::from_opts(opts)
            .pool_opts(pool.with_inactive_connection_ttl(IDLE_TIMEOUT))
            .ssl_opts(ssl.map(|ssl| trusting(ssl, ca)))
            // Connects to the address in the URL, and not to the local socket of another server.
            .prefer_socket(false)
            // An update that changes nothing still counts its row as found.
            .client_found_rows(true)
            .stmt_cache_size(PREPARED_STATEMENTS_MAX)
            .tcp_keepalive(Some(KEEPALIVE))
            .init(SETTINGS.map(str::to_owned).to_vec());
        Ok(Self { opts: builder.into(), database })
    }

    /// Returns host, port and database, without user and password.
    pub(in super::super) fn place(&self) -> String {
        format!("{}:{}/{}", self.opts.ip_or_hostname(), self.opts.tcp_port(), self.database)
    }

    /// Returns the number of connections of a process.
    pub(super) fn pool_max(&self) -> usize {
        self.opts.pool_opts().constraints().max()
    }

    /// Returns the address for messages: host, port and database.
    pub(super) fn shown(&self) -> String {
        format!("MySQL at {}", self.place())
    }

    /// Returns the options for a connection without a database, for the time before the database exists.
    pub(super) fn of_server(&self) -> Opts {
        OptsBuilder::from_opts(self.opts.clone()).db_name(None::<String>).into()
    }
}

/// Describes the error in a URL without the values of parameters, since a value may be a password.
fn describe(error: UrlError) -> String {
    match error {
        UrlError::UnknownParameter { param } => format!("unknown parameter {param}"),
        UrlError::InvalidParamValue { param, .. } => format!("invalid value of parameter {param}"),
        UrlError::UnsupportedScheme { .. } => "the URL does not begin with mysql://".into(),
        other => other.to_string(),
    }
}

/// Parameters unknown to the driver, or known to the driver only as half of a pair.
struct OwnParams {
    ca: Option<PathBuf>,
    connections: PoolConstraints,
}

/// Splits mallbox's own parameters from the URL.
fn without_ours(url: &str) -> Result<(String, OwnParams), String> {
    let (before, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut ca, mut connections, mut others) = (None, CONNECTIONS_DEFAULT, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("ca", file)) => ca = Some(PathBuf::from(file)),
            Some(("pool_max", number)) => connections = number.parse().unwrap_or(0),
            _ => others.push(pair),
        }
    }
    let connections = PoolConstraints::new(0, connections)
        .ok_or("invalid pool_max: expected a number of connections, 1 or more")?;
    let url = if others.is_empty() { before.to_owned() } else { format!("{before}?{}", others.join("&")) };
    Ok((url, OwnParams { ca, connections }))
}

/// Trusts only the named certificate, if the URL names one.
fn trusting(ssl: SslOpts, ca: Option<PathBuf>) -> SslOpts {
    match ca {
        Some(file) => ssl.with_root_certs(vec![file.into()]).with_disable_built_in_roots(true),
        None => ssl,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        Address::parse(url).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address = Address::parse("mysql://shop:s%40cret@db.example:3307/mall?pool_max=7").unwrap();
        assert_eq!(address.shown(), "MySQL at db.example:3307/mall");
        assert_eq!(address.opts.pass(), Some("s@cret"));
        assert_eq!(address.opts.pool_opts().constraints().max(), 7);
        assert_eq!(address.of_server().db_name(), None);
    }

    #[test]
    fn a_bad_url_is_refused_in_words_that_do_not_repeat_it() {
        for url in [
            "secret",
            "mysql://root:secret@",
            "mysql://root:secret@host",
            "mysql://root:secret@host:port/mall",
            "postgres://root:secret@host/mall",
            "mysql://root:secret@host/mall?no_such_thing=secret",
            "mysql://root:secret@host/mall?pool_max=secret",
            "mysql://root:secret@host/mall?ca=/secret.pem",
            "mysql://root:not?secret=this@host/mall",
        ] {
            let words = refusal(url);
            assert!(words.starts_with("invalid MySQL address: "), "{url}: {words}");
            assert!(!words.contains("secret"), "{words}");
        }
    }

    #[test]
    fn a_certificate_that_is_named_is_the_only_one_trusted() {
        let address =
            Address::parse("mysql://host/mall?require_ssl=true&ca=/etc/mall/ca.pem&pool_max=3").unwrap();
        let ssl = address.opts.ssl_opts().unwrap();
        assert!(ssl.disable_built_in_roots() && !ssl.accept_invalid_certs() && !ssl.skip_domain_validation());
        assert_eq!(ssl.root_certs().len(), 1);
        let known = Address::parse("mysql://host/mall?require_ssl=true").unwrap();
        assert!(!known.opts.ssl_opts().unwrap().disable_built_in_roots());
    }
}
