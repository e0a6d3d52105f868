//! Which files a build includes: `//go:build` lines and the names that end in `_GOOS_GOARCH`, as go/build reads them.

use std::collections::BTreeSet;

use super::syntax::imports_c;

/// The target of a build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BuildContext {
    pub goos: String,
    pub goarch: String,
    /// Set by `-tags`.
    pub tags: BTreeSet<String>,
    /// Go 1.N satisfies `go1.1` to `go1.N`.
    pub go_minor: u32,
    pub cgo: bool,
}

impl Default for BuildContext {
    fn default() -> BuildContext {
        BuildContext {
            goos: "linux".to_owned(),
            goarch: "amd64".to_owned(),
            tags: BTreeSet::new(),
            go_minor: 26,
            cgo: true,
        }
    }
}

impl BuildContext {
    /// The platform of this program, without tags.
    pub(crate) fn host() -> BuildContext {
        let goos = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let goarch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "x86" => "386",
            "aarch64" => "arm64",
            "powerpc64" => "ppc64",
            "loongarch64" => "loong64",
            other => other,
        };
        BuildContext { goos: goos.to_owned(), goarch: goarch.to_owned(), ..BuildContext::default() }
    }

    /// Whether a build includes this file. Its directory does not matter.
    pub(crate) fn takes(&self, file: &str, text: &str) -> bool {
        let name = file.rsplit('/').next().unwrap_or(file);
        !name.starts_with(['_', '.'])
            && self.takes_name(name)
            && self.takes_header(text)
            && (self.cgo || !imports_c(text))
    }

    /// Whether a build excludes this file only because cgo is off.
    pub(crate) fn lacks_cgo(&self, file: &str, text: &str) -> bool {
        let with_cgo = BuildContext { cgo: true, ..self.clone() };
        !self.cgo && !self.takes(file, text) && with_cgo.takes(file, text)
    }

    /// `name_GOOS`, `name_GOARCH` and `name_GOOS_GOARCH`, each before `_test` and the extension. The part before the
    /// first underscore is ignored.
    fn takes_name(&self, name: &str) -> bool {
        let stem = name.split('.').next().unwrap_or(name);
        let stem = stem.strip_suffix("_test").unwrap_or(stem);
        let Some((_, suffixes)) = stem.split_once('_') else { return true };
        let parts: Vec<&str> = suffixes.split('_').collect();
        match parts.as_slice() {
            [.., os, arch] if is_os(os) && is_arch(arch) => self.has(os) && self.has(arch),
            [.., last] if is_os(last) || is_arch(last) => self.has(last),
            _ => true,
        }
    }

    /// Evaluates the `//go:build` line; a malformed or repeated line excludes the file. Without one, evaluates the `//
    /// +build` lines.
    fn takes_header(&self, text: &str) -> bool {
        let Ok(header) = Header::of(text) else { return false };
        match header.go_build {
            Some(line) => Expression { rest: line, context: self, depth: 0, size: 0 }.evaluate().unwrap_or(false),
            None => header.plus_build().all(|line| self.takes_old(line)),
        }
    }

    /// `// +build a,b !c`: a and b, or not c. A line that is too long counts as satisfied.
    fn takes_old(&self, line: &str) -> bool {
        const MOST_OPERATORS: usize = 100;
        let takes = |tag: &str| match tag.strip_prefix('!').unwrap_or(tag) {
            wanted if wanted.is_empty() || !wanted.chars().all(is_of_tag) => {
                // `ignore` replaces an invalid tag. `!!x` and `!` are invalid too, but `!a-b` is not.
                let is_negated = tag.starts_with('!') && tag != "!" && !tag.starts_with("!!");
                self.has("ignore") != is_negated
            }
            wanted => self.has(wanted) != tag.starts_with('!'),
        };
        if line.is_empty() {
            return self.has("ignore");
        }
        let operators = line.split_whitespace().map(|it| it.split(',').count()).sum::<usize>();
        operators > MOST_OPERATORS + 1 || line.split_whitespace().any(|all| all.split(',').all(takes))
    }

    fn has(&self, tag: &str) -> bool {
        let implied = match tag {
            "unix" => is_unix(&self.goos),
            "cgo" => self.cgo,
            "gc" => true,
            "linux" => self.goos == "android",
            "solaris" => self.goos == "illumos",
            "darwin" => self.goos == "ios",
            _ => tag
                .strip_prefix("go1.")
                .and_then(|it| it.parse::<u32>().ok().filter(|minor| minor.to_string() == it))
                .is_some_and(|it| (1..=self.go_minor).contains(&it)),
        };
        implied || tag == self.goos || tag == self.goarch || self.tags.contains(tag)
    }
}

