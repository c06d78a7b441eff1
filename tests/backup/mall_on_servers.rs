//! A mall in Redis and MySQL with room for files, and commands on it.
#![cfg(feature = "production")]

use std::collections::BTreeMap;

use anyhow::ensure;
use mallbox::place::Place;
use mallbox_storage::{OrderId, Storage};
use mallbox_storage_production::ProductionOptions;
use mallbox_test_servers::{MariaDb, Redis};
use mysql_async::prelude::Queryable as _;
use tempfile::TempDir;

use crate::common::mall::{self, Mall, Size};
use crate::common::server::Server;
use crate::process::mallbox;

/// Both servers, a mall on them, and room for files.
pub struct Servers {
    pub redis: Redis,
    pub mysql: MariaDb,
    pub dir: TempDir,
}

/// A mall on the servers: its database and the prefix of its keys.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    pub database: &'a str,
    pub prefix: &'a str,
}

pub const MALL: Named<'_> = Named { database: "mall", prefix: "mallbox" };
pub const RESTORED: Named<'_> = Named { database: "restored", prefix: "restored" };

impl Servers {
    pub fn start() -> anyhow::Result<Self> {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        Ok(Self { redis: Redis::start()?, mysql: MariaDb::start()?, dir })
    }

    pub fn options(&self, mall: Named<'_>) -> ProductionOptions {
        let mut options = ProductionOptions::new(self.redis.url(), self.mysql.url(mall.database));
        options.redis.prefix = mall.prefix.to_owned();
        options
    }

    /// Opens the storage of a mall for some calls.
    pub fn with<T>(
        &self,
        mall: Named<'_>,
        work: impl AsyncFnOnce(&Storage) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        mall::runtime()?.block_on(async {
            let storage = Place::Production(self.options(mall)).open().await?;
            let done = work(&storage).await?;
            storage.base.upkeep.close().await?;
            Ok(done)
        })
    }

    pub fn fill(&self, people: usize, sales: usize) -> anyhow::Result<Mall> {
        let size = Size { people, sales, units: people as u64 };
        let made = self.with(MALL, async |storage| mall::make_in(storage, size).await)?;
        // Its first start stores what a mall needs before it opens.
        self.serve()?.stop()?;
        Ok(made)
    }

    pub fn serve(&self) -> anyhow::Result<Server> {
        Server::start_on(&self.redis.url(), &self.mysql.url("mall"), &self.dir.path().join("log"))
    }

    pub fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Returns a command on a mall, whose arguments may name files as `@name`.
    pub fn command(&self, mall: Named<'_>, arguments: &[&str]) -> std::process::Command {
        let named = arguments.iter().map(|word| match word.strip_prefix('@') {
            Some(name) => self.path(name),
            None => (*word).to_owned(),
        });
        let named: Vec<String> = named.collect();
        let mut command = mallbox(&named.iter().map(String::as_str).collect::<Vec<_>>());
        command.env("MALLBOX_REDIS", self.redis.url()).env("MALLBOX_MYSQL", self.mysql.url(mall.database));
        command.env("MALLBOX_REDIS_PREFIX", mall.prefix);
        command
    }

    /// Runs a command. Returns its exit code, and its output followed by its errors.
    pub fn run(&self, mall: Named<'_>, arguments: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
        let output = self.command(mall, arguments).output()?;
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        Ok((output.status.code(), text.concat()))
    }

    pub fn done(&self, mall: Named<'_>, arguments: &[&str]) -> anyhow::Result<String> {
        let (code, said) = self.run(mall, arguments)?;
        ensure!(code == Some(0), "{arguments:?}: {code:?} {said}");
        Ok(said)
    }

    pub fn refused(&self, mall: Named<'_>, arguments: &[&str], words: &str) -> anyhow::Result<()> {
        let (code, said) = self.run(mall, arguments)?;
        ensure!(code.is_some_and(|code| code != 0) && said.contains(words), "{arguments:?}: {code:?} {said}");
        Ok(())
    }

    pub fn backup(&self, name: &str) -> anyhow::Result<String> {
        self.done(MALL, &["backup", name])
    }

