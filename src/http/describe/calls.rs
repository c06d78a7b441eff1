//! Routes that cannot be added without their description.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};

use super::inputs::Input;
use super::operation::Operation;
use super::outputs::Output;
use super::schemas::Schemas;
use crate::http::App;
use crate::language::Both;

/// The calls of one area of the API, or of several. `S` is what every handler is given.
#[must_use]
pub struct Calls<S = App> {
    router: Router<S>,
    area: Both,
    described: Vec<Call>,
}

/// One call and how to describe it.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) area: Both,
    pub(super) summary: Both,
    /// What the summary has no room for; Markdown.
    pub(super) explanation: Option<Both>,
    /// Adds what the handler takes and answers.
    pub(super) describe: fn(&mut Operation, &mut Schemas),
}

/// A handler all of whose arguments and whose result can be described. `T` is what axum infers of it.
pub trait Described<T> {
    /// Adds what the handler takes and answers.
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

impl<S: Clone + Send + Sync + 'static> Calls<S> {
    /// Of an area with this name, none so far.
    pub fn of(area: Both) -> Self {
        Self { router: Router::new(), area, described: Vec::new() }
    }

    /// With a call by `GET`, and what it does in a few words.
    pub fn get<H, T>(self, path: &'static str, handler: H, summary: Both) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::GET, MethodFilter::GET, path, handler, summary)
    }

    /// With a call by `POST`.
    pub fn post<H, T>(self, path: &'static str, handler: H, summary: Both) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::POST, MethodFilter::POST, path, handler, summary)
    }

    /// With a call by `PUT`.
    pub fn put<H, T>(self, path: &'static str, handler: H, summary: Both) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::PUT, MethodFilter::PUT, path, handler, summary)
    }

    /// With a call by `DELETE`.
    pub fn delete<H, T>(self, path: &'static str, handler: H, summary: Both) -> Self
    where
        H: Handler<T, S> + Described<T>,
        T: 'static,
    {
        self.on(Method::DELETE, MethodFilter::DELETE, path, handler, summary)
    }

    /// Explains the call added last beyond the summary: limits, order, what a repeat does. Markdown.
    pub fn explained(mut self, explanation: Both) -> Self {
        if let Some(call) = self.described.last_mut() {
            call.explanation = Some(explanation);
        }
        self
    }

    /// With something of their own for the calls so far, which take it as an `Extension`.
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, own: T) -> Self {
        self.router = self.router.layer(Extension(own));
        self
    }

    /// With the calls of another area.
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.described.extend(other.described);
        self
    }

    /// Method and path of each.
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
        summary: Both,
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

    /// The routes and what was said of them.
    pub(super) fn into_parts(self) -> (Router<S>, Vec<Call>) {
        (self.router, self.described)
    }
}

/// The shapes of handlers that axum knows: their last argument may take the body.
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
