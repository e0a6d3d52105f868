//! Fits replies to their budget, and writes them as JSON. A reply has at least one item, otherwise paging would never
//! end; if that item alone is too long, its longest texts and lists of names are cut.

use serde::Serialize;
use serde_json::{Value, json};

use super::budget::{BYTES_PER_TOKEN, Budget, Form, text_cost};
use super::shared_types::{Meta, Missing};
use semdex_model::MissingCode;

/// How often a reply is written again to come closer to its budget.
const FITTINGS: usize = 8;
/// The names of all overlays take at most this part of a reply.
const SHARE_OF_OVERLAYS: usize = 8;

/// A reply or a problem that can be shortened to a budget.
pub trait Fit: Clone {
    /// Its metadata. None for a reply without them.
    fn meta(&mut self) -> Option<&mut Meta>;

    /// Shortens it to about the budget. Returns descriptions of what was left out, or None if it cannot be shortened.
    fn fit(&mut self, budget: Budget) -> Option<Vec<String>>;

    /// Whether the budget also applies to its JSON.
    fn counts_json(&self) -> bool {
        true
    }

    /// How a client gets what was left out.
    const REST: &str;
}

/// The reply as `write` serializes it, with at most `max_tokens` if it can be that short.
pub(crate) fn fitted<T: Fit, B: AsRef<[u8]> + Default, E>(
    reply: T,
    form: Form,
    max_tokens: Option<usize>,
    write: impl Fn(T) -> Result<B, E>,
) -> Result<B, E> {
    let Some(most) = max_tokens.map(|it| it.saturating_mul(BYTES_PER_TOKEN)) else { return write(reply) };
    // The size of a reply is known only after it is written, so each round sets the budget by the previous size.
    let mut budget = most;
    let mut best: Option<(bool, B)> = None;
    let mut was_too_long = false;
    for round in 0..FITTINGS {
        let mut reply = reply.clone();
        let Some(left_out) = reply.fit(Budget::new(budget, form)) else { return write(reply) };
        let is_whole = left_out.is_empty();
        if let Some(meta) = reply.meta() {
            leave_out_overlays(meta, most / SHARE_OF_OVERLAYS);
        }
        if !is_whole && let Some(meta) = reply.meta() {
            let detail = format!("{}: {}", left_out.join(", "), T::REST);
            meta.missing.push(Missing::new(MissingCode::Budget, "max_tokens", detail));
        }
        let body = write(reply)?;
        let written = body.as_ref().len();
        let (fits, length) = (written <= most, written.max(1));
        let is_better = best.as_ref().is_none_or(|(best_fits, best)| match (fits, best_fits) {
            (true, true) => length > best.as_ref().len(),
            (false, false) => length < best.as_ref().len(),
            (fits, _) => fits,
        });
        if is_better {
            best = Some((fits, body));
        }
        // Unused budget is worth another round, unless an earlier round was too long.
        if fits && (is_whole || was_too_long || length * 20 >= most * 19) || budget <= 1 {
            break;
        }
        was_too_long |= !fits;
        let margin = if fits { 98 } else { 96 - 4 * round };
        budget = budget.saturating_mul(most) / length * margin / 100;
    }
    Ok(best.map(|it| it.1).unwrap_or_default())
}

/// Leaves out the names of overlays that do not fit into so many bytes.
fn leave_out_overlays(meta: &mut Meta, bytes: usize) {
    let total = meta.overlays.len();
    let mut left = bytes;
    let named = meta.overlays.iter().map_while(|it| {
        left = left.checked_sub(text_cost(it) + 3)?;
        Some(())
    });
    let named = named.count();
    if named < total {
        meta.overlays.truncate(named);
        let detail = format!(
            "{named} of {total} names of files with overlays: `semdex overlay list` and `GET /v1/overlays` list all"
        );
        meta.missing.push(Missing::new(MissingCode::Budget, "max_tokens", detail));
    }
}

/// Fields with texts for a reader. Values that a client sends back (paths, hashes, contents, cursors) are never cut.
const TEXTS: &[&str] =
    &["signature", "text", "docs", "hover", "title", "message", "reason", "before", "after", "detail", "code"];
/// Fields with lines of a file: each line is cut separately.
const LINES: &[&str] = &["skeleton", "source"];
/// Fields with lists of names. One name is kept for every `CHARACTERS_OF_A_NAME` characters of the length of a text.
const NAMES: &str = "symbols";
const CHARACTERS_OF_A_NAME: usize = 8;
/// The lengths of texts in characters that are tried in this order. The first try shortens only the note.
const LENGTHS: &[usize] = &[usize::MAX, 480, 240, 160, 120, 80, 60, 40];
const CUT: &str = "…";
const NOTE: &str = "what ends with `…` is cut";

