//! Go's predeclared identifiers (types, functions, constants and nil) and its keywords.

use super::syntax;

/// The package of the standard library that documents them; it is never imported.
pub(crate) const PACKAGE: &str = "builtin";

const TYPES: &str = "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 \
                     rune string uint uint8 uint16 uint32 uint64 uintptr";
const OTHERS: &str = "append cap clear close complex copy delete false imag iota len make max min new nil panic print \
                      println real recover true";

/// Packages that the compiler provides: no source declares their contents.
pub(crate) fn is_special(import_path: &str) -> bool {
    import_path == PACKAGE || import_path == "unsafe"
}

/// `error`, and `error.Error`, its member.
pub(crate) fn is_type(name: &str) -> bool {
    let ty = name.split('.').next().unwrap_or(name);
    TYPES.split_whitespace().any(|it| it == ty)
}

pub(crate) fn is_declared(name: &str) -> bool {
    is_type(name) || OTHERS.split_whitespace().any(|it| it == name)
}

pub(crate) fn is_keyword(name: &str) -> bool {
    syntax::is_keyword(name)
}

/// The description of a keyword, with its section of Go's specification. A keyword is no symbol.
pub(crate) fn keyword(name: &str) -> String {
    let known = KEYWORDS.iter().find(|it| it.0 == name);
    let (_, what, section) = known.copied().unwrap_or((name, "is kept for the language", "Keywords"));
    let anchor = section.replace(' ', "_");
    format!(
        "`{name}` is a keyword of Go, and nothing that is declared: it {what}. The specification has it under \
         \"{section}\": https://go.dev/ref/spec#{anchor}"
    )
}

/// Each with its purpose and the section of the specification.
const KEYWORDS: &[(&str, &str, &str)] = &[
    ("break", "ends the innermost `for`, `switch` or `select`, or the labelled one", "Break statements"),
    ("case", "begins a clause of a `switch` or `select`", "Switch statements"),
    ("chan", "begins the type of a channel: `chan T`, `<-chan T`, `chan<- T`", "Channel types"),
    ("const", "declares constants", "Constant declarations"),
    ("continue", "begins the next round of the innermost `for`, or of the labelled one", "Continue statements"),
    ("default", "begins the clause that is taken where no other is", "Switch statements"),
    ("defer", "has a call made when the function around it returns", "Defer statements"),
    ("else", "begins what is done where the condition of an `if` does not hold", "If statements"),
    ("fallthrough", "goes on with the next clause of an expression switch", "Fallthrough statements"),
    ("for", "repeats a block: under a condition, with a clause, or over a range", "For statements"),
    ("func", "declares a function or method, begins a function's type or a function literal", "Function declarations"),
    ("go", "has a call made in a goroutine of its own", "Go statements"),
    ("goto", "goes to the statement with a label in the same function", "Goto statements"),
    ("if", "does a block where a condition holds", "If statements"),
    ("import", "makes the exported names of another package usable in a file", "Import declarations"),
    ("interface", "begins the type of all types with certain methods, or a constraint on types", "Interface types"),
    ("map", "begins the type of a map from keys to values: `map[K]V`", "Map types"),
    ("package", "names the package that a file belongs to", "Package clause"),
    ("range", "has a `for` go over an array, slice, string, map, channel, integer or function", "For range"),
    ("return", "ends the function, with its results", "Return statements"),
    ("select", "waits until one of several channel operations can be done, and does it", "Select statements"),
    ("struct", "begins a type made of fields", "Struct types"),
    ("switch", "does the clause that a value or a type fits", "Switch statements"),
    ("type", "declares types", "Type declarations"),
    ("var", "declares variables", "Variable declarations"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_keyword_is_explained() {
        assert!(KEYWORDS.iter().all(|it| is_keyword(it.0)));
        assert_eq!(KEYWORDS.len(), 25);
        assert!(keyword("defer").ends_with("\"Defer statements\": https://go.dev/ref/spec#Defer_statements"));
    }
}
