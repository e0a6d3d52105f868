//! The HTTP interface: the only crate that names axum and HTTP status codes. Its routes and their document are
//! generated from the contract's table of calls. One handler reads a request, has it answered, and writes the reply.

mod auth;
mod connections;
mod document;
mod drain_body;
mod events;
mod first_replies;
mod grant;
mod head_refusal;
mod hello;
mod hooks;
mod idle_timer;
mod listen;
mod mcp;
mod metrics;
mod outer_layer;
mod pages;
mod problem;
mod read_request;
mod request_id;
mod response_format;
mod write_deadline;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::MethodFilter;
use axum::{Router, routing};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;

pub use grant::Credentials;
pub use idle_timer::IdleTimer;
pub use listen::Listener;

use auth::AuthGuard;
use metrics::Metrics;
use problem::{Refusal, success};
use read_request::Client;
use request_id::RequestId;
use response_format::Responder;
use semdex_contract::{CALLS, Call, DiagnosticsFormat, Reply};
use semdex_model::{Code, Error, Languages};
use semdex_ops::Service;
use semdex_ops::timed_answer::{Caller, timed_answer};

/// Requests that are answered at the same time; further ones are refused with `Retry-After`.
const IN_FLIGHT: usize = 256;

/// All routes, behind the access control. Without credentials, every client that passes the Host check has access.
pub fn router(service: Service, credentials: Option<Arc<Credentials>>, idle_timer: IdleTimer) -> Router {
    let yaml = openapi_yaml(service.workspaces.engines().languages());
    let pages = pages::router(yaml.clone());
    let metrics = Metrics::new(&service);
    // Layers wrap those above them: the last is the outermost.
    CALLS
        .iter()
        .fold(Router::new(), route)
        .route(events::PATH, routing::get(events::events))
        .route(hooks::PATH, routing::post(hooks::answer))
        .route(metrics::PATH, routing::get(metrics::metrics))
        .with_state(service.clone())
        .route(mcp::PATH, mcp::route(service))
        .layer(axum::Extension(metrics))
        .route(hello::PATH, routing::post(hello::hello).with_state(credentials.clone()))
        .route(document::PATH, routing::get(async move || response_format::with_type("application/yaml", yaml)))
        .merge(pages)
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(response_format::panicked))
        .layer(from_fn_with_state(Arc::new(Semaphore::new(IN_FLIGHT)), one_of_many))
        .layer(from_fn_with_state(idle_timer, idle_timer::record_request))
        .layer(from_fn_with_state(AuthGuard { credentials }, auth::guard))
        .layer(from_fn(drain_body::drain_body))
        .layer(from_fn_with_state(metrics::is_on().then_some(metrics), outer_layer::outer_layer))
}

/// `openapi.yaml`, as it is checked in.
pub fn openapi_yaml(languages: &Languages) -> String {
    document::yaml(&document::of_calls(languages))
}

fn route(router: Router<Service>, call: &'static Call) -> Router<Service> {
    // A file name contains slashes: the router has a syntax for such a parameter, OpenAPI has none.
    let path = call.path.replace("{file}", "{*file}");
    let handler =
        async move |State(service): State<Service>, responder: Responder, client: Client, request: Request| {
            answer(call, &service, responder, client, request).await
        };
    router.route(&path, routing::on(filter(call.method), handler))
}

fn filter(method: semdex_contract::Method) -> MethodFilter {
    match method {
        semdex_contract::Method::Get => MethodFilter::GET,
        semdex_contract::Method::Put => MethodFilter::PUT,
        semdex_contract::Method::Post => MethodFilter::POST,
        semdex_contract::Method::Delete => MethodFilter::DELETE,
    }
}

async fn answer(
    call: &'static Call,
    service: &Service,
    responder: Responder,
    Client(client): Client,
    request: Request,
) -> Result<Response, Refusal> {
    let id = request.extensions().get::<RequestId>().cloned();
    let caller = Caller { client, request_id: id.as_ref().map(RequestId::shared) };
    let (key, request) = first_replies::key(call, request).await?;
    let request: semdex_contract::Request = read_request::request_for(call, request).await?;
    match key.filter(|_| request.is_made_once()) {
        Some(key) => first_replies::answer_once(call, service, responder, (caller, id), request, key).await,
        None => answer_request(call, service, responder, caller, request).await,
    }
}

async fn answer_request(
    call: &Call,
    service: &Service,
    responder: Responder,
    caller: Caller,
    mut request: semdex_contract::Request,
) -> Result<Response, Refusal> {
    let is_sarif = sarif(&mut request, responder)?;
    let max_tokens = request.common().max_tokens;
    let write = |reply| match reply {
        Reply::Diagnostics(found) if is_sarif => responder.sarif(&found),
        reply => responder.answer(reply, max_tokens, service.max_tokens),
    };
    let mut response = timed_answer(service, request, caller, responder.came(), write).await?;
    *response.status_mut() = success(call);
    Ok(response)
}

/// Whether the reply is wanted as SARIF, by its query or by the header. Only diagnostics have this format.
fn sarif(request: &mut semdex_contract::Request, responder: Responder) -> Result<bool, Error> {
    match request {
        semdex_contract::Request::Diagnostics(query) => {
            if responder.wants_sarif() {
                query.format = Some(DiagnosticsFormat::Sarif);
            }
            Ok(query.format == Some(DiagnosticsFormat::Sarif))
        }
        _ if responder.wants_sarif() => Err(response_format::not_acceptable()),
        _ => Ok(false),
    }
}

/// Refuses immediately a request that would have to wait for a free permit.
async fn one_of_many(State(places): State<Arc<Semaphore>>, request: Request, next: Next) -> Result<Response, Refusal> {
    let Ok(_place) = places.try_acquire() else {
        let detail = format!("{IN_FLIGHT} requests are being answered already: ask again in a second");
        return Err(Error::new(Code::Busy, detail).into());
    };
    Ok(next.run(request).await)
}

async fn unknown_route(uri: Uri) -> Refusal {
    let calls: Vec<String> = CALLS.iter().map(|it| it.path.to_owned()).collect();
    let nearest = semdex_contract::nearest(uri.path(), &calls);
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
        let response = router
            .layer(from_fn_with_state(None, outer_layer::outer_layer))
            .oneshot(Request::new(Body::empty()))
            .await
            .unwrap();
        let retry = response.headers().get(header::RETRY_AFTER).map(|it| it.to_str().unwrap().to_owned());
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap(), retry)
    }

    #[tokio::test]
    async fn a_panic_is_answered_without_what_it_said() {
        let panics = routing::get(async || -> &str { panic!("the secret of {}", std::process::id()) });
        let (status, body, _) =
            reply(Router::new().route("/", panics).layer(CatchPanicLayer::custom(response_format::panicked))).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(body.contains("\"code\":\"internal\"") && !body.contains("secret"), "{body}");
    }

    #[tokio::test]
    async fn one_too_many_is_asked_to_come_again() {
        let full = from_fn_with_state(Arc::new(Semaphore::new(0)), one_of_many);
        let (status, body, retry) = reply(Router::new().route("/", routing::get(async || "fine")).layer(full)).await;
        assert_eq!((status, retry.as_deref()), (StatusCode::TOO_MANY_REQUESTS, Some("1")));
        assert!(body.contains("\"code\":\"busy\""), "{body}");
    }
}
