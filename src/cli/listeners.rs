//! The addresses at which a mall is served.

use crate::http::{
    App, Bound, Gateway, SeparateSites, Server, ServerError, ServerOptions, ServerThreads, SiteOptions,
    separate_sites, site,
};

/// The bound addresses of a mall.
pub(super) struct Listeners {
    /// The address for everybody, or for customers if operators have an address of their own.
    pub(super) main: Bound,
    /// The address for operators alone.
    pub(super) operators: Option<Bound>,
}

impl Listeners {
    /// Builds the sites for these addresses.
    pub(super) fn sites(&self, app: &App, options: &SiteOptions) -> Sites {
        if self.operators.is_none() {
            return Sites { main: site(app, options), operators: None };
        }
        let SeparateSites { customers, operators } = separate_sites(app, options);
        Sites { main: customers, operators: Some(operators) }
    }

    /// Starts serving at all addresses.
    ///
    /// # Errors
    /// [`ServerError::Thread`]: a thread cannot be started.
    pub(super) fn serve(self, sites: &Sites, options: ServerOptions) -> Result<Servers, ServerError> {
        let mut operators = None;
        if let (Some(bound), Some(site)) = (self.operators, &sites.operators) {
            // Each server counts its own connections: customers cannot take the operators' places.
            operators = Some(bound.serve(site, options)?);
        }
        Ok(Servers { main: self.main.serve(&sites.main, options)?, operators })
    }
}

/// The sites of a mall, each for one address.
pub(super) struct Sites {
    /// The site of [`Listeners::main`].
    pub(super) main: Gateway,
    /// The site of [`Listeners::operators`].
    operators: Option<Gateway>,
}

/// The running servers of a mall.
pub(super) struct Servers {
    /// The server of [`Listeners::main`].
    pub(super) main: Server,
    /// The server of [`Listeners::operators`].
    pub(super) operators: Option<Server>,
}

impl Servers {
    /// Returns the threads of all servers.
    pub(super) fn threads(&self) -> Vec<ServerThreads> {
        [Some(&self.main), self.operators.as_ref()].into_iter().flatten().map(Server::threads).collect()
    }

    /// Drains all servers concurrently.
    pub(super) async fn drain(self) {
        let operators = async {
            if let Some(operators) = self.operators {
                operators.drain().await;
            }
        };
        tokio::join!(self.main.drain(), operators);
    }
}
