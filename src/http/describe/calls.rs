//! Routes that cannot be added without a description.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};

use super::inputs::Input;
use super::operation::Operation;
use super::outputs::Output;
use super::schemas::Schemas;
use crate::http::App;
use crate::language::Bilingual;

/// The calls of one or several areas of the API. `S` is the state passed to every handler.
#[must_use]
pub struct Calls<S = App> {
    router: Router<S>,
    area: Bilingual,
    described: Vec<Call>,
}

/// One call with its description.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) area: Bilingual,
    pub(super) summary: Bilingual,
    /// Markdown in addition to the summary.
    pub(super) explanation: Option<Bilingual>,
    /// Adds the handler's parameters and responses.
    pub(super) describe: fn(&mut Operation, &mut Schemas),
}

/// A handler whose arguments and result are describable. `T` is inferred by axum.
pub trait Described<T> {
    /// Adds the handler's parameters and responses.
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

impl<S: Clone + Send + Sync + 'static> Calls<S> {
    /// Creates an area without calls.
    pub fn of(area: Bilingual) -> Self {
        Self { router: Router::new(), area, described: Vec::new() }
    }

    /// Adds a call by `GET` with a short summary.
    pub fn get<H, T>(self, path: &'static str, handler: H, summary: Bilingual) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::GET, MethodFilter::GET, path, handler, summary)
    }

    /// Adds a call by `POST` with a short summary.
    pub fn post<H, T>(self, path: &'static str, handler: H, summary: Bilingual) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::POST, MethodFilter::POST, path, handler, summary)
    }

    /// Adds a call by `PUT` with a short summary.
    pub fn put<H, T>(self, path: &'static str, handler: H, summary: Bilingual) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::PUT, MethodFilter::PUT, path, handler, summary)
    }

    /// Adds a call by `DELETE` with a short summary.
    pub fn delete<H, T>(self, path: &'static str, handler: H, summary: Bilingual) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::DELETE, MethodFilter::DELETE, path, handler, summary)
    }

    /// Adds an explanation to the last call: limits, order, effect of a repeat. Markdown.
    pub fn explained(mut self, explanation: Bilingual) -> Self {
        if let Some(call) = self.described.last_mut() {
            call.explanation = Some(explanation);
        }
        self
    }

    /// Adds a value of the area for the calls so far; handlers take the value as an `Extension`.
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, own: T) -> Self {
        self.router = self.router.layer(Extension(own));
        self
    }

    /// Adds the calls of another area.
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.described.extend(other.described);
        self
    }

    /// Returns method and path of each call.
    #[must_use]
    pub fn list(&self) -> Vec<(Method, &'static str)> {
        self.described.iter().map(|call| (call.method.clone(), call.path)).collect()
    }

    fn on<H, T>(
        mut self,
        method: Method,
        filter: MethodFilter,
        path: &'static str,
        handler: H,
        summary: Bilingual,
    ) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.router = self.router.route(path, on(filter, handler));
        let (area, describe) = (self.area, H::describe);
        self.described.push(Call { method, path, area, summary, explanation: None, describe });
        self
    }

    /// Returns the router and the descriptions.
    pub(super) fn into_parts(self) -> (Router<S>, Vec<Call>) {
        (self.router, self.described)
    }
}

/// Handler shapes supported by axum: the last argument may take the body.
macro_rules! described {
    ($($tuple:ty, ($($argument:ident),*);)+) => {$(
        impl<F, Made, Out, M, $($argument),*> Described<$tuple> for F
        where
            F: FnOnce($($argument),*) -> Made,
            Made: Future<Output = Out>,
            Out: Output,
            $($argument: Input,)*
        {
            fn describe(operation: &mut Operation, schemas: &mut Schemas) {
                $($argument::describe(operation, schemas);)*
                Out::describe(operation, schemas);
            }
        }
    )+};
}

described! {
    (M, A), (A);
    (M, A, B), (A, B);
    (M, A, B, C), (A, B, C);
    (M, A, B, C, D), (A, B, C, D);
    (M, A, B, C, D, E), (A, B, C, D, E);
    (M, A, B, C, D, E, G), (A, B, C, D, E, G);
}
