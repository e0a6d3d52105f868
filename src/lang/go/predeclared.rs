//! What Go declares for every file: types, functions, constants and nil; and its keywords.

use super::syntax;

/// The package of the standard library that documents them, and is never imported.
pub const PACKAGE: &str = "builtin";

const TYPES: &str = "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 \
                     rune string uint uint8 uint16 uint32 uint64 uintptr";
const OTHERS: &str = "append cap clear close complex copy delete false imag iota len make max min new nil panic print \
                      println real recover true";

/// Packages that the compiler makes: no source declares what they hold.
pub fn is_special(import_path: &str) -> bool {
    import_path == PACKAGE || import_path == "unsafe"
}

/// `error`, and `error.Error`, its member.
pub fn is_type(name: &str) -> bool {
    let ty = name.split('.').next().unwrap_or(name);
    TYPES.split_whitespace().any(|it| it == ty)
}

pub fn is_declared(name: &str) -> bool {
    is_type(name) || OTHERS.split_whitespace().any(|it| it == name)
}

pub fn is_keyword(name: &str) -> bool {
    syntax::is_keyword(name)
}

/// Why a keyword is no symbol.
pub fn keyword(name: &str) -> String {
    format!("`{name}` is a keyword of Go, and nothing that is declared: see https://go.dev/ref/spec#Keywords")
}