/// What decides which builds include a file: its constraint lines, and the systems in its name.
pub(crate) fn constraints<'t>(file: &'t str, text: &'t str) -> Vec<&'t str> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    let parts = stem.split('_').skip(1).filter(|it| is_os(it) || is_arch(it));
    let Ok(header) = Header::of(text) else { return parts.collect() };
    let lines = header.go_build.into_iter().chain(header.plus_build());
    lines.chain(parts).collect()
}

/// The tags in constraints.
pub(crate) fn tags<'t>(constraints: &[&'t str]) -> BTreeSet<&'t str> {
    let words = constraints.iter().flat_map(|it| it.split(|it: char| !is_of_tag(it)));
    words.filter(|it| !it.is_empty()).collect()
}

/// The text before a file's package clause, split as `parseFileHeader` of go/build does.
struct Header<'t> {
    /// The lines that may contain `+build`: a blank line separates them from what follows.
    leading: &'t str,
    go_build: Option<&'t str>,
}

/// There is more than one `//go:build` line.
struct Several;

impl<'t> Header<'t> {
    fn of(text: &'t str) -> Result<Header<'t>, Several> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut header = Header { leading: "", go_build: None };
        let (mut at, mut ended, mut in_comment) = (0, false, false);
        for whole in text.split_inclusive('\n') {
            at += whole.len();
            let mut line = whole.trim();
            if line.is_empty() && !ended {
                header.leading = &text[..at];
                continue;
            }
            ended |= !line.starts_with("//");
            if let Some(found) = constraint(line, "//go:build").filter(|_| !in_comment)
                && header.go_build.replace(found).is_some()
            {
                return Err(Several);
            }
            while !line.is_empty() {
                let rest = match in_comment {
                    true => line.split_once("*/").map(|it| it.1),
                    false if line.starts_with("//") => None,
                    false => match line.strip_prefix("/*") {
                        Some(rest) => Some(rest),
                        None => return Ok(header),
                    },
                };
                let Some(rest) = rest else { break };
                in_comment = !in_comment;
                line = rest.trim();
            }
        }
        Ok(header)
    }

    fn plus_build(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let leading: &'t str = self.leading;
        let comments = leading.lines().filter_map(|it| it.trim().strip_prefix("//"));
        comments.filter_map(|it| constraint(it.trim(), "+build"))
    }
}

/// The text after a constraint's keyword.
fn constraint<'t>(line: &'t str, keyword: &str) -> Option<&'t str> {
    let rest = line.strip_prefix(keyword)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

/// Whether a tag may have this character.
fn is_of_tag(it: char) -> bool {
    it.is_alphabetic() || it.is_ascii_digit() || matches!(it, '_' | '.')
}

/// `a && (b || !c)`. `None` is a malformed expression, which excludes the file from every build.
struct Expression<'t, 'c> {
    rest: &'t str,
    context: &'c BuildContext,
    depth: usize,
    size: usize,
}

impl Expression<'_, '_> {
    const MAX_DEPTH: usize = 100;
    /// The limit of go/build.
    const MAX_SIZE: usize = 1000;