    /// Removes a restored mall.
    pub fn remove(&self, mall: Named<'_>) -> anyhow::Result<()> {
        self.sql("mysql", &format!("DROP DATABASE IF EXISTS {}", mall.database))?;
        let keys = self.keys(mall)?;
        mall::runtime()?.block_on(async {
            let client = redis::Client::open(self.redis.url())?;
            let mut connection = client.get_multiplexed_async_connection().await?;
            for key in keys {
                let _: u64 = redis::cmd("DEL").arg(key).query_async(&mut connection).await?;
            }
            Ok(())
        })
    }

    pub fn keys(&self, mall: Named<'_>) -> anyhow::Result<Vec<String>> {
        let prefix = format!("{}:", mall.prefix);
        let keys = self.all_keys()?.into_iter();
        Ok(keys.filter(|key| key.trim_start_matches('{').starts_with(&prefix)).collect())
    }

    pub fn all_keys(&self) -> anyhow::Result<Vec<String>> {
        mall::runtime()?.block_on(async {
            let client = redis::Client::open(self.redis.url())?;
            let mut connection = client.get_multiplexed_async_connection().await?;
            Ok(redis::cmd("KEYS").arg("*").query_async(&mut connection).await?)
        })
    }

    pub fn sql(&self, database: &str, statement: &str) -> anyhow::Result<()> {
        mall::runtime()?.block_on(async {
            let mut conn = mysql_async::Conn::from_url(self.mysql.url(database)).await?;
            Ok(conn.query_drop(statement).await?)
        })
    }

    /// Adds a picture of the first user, with the bytes that an expression of SQL makes.
    pub fn add_picture(&self, id: u64, content: &str, bytes: u64) -> anyhow::Result<()> {
        let row = format!(
            "INSERT INTO pictures (id, name, owner_id, kind, bytes, created_ms, touched_ms)
             SELECT {id}, '/blogs/0/0/{id}.jpg', MIN(id), 1, {bytes}, 1, 1 FROM users"
        );
        self.sql("mall", &row)?;
        self.sql(
            "mall",
            &format!("INSERT INTO picture_contents (picture_id, content) VALUES ({id}, {content})"),
        )
    }

    pub fn databases(&self) -> anyhow::Result<Vec<String>> {
        mall::runtime()?.block_on(async {
            let mut conn = mysql_async::Conn::from_url(self.mysql.url("mysql")).await?;
            Ok(conn.query("SHOW DATABASES").await?)
        })
    }

    /// Returns the definition, with the next id, and the rows of each table.
    pub fn tables(&self, mall: Named<'_>) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
        mall::runtime()?.block_on(async {
            let mut conn = mysql_async::Conn::from_url(self.mysql.url(mall.database)).await?;
            let tables: Vec<String> = conn.query("SHOW TABLES").await?;
            let mut found = BTreeMap::new();
            for table in tables {
                let made: Option<(String, String)> =
                    conn.query_first(format!("SHOW CREATE TABLE {table}")).await?;
                let rows: Vec<mysql_async::Row> = conn.exec(format!("SELECT * FROM {table}"), ()).await?;
                // In full: what `Debug` shows of a long text is its beginning.
                let text = |value: &mysql_async::Value| value.as_sql(true);
                let rows =
                    rows.into_iter().map(|row| row.unwrap().iter().map(text).collect::<Vec<_>>().join(" "));
                let of_table = made.map(|(_, made)| made).into_iter().chain(rows).collect();
                found.insert(table, of_table);
            }
            Ok(found)
        })
    }

    pub fn missing(&self, mall: Named<'_>, orders: &[OrderId]) -> anyhow::Result<usize> {
        self.with(mall, async |storage| {
            let mut missing = 0;
            for order in orders {
                missing += usize::from(storage.selling.orders.get(*order).await?.is_none());
            }
            Ok(missing)
        })
    }

    pub fn verify(&self, mall: Named<'_>) -> anyhow::Result<()> {
        self.done(mall, &["verify"]).map(drop)
    }
}
