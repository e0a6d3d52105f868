//! Models in Amazon Bedrock through the client of AWS, with its chain of credentials and its variables for region and
//! endpoint.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use aws_config::{BehaviorVersion, SdkConfig};
use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::config::{ProvideCredentials, StalledStreamProtectionConfig};
use aws_sdk_bedrockruntime::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_bedrockruntime::operation::converse_stream::ConverseStreamError;
use aws_sdk_bedrockruntime::primitives::event_stream::EventReceiver;
use aws_sdk_bedrockruntime::types::error::ConverseStreamOutputError;
use aws_sdk_bedrockruntime::types::{
    ContentBlock, ContentBlockDelta, ConversationRole, ConverseStreamOutput, Message, StopReason, SystemContentBlock,
};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use futures::StreamExt;
use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use super::model::{Model, Piece, Question, Reply, Stop, Trouble};
use semdex_model::{Code, Error, Result};

/// The global inference profile, which uses the region with free capacity.
const DEFAULT_MODEL: &str = "global.anthropic.claude-sonnet-4-5-20250929-v1:0";
const CONNECTING: Duration = Duration::from_secs(10);
/// The deadline for region and credentials, which may require network requests.
const CONFIGURING: Duration = Duration::from_secs(10);

/// The models of one account.
#[derive(Default)]
pub struct Bedrock {
    default_model: Option<String>,
    /// The client for the environment at the start of the last run.
    connection: RwLock<Option<Arc<Connection>>>,
}

struct Connection {
    config: SdkConfig,
    client: Client,
    /// The result of the search for credentials.
    credentials: OnceCell<std::result::Result<(), String>>,
}

impl Bedrock {
    /// `default_model`: the model for tasks that name none.
    pub fn new(default_model: Option<String>) -> Bedrock {
        Bedrock { default_model, ..Bedrock::default() }
    }

    async fn connection(&self) -> std::result::Result<Arc<Connection>, Trouble> {
        let known = self.connection.read().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(known) => Ok(known),
            None => self.connect().await,
        }
    }

    async fn connect(&self) -> std::result::Result<Arc<Connection>, Trouble> {
        let config = tokio::time::timeout(CONFIGURING, load()).await;
        let config = config.ok().filter(|it| it.region().is_some()).ok_or_else(|| {
            Trouble::lasting("no AWS region is set: set AWS_REGION, or `region` of a profile in ~/.aws/config")
        })?;
        let client = Client::new(&config);
        let connection = Arc::new(Connection { config, client, credentials: OnceCell::new() });
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = Some(connection.clone());
        Ok(connection)
    }
}

/// Loads the configuration as all programs of AWS do. The run itself decides about retries.
async fn load() -> SdkConfig {
    let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .retry_config(RetryConfig::disabled())
        .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECTING).build())
        // A model may be silent for long; the run sets the deadline.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .load()
        .await
}

impl Model for Bedrock {
    fn default_name(&self) -> &str {
        self.default_model.as_deref().unwrap_or(DEFAULT_MODEL)
    }

    fn check(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            let unavailable = |it: Trouble| Error::new(Code::ModelUnavailable, it.detail);
            self.connect().await.map(drop).map_err(unavailable)
        })
    }

    fn reply<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, std::result::Result<Reply, Trouble>> {
        Box::pin(async move {
            let connection = self.connection().await?;
            connection.check_credentials().await?;
            let text = ContentBlock::Text(question.prompt.clone());
            let message = Message::builder().role(ConversationRole::User).content(text).build();
            let message = message.map_err(|error| Trouble::lasting(error.to_string()))?;
            let sent = connection
                .client
                .converse_stream()
                .model_id(&question.model)
                .system(SystemContentBlock::Text(question.system.clone()))
                .messages(message)
                .send()
                .await
                .map_err(|error| refused(&error))?;
            Ok(pieces(sent.stream).boxed())
        })
    }
}

impl Connection {
    /// Without credentials a request would fail with a misleading message.
    async fn check_credentials(&self) -> std::result::Result<(), Trouble> {
        let has_key = std::env::var_os("AWS_BEARER_TOKEN_BEDROCK").is_some_and(|it| !it.is_empty());
        let Some(provider) = self.config.credentials_provider().filter(|_| !has_key) else { return Ok(()) };
        let found = self.credentials.get_or_init(|| async move {
            match tokio::time::timeout(CONFIGURING, provider.provide_credentials()).await {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(innermost(&error)),
                Err(_) => Err(format!("nobody gave any within {} s", CONFIGURING.as_secs())),
            }
        });
        found.await.clone().map_err(|why| {
            Trouble::lasting(format!(
                "no AWS credentials: {why}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE or \
                 AWS_BEARER_TOKEN_BEDROCK where semdex is started, or sign in"
            ))
        })
    }
}

