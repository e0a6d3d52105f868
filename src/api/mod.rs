//! The HTTP face. The only place that names axum, utoipa and HTTP status. Each route is declared once, together with
//! its document; a handler parses, asks `ops`, and converts.

mod ask;
mod auth;
mod describe;
mod diagnostics;
mod document;
mod edit;
mod examples;
mod extract;
#[cfg(test)]
mod fuzz;
mod idle;
mod impact;
mod listen;
mod open;
mod overlays;
mod problem;
mod process;
mod relations;
mod rename;
mod responder;
mod shapes;
mod symbols;
mod undo;
mod workspaces;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::{Router, routing};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use idle::Pulse;
pub use listen::Listener;

use crate::model::{Code, Error, Result};
use crate::token::Token;
use crate::workspace::{Workspace, Workspaces};
use auth::AuthGuard;
use problem::Refusal;

/// Requests answered at the same time; the next is told to come again.
const IN_FLIGHT: usize = 256;

/// What the handlers work with.
#[derive(Clone)]
pub struct Service {
    pub workspaces: Workspaces,
    /// A workspace may be opened over the network only in or below one of these.
    pub roots: Arc<[PathBuf]>,
}

impl Service {
    fn pick(&self, workspace: Option<&str>) -> Result<Workspace> {
        self.workspaces.pick(workspace)
    }
}

/// Everything that is served, behind the guard. Without a token everyone whom the Host check lets in may ask.
pub fn router(service: Service, token: Option<Arc<Token>>, pulse: Pulse) -> Router {
    let (router, document) = contract().split_for_parts();
    let calls: Arc<[String]> = document.paths.paths.keys().cloned().collect();
    let yaml = document::yaml(&document);
    // Layers wrap those above them: the last is the outermost.
    router
        .with_state(service)
        .route("/openapi.yaml", routing::get(async move || responder::with_type("application/yaml", yaml)))
        .fallback(async move |uri: Uri| unknown_route(&uri, &calls))
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(responder::panicked))
        .layer(from_fn_with_state(Arc::new(Semaphore::new(IN_FLIGHT)), one_of_many))
        .layer(from_fn_with_state(pulse, idle::beat))
        .layer(from_fn_with_state(AuthGuard { token }, auth::guard))
        .layer(from_fn(responder::speak))
}

/// `openapi.yaml`, as it is checked in.
pub fn openapi_yaml() -> String {
    document::yaml(&contract().split_for_parts().1)
}

/// The routes and their document, from the same declarations.
fn contract() -> OpenApiRouter<Service> {
    let mut router = routes();
    // A file's name has slashes, for which routes have a sign that documents have not.
    let paths = &mut router.get_openapi_mut().paths.paths;
    for (path, item) in std::mem::take(paths) {
        paths.insert(path.replace("{*", "{"), item);
    }
    router
}

fn routes() -> OpenApiRouter<Service> {
    OpenApiRouter::with_openapi(document::Document::openapi())
        .routes(routes!(open::open))
        .routes(routes!(describe::describe))
        .routes(routes!(symbols::symbols))
        .routes(routes!(symbols::symbol_at))
        .routes(routes!(relations::usages))
        .routes(routes!(relations::callers))
        .routes(routes!(relations::callees))
        .routes(routes!(relations::implementations))
        .routes(routes!(diagnostics::diagnostics))
        .routes(routes!(impact::impact))
        .routes(routes!(edit::edit))
        .routes(routes!(write::write))
        .routes(routes!(undo::undo))
        .routes(routes!(undo::changes))
        .routes(routes!(overlays::list_overlays))
        .routes(routes!(overlays::put_overlay, overlays::delete_overlay))
        .routes(routes!(rename::rename))
        .routes(routes!(workspaces::list_workspaces, workspaces::open_workspace, workspaces::close_workspace))
        .routes(routes!(process::status))
        .routes(routes!(process::health))
}

/// Refuses at once what would only wait for its turn.
async fn one_of_many(State(places): State<Arc<Semaphore>>, request: Request, next: Next) -> Result<Response, Refusal> {
    let Ok(_place) = places.try_acquire() else {
        let detail = format!("{IN_FLIGHT} requests are being answered already: ask again in a second");
        return Err(Error::new(Code::Busy, detail).into());
    };
    Ok(next.run(request).await)
}

fn unknown_route(uri: &Uri, calls: &[String]) -> Refusal {
    let nearest = extract::nearest(uri.path(), calls);
    let hint = match nearest {
        Some(call) => format!("did you mean `{call}`?"),
        None => "`/openapi.yaml` lists the calls that there are".to_owned(),
    };
    let error = Error::new(Code::UnknownRoute, format!("there is no `{}`: {hint}", uri.path()));
    error.suggesting(nearest.map(str::to_owned).into_iter().collect()).into()
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    let detail = format!("`{}` takes no {method}: the header `Allow` says what it takes", uri.path());
    Error::new(Code::MethodNotAllowed, detail).into()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{StatusCode, header};
    use tower::ServiceExt;

    use super::*;

    async fn reply(router: Router) -> (StatusCode, String, Option<String>) {
        let response = router.layer(from_fn(responder::speak)).oneshot(Request::new(Body::empty())).await.unwrap();
        let retry = response.headers().get(header::RETRY_AFTER).map(|it| it.to_str().unwrap().to_owned());
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap(), retry)
    }

    #[tokio::test]
    async fn a_panic_is_answered_without_what_it_said() {
        let panics = routing::get(async || -> &str { panic!("the secret of {}", std::process::id()) });
        let (status, body, _) =
            reply(Router::new().route("/", panics).layer(CatchPanicLayer::custom(responder::panicked))).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(body.contains("\"code\":\"internal\"") && !body.contains("secret"), "{body}");
    }

    #[tokio::test]
    async fn one_too_many_is_told_to_come_again() {
        let full = from_fn_with_state(Arc::new(Semaphore::new(0)), one_of_many);
        let (status, body, retry) = reply(Router::new().route("/", routing::get(async || "fine")).layer(full)).await;
        assert_eq!((status, retry.as_deref()), (StatusCode::TOO_MANY_REQUESTS, Some("1")));
        assert!(body.contains("\"code\":\"busy\""), "{body}");
    }
}
