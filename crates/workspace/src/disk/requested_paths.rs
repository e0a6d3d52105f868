//! Names as requests give them: relative to the workspace's root, or the absolute path or `file:` URI of something
//! inside it.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use super::{TEMPORARY_PREFIX, invalid, outside};
use semdex_model::{Code, Error, Result};

/// The path of a valid name: absolute for an absolute path or a URI, otherwise relative to the root.
pub(super) fn path_of(name: &str) -> Result<PathBuf> {
    if name.is_empty() {
        return Err(Error::new(Code::InvalidRequest, "the name of a file is empty"));
    }
    if name.contains('\0') {
        return Err(invalid(name, "holds a NUL, which no name can"));
    }
    if let Some(path) = path_of_uri(name) {
        return path;
    }
    let parts: Vec<&str> = parts_of(name, name)?;
    if name.starts_with('/') {
        return Ok(std::iter::once("/").chain(parts).collect());
    }
    parts.iter().try_for_each(|part| check_part(name, part))?;
    Ok(parts.iter().collect())
}

/// The absolute path that a name or a `file:` URI gives. `None` for a relative name or an invalid URI.
pub(crate) fn absolute_path_of(name: &str) -> Option<PathBuf> {
    match path_of_uri(name) {
        Some(path) => path.ok(),
        None => name.starts_with('/').then(|| PathBuf::from(name)),
    }
}

/// The absolute path of a `file:` URI. `None` if the name is not such a URI.
pub fn path_of_uri(name: &str) -> Option<Result<PathBuf>> {
    const SCHEME: &str = "file:";
    let scheme = name.get(..SCHEME.len()).filter(|it| it.eq_ignore_ascii_case(SCHEME))?;
    let rest = &name[scheme.len()..];
    rest.starts_with('/').then(|| absolute(name, rest))
}

fn absolute(name: &str, rest: &str) -> Result<PathBuf> {
    let path = match rest.strip_prefix("//") {
        Some(authority) => {
            let (host, _) = authority.split_once('/').unwrap_or((authority, ""));
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(outside(name, "is a file of another machine"));
            }
            &authority[host.len()..]
        }
        None => rest,
    };
    if path.contains(['?', '#']) {
        return Err(invalid(name, "has a query or a fragment: write `?` as `%3F` and `#` as `%23` in a file's URI"));
    }
    let mut absolute = PathBuf::from("/");
    for part in parts_of(name, path)? {
        absolute.push(decoded(name, part)?);
    }
    Ok(absolute)
}

fn decoded(name: &str, part: &str) -> Result<String> {
    let is_escape = |it: &str| it.len() >= 2 && it.bytes().take(2).all(|it| it.is_ascii_hexdigit());
    if !part.split('%').skip(1).all(is_escape) {
        return Err(invalid(name, "has a `%` that escapes nothing: write `%25` for the sign itself"));
    }
    let part = percent_decode_str(part).decode_utf8().map_err(|_| invalid(name, "is not UTF-8"))?;
    match &*part {
        "." | ".." => Err(outside(name, "holds an escaped `..`: name files from the workspace's root down")),
        part if part.contains(['/', '\0']) => Err(invalid(name, "holds an escaped `/` or NUL, which no name can")),
        part => Ok(part.to_owned()),
    }
}

/// The parts of a path, none of which leads upwards.
fn parts_of<'a>(name: &str, path: &'a str) -> Result<Vec<&'a str>> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(outside(name, "holds `..`: name files from the workspace's root down"));
    }
    if parts.is_empty() || path.ends_with('/') || path.ends_with("/.") {
        return Err(invalid(name, "is a directory: name a file"));
    }
    Ok(parts)
}

/// The files of version control and of semdex are not part of the workspace, at any depth.
pub(super) fn check_part(name: &str, part: &str) -> Result<()> {
    if part.eq_ignore_ascii_case(".git") {
        return Err(outside(name, "lies in `.git`, which is not part of the workspace"));
    }
    if part.starts_with(TEMPORARY_PREFIX) {
        return Err(outside(name, "is semdex's own, for the moment of a write"));
    }
    if part.eq_ignore_ascii_case("file:") {
        return Err(invalid(name, "holds a `file:` that begins no URI: name files relative to the workspace's root"));
    }
    Ok(())
}