    fn evaluate(mut self) -> Option<bool> {
        let value = self.any()?;
        self.rest.is_empty().then_some(value)
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.eat("||") {
            value |= self.all()?;
        }
        Some(value)
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.eat("&&") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        self.size += 1;
        if self.size > Self::MAX_SIZE {
            return None;
        }
        let negated = self.eat("!");
        let value = if self.eat("(") {
            self.depth += 1;
            let inner = if self.depth < Self::MAX_DEPTH { self.any()? } else { return None };
            self.depth -= 1;
            if !self.eat(")") {
                return None;
            }
            inner
        } else {
            let end = self.rest.find(|it: char| !is_of_tag(it)).unwrap_or(self.rest.len());
            let (tag, rest) = self.rest.split_at(end);
            self.rest = rest.trim_start_matches([' ', '\t']);
            if tag.is_empty() {
                return None;
            }
            self.context.has(tag)
        };
        Some(value != negated)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(mark) else { return false };
        self.rest = rest.trim_start_matches([' ', '\t']);
        true
    }
}

pub(crate) fn is_os(name: &str) -> bool {
    is_unix(name) || matches!(name, "js" | "nacl" | "plan9" | "wasip1" | "windows" | "zos")
}

fn is_unix(name: &str) -> bool {
    matches!(
        name,
        "aix"
            | "android"
            | "darwin"
            | "dragonfly"
            | "freebsd"
            | "hurd"
            | "illumos"
            | "ios"
            | "linux"
            | "netbsd"
            | "openbsd"
            | "solaris"
    )
}

pub(crate) fn is_arch(name: &str) -> bool {
    const KNOWN: &str = "386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 \
                         mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm";
    KNOWN.split(' ').any(|it| it == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let context = BuildContext::default();
        let takes = |name: &str| context.takes(name, "package p\n");
        assert!(
            ["a.go", "linux.go", "a/b_linux.go", "b_linux_amd64_test.go", "b_amd64.go", "b_foo.go"]
                .map(takes)
                .iter()
                .all(|&it| it)
        );
        assert!(
            ["b_windows.go", "b_linux_arm64.go", "b_windows_test.go", "b_386.go", "_a.go", ".a.go"]
                .map(takes)
                .iter()
                .all(|&it| !it)
        );
    }

    #[test]
    fn lines() {
        let takes = |line: &str| {
            let tags = BTreeSet::from(["mine".to_owned()]);
            BuildContext { tags, ..BuildContext::default() }
                .takes("a.go", &format!("// Copyright\n\n{line}\n\npackage p\n"))
        };
        for line in [
            "//go:build linux && !(windows || arm64)",
            "//go:build unix && cgo && go1.18",
            "//go:build mine && !go1.99",
            "//go:build !ignore",
            "// +build linux,amd64 windows",
            "/* text */",
            "//go:build linux\n// +build windows",
        ] {
            assert!(takes(line), "{line}");
        }
        for line in [
            "//go:build ignore",
            "//go:build linux &&",
            "//go:build (linux",
            "//go:build a b",
            "// +build ignore",
            "// +build linux\n// +build windows",
        ] {
            assert!(!takes(line), "{line}");
        }
        let cgo = "package p\n\nimport \"fmt\"\n\n// int f();\nimport \"C\"\n\nvar x = 1\n";
        assert!(BuildContext::default().takes("a.go", cgo));
        assert!(!BuildContext { cgo: false, ..BuildContext::default() }.takes("a.go", cgo));
        let attached = "// +build ignore\npackage p\n";
        assert!(BuildContext::default().takes("a.go", attached), "a doc comment constrains nothing");
        assert!(BuildContext::default().takes("a.go", "package p\n\n//go:build ignore\n"), "too late");
        assert!(!BuildContext::default().takes("a.go", "\u{feff}//go:build ignore\r\n\r\npackage p\r\n"));
    }
}
