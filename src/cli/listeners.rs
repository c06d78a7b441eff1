//! The addresses at which a mall is served.

use crate::http::{App, Bound, Server, ServerError, ServerOptions, SiteOptions, separate_sites, site};

/// The bound addresses of a mall.
pub(super) struct Listeners {
    /// The address for everybody, or for customers if operators have an address of their own.
    pub(super) main: Bound,
    /// The address for operators alone.
    pub(super) operators: Option<Bound>,
}

impl Listeners {
    /// Starts serving at all addresses.
    ///
    /// # Errors
    /// [`ServerError::Thread`]: a thread cannot be started.
    pub(super) fn serve(
        self,
        app: &App,
        site_options: &SiteOptions,
        options: ServerOptions,
    ) -> Result<Servers, ServerError> {
        let Some(operators) = self.operators else {
            return Ok(Servers {
                main: self.main.serve(&site(app, site_options), options)?,
                operators: None,
            });
        };
        let sites = separate_sites(app, site_options);
        // Each server counts its own connections: customers cannot take the operators' places.
        let operators = operators.serve(&sites.operators, options)?;
        Ok(Servers { main: self.main.serve(&sites.customers, options)?, operators: Some(operators) })
    }
}

/// The running servers of a mall.
pub(super) struct Servers {
    /// The server of [`Listeners::main`].
    pub(super) main: Server,
    /// The server of [`Listeners::operators`].
    pub(super) operators: Option<Server>,
}

impl Servers {
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
