//! `POST /v1/hooks/{agent}`: an agent's own hooks, without a process between. Only an unknown agent and a body over the
//! limit are refused. For every other failure the answer is `{}`, because the user would see a failed hook at each edit.

use axum::extract::{Path, Request, State};
use axum::response::Response;
use serde_json::Value;

use super::problem::Refusal;
use super::{read_request, response_format};
use semdex_contract::nearest;
use semdex_model::{Code, Error};
use semdex_ops::Service;
use semdex_ops::hooks::{Agent, hook};

pub(crate) const PATH: &str = "/v1/hooks/{agent}";

pub(crate) async fn answer(
    State(service): State<Service>,
    Path(agent): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let agent = Agent::named(&agent).ok_or_else(|| unknown(&agent))?;
    let (parts, body) = request.into_parts();
    let access = read_request::access(&parts.extensions);
    let payload = match read_request::read(&parts.headers, body).await {
        Ok(body) => serde_json::from_slice(&body).unwrap_or(Value::Null),
        Err(error) if error.code == Code::TooLarge => return Err(error.into()),
        Err(_) => Value::Null,
    };
    let answer = Box::pin(hook(&service, agent, &payload, &access)).await;
    Ok(response_format::with_type("application/json", answer.to_string()))
}

fn unknown(agent: &str) -> Error {
    let known: Vec<String> = Agent::ALL.iter().map(|it| it.name().to_owned()).collect();
    let nearest = nearest(agent, &known);
    let hint = nearest.map(|it| format!(": did you mean `{it}`?")).unwrap_or_default();
    let detail = format!("there are no hooks of `{agent}`{hint} Known: {}", known.join(", "));
    Error::new(Code::UnknownRoute, detail).suggesting(nearest.map(str::to_owned).into_iter().collect())
}
