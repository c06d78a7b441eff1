//! The address of Redis, parsed from a URL, and connecting to Redis.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use mallbox_storage::OpenError;
use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::io::tcp::TcpSettings;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, ConnectionInfo, IntoConnectionInfo as _, RedisResult, TlsCertificates,
    TlsMode,
};

/// Time limit of an attempt to connect. Connecting and a reply also share the time limit of the whole call,
/// which is less than the sum of both limits.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_millis(400);
/// Time limit of a reply.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_millis(600);
/// Maximum number of calls queued for the socket before the next call has to wait.
const PIPELINE_BUFFER_CALLS: usize = 1024;

/// The kind of deployment behind an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// One server, or a node of a cluster, which the server reports.
    Server,
    /// Sentinels that know the master of this name.
    Sentinel(String),
    /// Nodes of a cluster.
    Cluster,
}

/// The address of Redis. Neither `Display` nor `Debug` shows the password.
#[derive(Clone)]
pub(in super::super) struct Address {
    pub(super) kind: Kind,
    nodes: Vec<ConnectionInfo>,
    hosts: String,
    root_cert: Option<Vec<u8>>,
}

/// A connection shared by any number of calls.
#[derive(Clone)]
pub(super) enum Connection {
    Server(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Address {
    /// Parses `redis[s][+sentinel|-cluster]://[user:password@]host[:port],…/[database or master][?ca=FILE]`.
    pub(in super::super) fn parse(url: &str) -> Result<Self, OpenError> {
        let bad = |detail: &str| OpenError::BadUrl { what: "Redis", detail: detail.to_owned() };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| {
            bad("the URL has no scheme; expected redis://, rediss://, redis+sentinel:// or redis-cluster://")
        })?;
        let plain = scheme.replacen("rediss", "redis", 1);
        let tls = scheme != plain;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (kind, database) = match plain.as_str() {
            "redis" => (Kind::Server, path),
            "redis+sentinel" if path.is_empty() => {
                return Err(bad("the name of the master is missing: redis+sentinel://host:26379/name"));
            }
            "redis+sentinel" => {
                let (name, database) = path.split_once('/').unwrap_or((path, ""));
                (Kind::Sentinel(name.to_owned()), database)
            }
            "redis-cluster" => (Kind::Cluster, path),
            _ => return Err(bad("unknown scheme")),
        };
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (format!("{login}@"), hosts),
            None => (String::new(), authority),
        };
        let nodes = hosts.split(',').map(|host| {
            let port = if matches!(kind, Kind::Sentinel(_)) && !host.contains(':') { ":26379" } else { "" };
            let scheme = if tls { "rediss" } else { "redis" };
            // The driver's error text could repeat the URL.
            let info = format!("{scheme}://{login}{host}{port}/{database}").into_connection_info();
            let info = info.map_err(|_| bad("invalid host, port, password or database"))?;
            Ok(info.set_tcp_settings(TcpSettings::default().set_nodelay(true)))
        });
        let nodes = nodes.collect::<Result<Vec<_>, OpenError>>()?;
        if kind == Kind::Server && nodes.len() > 1 {
            return Err(bad("several hosts need redis-cluster:// or redis+sentinel://"));
        }
        let root_cert = match query.split_once('=') {
            None if query.is_empty() => None,
            Some(("ca", file)) if tls => Some(read_cert(Path::new(file))?),
            _ => return Err(bad("the only supported parameter is ca=FILE, with TLS")),
        };
        Ok(Self { kind, nodes, hosts: hosts.to_owned(), root_cert })
    }

    /// Returns the address of the cluster that contains the server.
    pub(super) fn as_cluster(&self) -> Self {
        Self { kind: Kind::Cluster, ..self.clone() }
    }

    /// Returns whether sentinels watch the server.
    pub(super) fn has_sentinels(&self) -> bool {
        matches!(self.kind, Kind::Sentinel(_))
    }

    fn first(&self) -> RedisResult<ConnectionInfo> {
        self.nodes.first().cloned().ok_or_else(|| (redis::ErrorKind::InvalidClientConfig, "no host").into())
    }

    fn certificates(&self) -> TlsCertificates {
        TlsCertificates { client_tls: None, root_cert: self.root_cert.clone() }
    }

    fn client(&self, node: ConnectionInfo) -> RedisResult<Client> {
        match self.root_cert {
            Some(_) => Client::build_with_tls(node, self.certificates()),
            None => Client::open(node),
        }
    }

