//! Parses requests from JSON and from queries. Errors name the wrong field and the most similar known one, so that the
//! next attempt succeeds.

use serde::de::DeserializeOwned;

use semdex_model::{Code, Error};

/// Separates the values of a repeated field of a query. No value contains it.
pub(super) const BETWEEN: char = '\0';

/// Parses a request from a JSON object.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    is_object(bytes)?;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(refused_json)?;
    reader.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// Parses a request from the query of a URL.
pub(crate) fn from_query<T: DeserializeOwned>(query: &str) -> Result<T, Error> {
    check_escapes("the query", query)?;
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs)
        .map_err(|error| refused(&error.path().to_string(), &error.inner().to_string()))
}

/// Parses a query with repeatable fields. The values of such a field are joined with `BETWEEN`.
pub(crate) fn from_repeating_query<T: DeserializeOwned>(query: &str, repeating: &[&str]) -> Result<T, Error> {
    // The query that is serialized below has only valid escapes.
    check_escapes("the query", query)?;
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let said = pairs.iter_mut().find(|it| it.0 == name && repeating.contains(&&*name));
        match said {
            Some((_, values)) => {
                values.push(BETWEEN);
                values.push_str(&value);
            }
            None => pairs.push((name.into_owned(), value.into_owned())),
        }
    }
    let mut joined = form_urlencoded::Serializer::new(String::new());
    joined.extend_pairs(&pairs);
    from_query(&joined.finish())
}

/// Refuses a part of a URL with a `%` without two hexadecimal digits, or with bytes that are not UTF-8. Decoders
/// silently repair both.
pub fn check_escapes(part: &str, text: &str) -> Result<(), Error> {
    let refused = |detail: String| Err(Error::new(Code::InvalidRequest, detail));
    for (at, _) in text.match_indices('%') {
        let escape = &text.as_bytes()[at..text.len().min(at + 3)];
        if escape.len() < 3 || !escape[1..].iter().all(u8::is_ascii_hexdigit) {
            let escape = String::from_utf8_lossy(escape);
            return refused(format!("{part} has `{escape}`, which is no percent escape: write `%` itself as `%25`"));
        }
    }
    match percent_encoding::percent_decode_str(text).decode_utf8() {
        Ok(_) => Ok(()),
        Err(_) => refused(format!("{part} is not UTF-8 once its percent escapes are decoded")),
    }
}

/// Refuses other JSON values: serde accepts a list of the fields in their order.
fn is_object(bytes: &[u8]) -> Result<(), Error> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(());
    }
    match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        Ok(_) => {
            Err(Error::new(Code::InvalidRequest, "the body is JSON, but not an object: send `{…}` with the fields"))
        }
        Err(error) => Err(not_json(&error)),
    }
}

fn refused_json(error: serde_path_to_error::Error<serde_json::Error>) -> Error {
    let path = error.path().to_string();
    let error = error.into_inner();
    match error.classify() {
        serde_json::error::Category::Data => refused(&path, &error.to_string()),
        _ => not_json(&error),
    }
}

fn not_json(error: &serde_json::Error) -> Error {
    Error::new(Code::InvalidJson, format!("the body is not JSON: {error}"))
}

/// Turns serde's message into one that names the field by its path in the request and, for an unknown field, the most
/// similar known one. The form of the message is serde's, for JSON and for queries.
fn refused(path: &str, message: &str) -> Error {
    let at = if path.is_empty() || path == "." { String::new() } else { format!("`{path}`: ") };
    for (kind, word) in [("unknown field `", "field"), ("unknown variant `", "value")] {
        let Some((name, rest)) = message.strip_prefix(kind).and_then(|it| it.rsplit_once("`, expected ")) else {
            continue;
        };
        let known: Vec<String> = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let nearest = same_elsewhere(name, &known).or_else(|| nearest(name, &known));
        let hint = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "it is none of those known.".to_owned(),
        };
        // The path of an unknown field ends in its name, which is already in the message.
        let at = if word == "value" { at } else { within(path) };
        let detail = format!("{at}unknown {word} `{name}`: {hint} Known: {}", known.join(", "));
        return Error::new(Code::InvalidRequest, detail).suggesting(nearest.map(str::to_owned).into_iter().collect());
    }
    if let Some((name, other)) = TWO_NAMES.iter().find(|it| message.starts_with(&format!("duplicate field `{}`", it.0)))
    {
        let detail = format!("the field `{name}` is there twice, and `{other}` is the same field: give one of them");
        return Error::new(Code::InvalidRequest, detail);
    }
    if let Some((name, other)) = TWO_NAMES.iter().find(|it| message.starts_with(&format!("missing field `{}`", it.0))) {
        return Error::new(
            Code::InvalidRequest,
            format!("{at}missing field `{name}`, or `{other}`, which is the same"),
        );
    }
    Error::new(Code::InvalidRequest, format!("{at}{}", without_types(message)))
}

/// Required fields with a second name.
const TWO_NAMES: &[(&str, &str)] = &[("name", "file")];

/// What other tools call our fields, without separators.
const NAMES_ELSEWHERE: &[(&str, &[&str])] = &[
    ("search_context", &["oldstring", "oldstr", "oldtext", "oldcontent", "search", "find", "original"]),
    ("replacement", &["newstring", "newstr", "newtext", "newcontent", "replace", "replacewith"]),
    ("content", &["contents", "text", "filetext", "newstring"]),
    ("file", &["path", "filepath", "filename", "absolutepath", "relativepath", "targetfile", "uri"]),
    ("symbol", &["name", "namepath", "symbolname", "identifier", "function"]),
    ("query", &["q", "pattern", "search", "text", "task"]),
    ("new_name", &["newname", "to"]),
];

