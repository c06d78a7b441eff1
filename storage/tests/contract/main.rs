//! The one suite that every back end is held to. A second back end is one line: a `mod` in [`contract!`].
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod audit;
mod cache;
mod cache_faults;
mod cancellations;
mod comments;
mod dead_letters;
mod deadlines;
#[path = "../../../tests/common/dice.rs"]
#[expect(dead_code, reason = "other tests roll more kinds of dice")]
mod dice;
mod feed_faults;
mod feeds;
mod feeds_model;
mod follows;
mod geo_index;
mod geo_index_model;
mod import;
mod likes;
mod locks;
mod mysql_faults;
mod mysql_import;
mod mysql_processes;
mod mysql_setups;
mod notes;
mod order_counts;
mod order_lists;
mod order_log;
mod orders;
mod orders_model;
mod outbox;
mod payment_modes;
mod payments;
mod pictures;
mod production_world;
mod purchases;
mod rate_limits;
mod redis_epochs;
mod redis_faults;
mod redis_geo;
mod redis_instances;
mod redis_setups;
mod redis_world;
mod reports;
mod sales;
mod sequences;
mod sessions;
mod settings;
mod shops;
mod sign_faults;
mod sign_ins;
mod stock;
mod users;
mod visit_faults;
mod visitors;
mod vouchers;
mod world;

/// Makes a test of each case per back end: embedded; on one Redis and MariaDB, over TLS and with passwords; on a cluster of
/// three masters and MariaDB.
/// A case left off the list is dead code, which `-D warnings` refuses.
#[macro_export]
macro_rules! contract {
    ($($case:ident),+ $(,)?) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(&$crate::world::embedded().await).await;
            })+
        }
        mod redis {
            $(#[tokio::test(flavor = "multi_thread")]
            #[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
            async fn $case() {
                super::$case(&$crate::production_world::single().await).await;
            })+
        }
        mod redis_cluster {
            $(#[tokio::test(flavor = "multi_thread")]
            #[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
            async fn $case() {
                super::$case(&$crate::production_world::cluster().await).await;
            })+
        }
    };
}