/// The reply as JSON with at most `max_tokens`, if it can be that short. `stamp` runs last, each time the reply is
/// written.
pub fn json<T: Fit + Serialize>(
    reply: T,
    max_tokens: Option<usize>,
    stamp: impl Fn(&mut T),
) -> serde_json::Result<Vec<u8>> {
    let is_counted = reply.counts_json();
    let body = fitted(reply, Form::Json, max_tokens, |mut reply| {
        stamp(&mut reply);
        serde_json::to_vec(&reply)
    })?;
    Ok(match max_tokens.map(|it| it.saturating_mul(BYTES_PER_TOKEN)) {
        Some(most) if body.len() > most && is_counted => shortened(&body, most, T::REST).unwrap_or(body),
        _ => body,
    })
}

/// The shortest possible body if none is short enough. None if nothing can be shortened. `rest`: how a client gets what
/// was left out.
fn shortened(body: &[u8], most: usize, rest: &str) -> Option<Vec<u8>> {
    let whole: Value = serde_json::from_slice(body).ok()?;
    let mut shortest = None;
    for length in LENGTHS {
        let mut reply = whole.clone();
        let is_cut = cut(&mut reply, *length);
        note(&mut reply, is_cut, rest);
        let written = serde_json::to_vec(&reply).ok()?;
        let fits = written.len() <= most;
        shortest = Some(written);
        if fits {
            break;
        }
    }
    shortest.filter(|it| it.len() < body.len())
}

/// Cuts all texts to `most` characters. Returns whether any text was longer.
fn cut(value: &mut Value, most: usize) -> bool {
    match value {
        Value::Array(items) => {
            let mut any = false;
            for it in items {
                any |= cut(it, most);
            }
            any
        }
        Value::Object(fields) => {
            let mut any = false;
            for (name, value) in fields {
                any |= match value {
                    Value::String(text) if TEXTS.contains(&name.as_str()) => cut_text(text, most),
                    Value::String(text) if LINES.contains(&name.as_str()) => cut_lines(text, most),
                    Value::Array(names) if name == NAMES && names.iter().all(Value::is_string) => {
                        cut_names(names, most)
                    }
                    other => cut(other, most),
                };
            }
            any
        }
        _ => false,
    }
}

fn cut_text(text: &mut String, most: usize) -> bool {
    let Some((end, _)) = text.char_indices().nth(most) else { return false };
    text.truncate(end);
    text.push_str(CUT);
    true
}

fn cut_lines(text: &mut String, most: usize) -> bool {
    let mut any = false;
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut line = line.to_owned();
        any |= cut_text(&mut line, most);
        lines.push(line);
    }
    if any {
        *text = lines.join("\n");
    }
    any
}

fn cut_names(names: &mut Vec<Value>, most: usize) -> bool {
    let most = most / CHARACTERS_OF_A_NAME;
    if names.len() <= most {
        return false;
    }
    names.truncate(most);
    names.push(CUT.into());
    true
}

/// Adds a short note to `missing`, or shortens the existing one.
fn note(reply: &mut Value, is_cut: bool, rest: &str) {
    let Some(missing) = reply.pointer_mut("/meta/missing").and_then(Value::as_array_mut) else { return };
    match missing.iter_mut().find(|it| it["code"] == "budget") {
        Some(left_out) if is_cut => left_out["detail"] = format!("{rest}; {NOTE}").into(),
        Some(left_out) => left_out["detail"] = rest.into(),
        None if is_cut => missing.push(json!({"code": "budget", "detail": NOTE, "scope": "max_tokens"})),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_as_far_as_they_must_and_it_is_said() {
        const REST: &str = "go on there";
        let shortened = |body: &[u8], most| shortened(body, most, REST);
        let long = "ä".repeat(300);
        let reply = json!({
            "symbol": {"path": long, "signature": long},
            "source": format!("{long}\nb\n"),
            "items": [{"text": long, "role": "call", "symbols": vec!["a"; 30]}],
            "meta": {"missing": [{"code": "budget", "detail": "1 of 9 usages: go on there", "scope": "max_tokens"}]}
        });
        let body = serde_json::to_vec(&reply).unwrap();
        let cut: Value = serde_json::from_slice(&shortened(&body, 2100).unwrap()).unwrap();
        assert_eq!(cut["symbol"]["path"], long);
        assert_eq!(cut["items"][0]["text"], format!("{}…", "ä".repeat(160)));
        assert_eq!(cut["source"], format!("{}…\nb\n", "ä".repeat(160)));
        assert_eq!(cut["meta"]["missing"][0]["detail"], format!("{REST}; {NOTE}"));
        assert_eq!(cut["items"][0]["symbols"].as_array().map(|it| (it.len(), &it[20])), Some((21, &json!(CUT))));
        // As short as possible.
        assert!(shortened(&body, 10).unwrap().len() < 1300);
        let short = serde_json::to_vec(&json!({"path": long, "meta": {"missing": []}})).unwrap();
        assert_eq!(shortened(&short, 10), None);
    }
}