/// The known name of a field that other tools call like this.
fn same_elsewhere<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let name = name.replace(['_', '-'], "").to_ascii_lowercase();
    let ours = NAMES_ELSEWHERE.iter().filter(|it| it.1.contains(&&*name)).map(|it| it.0);
    ours.filter_map(|it| known.iter().find(|known| *known == it)).map(String::as_str).next()
}

/// Serde's message without what means nothing to a client: the names of our types, and the place in a body that it has
/// not written as text.
fn without_types(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |it| it.0);
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    format!("{found}, expected {expected}")
}

/// The path without its last field.
fn within(path: &str) -> String {
    path.rsplit_once('.').map(|(around, _)| format!("`{around}`: ")).unwrap_or_default()
}

/// The known name that the client probably meant.
pub fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let score = |it: &str| strsim::jaro_winkler(&name.to_ascii_lowercase(), it);
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) >= 0.7).then_some(best.as_str())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[expect(dead_code, reason = "only its reading is tested")]
        file: String,
        #[expect(dead_code, reason = "only its reading is tested")]
        autofix: Option<u8>,
        #[expect(dead_code, reason = "only its reading is tested")]
        mode: Option<Mode>,
        #[expect(dead_code, reason = "only its reading is tested")]
        edits: Option<Vec<Sample>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        Append,
        Create,
    }

    fn body(text: &str) -> Error {
        from_json::<Sample>(text.as_bytes()).unwrap_err()
    }

    fn query(text: &str) -> Error {
        from_query::<Sample>(text).unwrap_err()
    }

    fn check(error: &Error, code: Code, wanted: &[&str]) {
        assert_eq!(error.code, code, "{error}");
        for word in wanted {
            assert!(error.detail.contains(word), "{} lacks {word}", error.detail);
        }
    }

    #[test]
    fn a_wrong_field_is_named_with_the_nearest_known() {
        let error = body(r#"{"fiel":"a"}"#);
        check(&error, Code::InvalidRequest, &["`fiel`", "did you mean `file`", "autofix"]);
        assert_eq!(error.help.suggestions, ["file"]);
        let nested = body(r#"{"file":"a","edits":[{"file":"b","autofx":3}]}"#);
        check(&nested, Code::InvalidRequest, &["`edits[0]`", "`autofx`", "`autofix`"]);
        check(&body(r#"{"file":"a","mode":"crate"}"#), Code::InvalidRequest, &["`mode`", "`crate`", "`create`"]);
        check(&body(r#"{"file":"a","zzzzzz":1}"#), Code::InvalidRequest, &["`zzzzzz`", "known. Known: file, autofix"]);
        check(&query("file=a&autofx=3"), Code::InvalidRequest, &["`autofx`", "`autofix`"]);
        // A name that contains the text at which the message is split.
        check(&body(r#"{"file":"a","`, expected `x":1}"#), Code::InvalidRequest, &["file, autofix"]);
    }

    #[test]
    fn a_field_is_known_by_its_name_in_other_tools() {
        let known = ["file", "search_context", "replacement", "near_line"].map(str::to_owned);
        for (name, ours) in [
            ("old_string", Some("search_context")),
            ("newStr", Some("replacement")),
            ("file_path", Some("file")),
            // `content` is no field of this call.
            ("text", None),
            ("neer_line", None),
        ] {
            assert_eq!(same_elsewhere(name, &known), ours, "{name}");
        }
        assert_eq!(body(r#"{"file_path":"a"}"#).help.suggestions, ["file"]);
    }

    #[test]
    fn no_type_of_ours_and_no_place_in_the_body_is_in_an_error() {
        for text in [r#"{"file":"a","autofix":"x"}"#, r#"{"file":3}"#, "{}", r#"{"file":"a","edits":1}"#] {
            let detail = body(text).detail;
            assert!(!detail.contains("u8") && !detail.contains(" at line "), "{detail}");
        }
        check(&body(r#"{"file":"a","edits":1}"#), Code::InvalidRequest, &["`edits`: ", "expected a list"]);
    }

    #[test]
    fn a_wrong_value_is_refused_by_its_field() {
        check(&body(r#"{"file":"a","autofix":95.5}"#), Code::InvalidRequest, &["`autofix`", "95.5"]);
        check(&body(r#"{"file":"a","autofix":300}"#), Code::InvalidRequest, &["`autofix`", "300"]);
        check(&body(r#"{"file":null}"#), Code::InvalidRequest, &["`file`", "null"]);
        check(&body(r#"{"autofix":1}"#), Code::InvalidRequest, &["missing field `file`"]);
        check(&body(r#"{"file":"a","file":"b"}"#), Code::InvalidRequest, &["duplicate field `file`"]);
        check(&body(r#"["a"]"#), Code::InvalidRequest, &["not an object"]);
        check(&body(r#"{"file":"a","edits":[3]}"#), Code::InvalidRequest, &["`edits[0]`", "expected an object"]);
        check(&query("file=a&autofix=x"), Code::InvalidRequest, &["`autofix`", "invalid digit"]);
        check(&query("file=a&file=b"), Code::InvalidRequest, &["duplicate field `file`"]);
        check(&query("file=a&mode=crate"), Code::InvalidRequest, &["`mode`", "`create`"]);
        check(&query("file=a&mode=zzzzzz"), Code::InvalidRequest, &["`mode`", "known. Known: append, create"]);
    }

    #[test]
    fn what_is_not_json_is_distinguished() {
        check(&body("{"), Code::InvalidJson, &["line 1"]);
        check(&body(""), Code::InvalidJson, &["not JSON"]);
        check(&body(r#"{"file":"a"} x"#), Code::InvalidJson, &["trailing"]);
        check(&body("{\"file\":\"\\ud800\"}"), Code::InvalidJson, &["not JSON"]);
    }
}
