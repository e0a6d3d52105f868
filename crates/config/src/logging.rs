//! What the process says of its own work: a log on standard error, and, with the feature `otel`, a span for each request
//! and each call to a collector of OpenTelemetry.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tracing::{Span, Subscriber};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

#[cfg(feature = "otel")]
mod otel;

/// Keeps what is collected on its way; dropped, the last spans are sent.
#[must_use = "spans are exported for as long as this is kept"]
#[derive(Debug)]
pub struct Logging {
    #[cfg(feature = "otel")]
    _exporter: Option<otel::Exporter>,
}

/// Logs what passes `filter` (directives of `tracing`) to standard error from now on. Spans are exported where the
/// program was built with `otel` and the environment names a collector (`OTEL_EXPORTER_OTLP_ENDPOINT`).
///
/// # Errors
///
/// A filter that cannot be read, settings of the collector that make no sense, or a second call.
pub fn start(filter: &str) -> Result<Logging, String> {
    let directives = EnvFilter::try_new(filter).map_err(|error| format!("`--log {filter}`: {error}"))?;
    #[cfg(feature = "otel")]
    if let Some(exporter) = otel::Exporter::of_environment()? {
        let layers = tracing_subscriber::registry().with(exporter.layer()).with(lines().with_filter(directives));
        layers.try_init().map_err(|error| error.to_string())?;
        return Ok(Logging { _exporter: Some(exporter) });
    }
    let layers = tracing_subscriber::registry().with(directives).with(lines());
    layers.try_init().map_err(|error| error.to_string())?;
    Ok(Logging {
        #[cfg(feature = "otel")]
        _exporter: None,
    })
}

/// The log, a line for each event.
fn lines<S>() -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal())
}

/// A span for one call of the table of calls; none where nothing is exported, as the log names the call itself.
pub fn call_span(name: &'static str) -> Span {
    #[cfg(feature = "otel")]
    return tracing::info_span!("call", otel.name = name);
    #[cfg(not(feature = "otel"))]
    {
        let _ = name;
        Span::none()
    }
}

/// Makes a span part of the trace that the caller tells of in its headers (W3C Trace Context); `header` finds one by name.
pub fn continue_trace<'a>(span: &Span, header: impl Fn(&str) -> Option<&'a str>) {
    #[cfg(feature = "otel")]
    otel::continue_trace(span, header);
    #[cfg(not(feature = "otel"))]
    let _ = (span, header);
}

/// What an exported span tells of a reply over HTTP. The log has it in a line of its own.
pub fn note_response(span: &Span, method: &str, path: &str, status: u16) {
    #[cfg(feature = "otel")]
    otel::note_response(span, method, path, status);
    #[cfg(not(feature = "otel"))]
    let _ = (span, method, path, status);
}

/// Where the time of a call went, and the code of the error that it ended with.
pub fn note_call(span: &Span, parts: &[(&'static str, Duration)], error: Option<&str>) {
    #[cfg(feature = "otel")]
    otel::note_call(span, parts, error);
    #[cfg(not(feature = "otel"))]
    let _ = (span, parts, error);
}