type Events = EventReceiver<ConverseStreamOutput, ConverseStreamOutputError>;

fn pieces(events: Events) -> impl futures::Stream<Item = std::result::Result<Piece, Trouble>> + Send {
    futures::stream::unfold(Some(events), |events| async {
        let mut events = events?;
        loop {
            match events.recv().await {
                Ok(Some(event)) => match piece(event) {
                    Some(piece) => return Some((Ok(piece), Some(events))),
                    None => continue,
                },
                Ok(None) => return None,
                Err(error) => return Some((Err(broken(&error)), None)),
            }
        }
    })
}

fn piece(event: ConverseStreamOutput) -> Option<Piece> {
    match event {
        ConverseStreamOutput::ContentBlockDelta(event) => match event.delta? {
            ContentBlockDelta::Text(text) => Some(Piece::Text(text)),
            // Other events are not part of the reply, but they show that the model is alive.
            _ => Some(Piece::Thought),
        },
        ConverseStreamOutput::MessageStop(event) => Some(Piece::Stop(match event.stop_reason {
            StopReason::EndTurn | StopReason::StopSequence => Stop::End,
            StopReason::MaxTokens | StopReason::ModelContextWindowExceeded => Stop::Length,
            other => Stop::Cut(other.as_str().to_owned()),
        })),
        ConverseStreamOutput::Metadata(event) => {
            let usage = event.usage?;
            let count = |it: i32| u64::try_from(it).unwrap_or_default();
            Some(Piece::Usage { input_tokens: count(usage.input_tokens), output_tokens: count(usage.output_tokens) })
        }
        _ => None,
    }
}

/// Converts the error of a request that returned no stream.
fn refused(error: &SdkError<ConverseStreamError, HttpResponse>) -> Trouble {
    match error {
        SdkError::TimeoutError(_) => {
            Trouble::unreachable(format!("Bedrock did not answer in time: {}", innermost(error)))
        }
        SdkError::DispatchFailure(_) => {
            Trouble::unreachable(format!("Bedrock cannot be reached: {}", innermost(error)))
        }
        SdkError::ResponseError(response) => {
            let status = response.raw().status().as_u16();
            Trouble::unreachable(format!("what answers is no Bedrock (status {status}): {}", innermost(error)))
        }
        SdkError::ServiceError(refused) => {
            let status = refused.raw().status().as_u16();
            let code = refused.err().code().unwrap_or("an error without a name");
            let detail =
                format!("Bedrock refused with {code} ({status}): {}", refused.err().message().unwrap_or_default());
            let detail = detail.trim_end_matches([' ', ':']).to_owned();
            if passes(code) || status == 429 || status >= 500 {
                Trouble::passing(detail)
            } else {
                Trouble::lasting(detail)
            }
        }
        other => Trouble::lasting(format!("the request could not be made: {}", innermost(other))),
    }
}

/// Converts the error of a stream that ended early.
fn broken<R: std::fmt::Debug + Send + Sync + 'static>(error: &SdkError<ConverseStreamOutputError, R>) -> Trouble {
    match error {
        SdkError::ServiceError(refused) => {
            let code = refused.err().code().unwrap_or("an error without a name");
            let detail =
                format!("Bedrock ended the reply with {code}: {}", refused.err().message().unwrap_or_default());
            let detail = detail.trim_end_matches([' ', ':']).to_owned();
            if refused.err().is_validation_exception() { Trouble::lasting(detail) } else { Trouble::passing(detail) }
        }
        other => Trouble::passing(format!("the model's reply was cut off: {}", innermost(other))),
    }
}

fn passes(code: &str) -> bool {
    matches!(
        code,
        "ThrottlingException"
            | "TooManyRequestsException"
            | "ServiceUnavailableException"
            | "InternalServerException"
            | "ModelNotReadyException"
            | "ModelTimeoutException"
            | "ModelStreamErrorException"
            | "ModelErrorException"
            | "RequestTimeout"
    )
}

/// The innermost message is the most specific one.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut why = error;
    while let Some(source) = why.source() {
        why = source;
    }
    why.to_string()
}