    /// Connects to the server, to the master, or to the whole cluster. Also returns the server's address;
    /// empty for a cluster.
    pub(super) async fn connect(&self) -> RedisResult<(Connection, String)> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_pipeline_buffer_size(PIPELINE_BUFFER_CALLS);
        match &self.kind {
            Kind::Cluster => {
                Ok((Connection::Cluster(self.cluster()?.get_async_connection().await?), String::new()))
            }
            kind => {
                let client = match kind {
                    Kind::Sentinel(name) => self.sentinel(name)?.async_get_client().await?,
                    _ => self.client(self.first()?)?,
                };
                let place = client.get_connection_info().addr().to_string();
                let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
                Ok((Connection::Server(connection), place))
            }
        }
    }

    /// Connects a subscriber to the server, to the master, or to the first reachable node.
    pub(super) async fn listener(&self) -> RedisResult<redis::aio::PubSub> {
        if let Kind::Sentinel(name) = &self.kind {
            return self.sentinel(name)?.async_get_client().await?.get_async_pubsub().await;
        }
        let mut last = Err((redis::ErrorKind::InvalidClientConfig, "no host").into());
        for node in &self.nodes {
            last = self.client(node.clone())?.get_async_pubsub().await;
            if last.is_ok() {
                break;
            }
        }
        last
    }

    /// Creates a client for each sentinel. Sentinels use the master's password, if there is any.
    pub(super) fn sentinel_clients(&self) -> RedisResult<Vec<Client>> {
        let of_sentinel = |node: &ConnectionInfo| {
            let settings = node.redis_settings().clone().set_db(0);
            self.client(node.clone().set_redis_settings(settings))
        };
        self.nodes.iter().map(of_sentinel).collect()
    }

    fn sentinel(&self, name: &str) -> RedisResult<SentinelClient> {
        let hosts = self.nodes.iter().map(|node| node.addr().clone());
        let mut builder = SentinelClientBuilder::new(hosts, name, SentinelServerType::Master)?
            .set_client_to_redis_tcp_settings(TcpSettings::default().set_nodelay(true));
        let login = self.first()?;
        let login = login.redis_settings();
        builder = builder.set_client_to_redis_db(login.db());
        // Sentinels use the master's password, if there is any.
        if let Some(user) = login.username() {
            builder = builder.set_client_to_redis_username(user).set_client_to_sentinel_username(user);
        }
        if let Some(password) = login.password() {
            builder =
                builder.set_client_to_redis_password(password).set_client_to_sentinel_password(password);
        }
        if self.has_tls() {
            builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
        }
        if self.root_cert.is_some() {
            builder = builder
                .set_client_to_redis_certificates(self.certificates())
                .set_client_to_sentinel_certificates(self.certificates());
        }
        builder.build()
    }

    fn cluster(&self) -> RedisResult<ClusterClient> {
        let mut builder = ClusterClient::builder(self.nodes.clone())
            .connection_timeout(CONNECT_TIMEOUT)
            .response_timeout(RESPONSE_TIMEOUT)
            .overall_response_timeout(Some(RESPONSE_TIMEOUT))
            .tcp_settings(TcpSettings::default().set_nodelay(true))
            // A slot that moves is found on the second try, and a dead node is not worth a third.
            .retries(2)
            .min_retry_wait(10)
            .max_retry_wait(100);
        if self.root_cert.is_some() {
            builder = builder.certs(self.certificates());
        }
        builder.build()
    }

    fn has_tls(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node.addr(), redis::ConnectionAddr::TcpTls { .. }))
    }
}

fn read_cert(path: &Path) -> Result<Vec<u8>, OpenError> {
    std::fs::read(path).map_err(|source| OpenError::Io {
        path: path.to_owned(),
        what: "cannot read the certificate",
        source,
    })
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hosts)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address")
            .field("kind", &self.kind)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_from_its_url() {
        for (url, kind, hosts, db) in [
            ("redis://localhost", Kind::Server, "localhost", 0),
            ("rediss://mall:p%40ss@redis.example:7000/3", Kind::Server, "redis.example:7000", 3),
            ("redis+sentinel://a,b:7/mall/2", Kind::Sentinel("mall".to_owned()), "a,b:7", 2),
            ("redis-cluster://:secret@a:1,b:2", Kind::Cluster, "a:1,b:2", 0),
        ] {
            let address = Address::parse(url).unwrap();
            assert_eq!((&address.kind, address.to_string().as_str()), (&kind, hosts), "{url}");
            assert!(address.nodes.iter().all(|node| node.redis_settings().db() == db), "{url}");
            assert_eq!(address.has_tls(), url.starts_with("rediss"), "{url}");
        }
        let address = Address::parse("rediss://mall:p%40ss@redis.example").unwrap();
        assert_eq!(address.nodes[0].redis_settings().password(), Some("p@ss"));
    }

    #[test]
    fn a_bad_url_is_refused_and_never_shown() {
        for url in [
            "",
            "localhost",
            "http://a",
            "redis://:secret@a:port",
            "redis://:secret@a,b",
            "redis://:secret@a/x",
            "redis+sentinel://:secret@a",
            "redis://:secret@a?ca=/none",
            "rediss://:secret@a?ca=/none",
            "rediss://:secret@a?password=secret",
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        let address = Address::parse("redis://user:secret@a").unwrap();
        assert!(!format!("{address} {address:?}").contains("secret"));
    }
}
