//! A mall as the tutorials build it: log-in by a code in Redis, a flash sale with one unit per user, orders
//! written to MySQL later. Speaks like the Java tutorial or like a port to Go.
//!
//! A switch makes it oversell, lose orders, sell twice or fall silent. Shares no code with mallbox.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

mod http;
mod orders;
mod state;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use self::orders::Orders;
use self::state::State;

/// The dialect of a mall that speaks like Java, without Redis and MySQL, for `mallbox bench load`.
pub const DIALECT: &str = include_str!("dialect.toml");

/// How the mall speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Speech {
    /// As the tutorial in Java: bodies in chunks, plain tokens, no prefix.
    #[default]
    Java,
    /// As a port to Go: bodies with a length, tokens behind the word Bearer, the prefix `/api`.
    Go,
}

/// What the mall does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Sells ten units more than it has.
    Oversells,
    /// Does not look whether a user has bought before.
    SellsTwice,
    /// Answers every tenth accepted claim without an order.
    LosesOrders,
    /// Writes every tenth order although its claim was refused for another reason.
    OrdersOnItsOwn,
    /// Writes every tenth order a second time, half a second later, as after a repeated message.
    RepeatsOrders,
    /// Never answers a claim.
    FallsSilent,
}

/// The mall's settings.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How it speaks.
    pub speech: Speech,
    /// Units of every sale.
    pub units: i64,
    /// What it does wrong.
    pub fault: Fault,
    /// URL of the Redis for the login codes; without one, the response to the request for a code has it.
    pub redis: Option<String>,
    /// URL of the MySQL for the orders; without one, the mall only counts them.
    pub mysql: Option<String>,
}

/// The running mall. Dropping it stops it.
#[derive(Debug)]
pub struct ForeignMall {
    address: SocketAddr,
    state: Arc<State>,
    runtime: Option<Runtime>,
}

impl ForeignMall {
    /// Starts the mall on a free port.
    ///
    /// # Panics
    /// A server that cannot be reached.
    #[must_use]
    pub fn start(options: &Options) -> Self {
        let runtime = Runtime::new().unwrap();
        let (address, state) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let orders = Orders::open(options.mysql.as_deref()).await;
            let state = Arc::new(State::new(options.clone(), orders));
            let router = http::router(Arc::clone(&state));
            tokio::spawn(async move { axum::serve(listener, router).await });
            (address, state)
        });
        Self { address, state, runtime: Some(runtime) }
    }

    /// Returns the last claim as it arrived: the value of its header `x`, and its body.
    #[must_use]
    pub fn last_claim(&self) -> (String, String) {
        self.state.last_claim()
    }

    /// Returns the URL without a prefix.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for ForeignMall {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
