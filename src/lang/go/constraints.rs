//! Which files a build takes: `//go:build` lines and the names that end in `_GOOS_GOARCH`, as go/build reads them.

use std::collections::BTreeSet;

use super::syntax::{imports_c, leading_comments};

/// What a build is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildContext {
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
    /// The machine that this program was built for, without tags.
    pub fn host() -> BuildContext {
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

    /// Whether a build takes this file. Its directory is not looked at.
    pub fn takes(&self, file: &str, text: &str) -> bool {
        let name = file.rsplit('/').next().unwrap_or(file);
        !name.starts_with(['_', '.'])
            && self.takes_name(name)
            && self.takes_header(text)
            && (self.cgo || !imports_c(text))
    }

    /// Whether a build leaves this file out for nothing but cgo, which is off.
    pub fn lacks_cgo(&self, file: &str, text: &str) -> bool {
        let with_cgo = BuildContext { cgo: true, ..self.clone() };
        !self.cgo && !self.takes(file, text) && with_cgo.takes(file, text)
    }

    /// `name_GOOS`, `name_GOARCH` and `name_GOOS_GOARCH`, each before `_test` and the extension. What stands before
    /// the first underscore says nothing.
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

    fn takes_header(&self, text: &str) -> bool {
        let comments = leading_comments(text);
        if let Some(line) = comments.iter().find_map(|it| constraint(it.text, "//go:build")) {
            return Expression { rest: line, context: self, depth: 0 }.evaluate().unwrap_or(false);
        }
        let old = comments
            .iter()
            .filter(|it| it.apart)
            .filter_map(|it| constraint(it.text.strip_prefix("//").map(str::trim_start).unwrap_or_default(), "+build"));
        old.into_iter().all(|line| self.takes_old(line))
    }

    /// `// +build a,b !c`: a and b, or not c.
    fn takes_old(&self, line: &str) -> bool {
        line.split_whitespace().any(|all| {
            all.split(',').all(|tag| match tag.strip_prefix('!') {
                Some(tag) => !self.has(tag),
                None => self.has(tag),
            })
        })
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
                .and_then(|it| it.parse::<u32>().ok())
                .is_some_and(|it| (1..=self.go_minor).contains(&it)),
        };
        implied || tag == self.goos || tag == self.goarch || self.tags.contains(tag)
    }
}

/// What follows a constraint's keyword.
fn constraint<'t>(comment: &'t str, keyword: &str) -> Option<&'t str> {
    let rest = comment.strip_prefix(keyword)?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

/// `a && (b || !c)`. `None` is a malformed one, which no build takes.
struct Expression<'t, 'c> {
    rest: &'t str,
    context: &'c BuildContext,
    depth: usize,
}

impl Expression<'_, '_> {
    const MAX_DEPTH: usize = 100;

    fn evaluate(mut self) -> Option<bool> {
        let value = self.any()?;
        self.rest.trim().is_empty().then_some(value)
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
        let mut negated = false;
        while self.eat("!") {
            negated = !negated;
        }
        let value = if self.eat("(") {
            self.depth += 1;
            let inner = if self.depth < Self::MAX_DEPTH { self.any()? } else { return None };
            self.depth -= 1;
            if !self.eat(")") {
                return None;
            }
            inner
        } else {
            let end =
                self.rest.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == '.')).unwrap_or(self.rest.len());
            let (tag, rest) = self.rest.split_at(end);
            self.rest = rest;
            if tag.is_empty() {
                return None;
            }
            self.context.has(tag)
        };
        Some(value != negated)
    }

    fn eat(&mut self, mark: &str) -> bool {
        self.rest = self.rest.trim_start();
        let Some(rest) = self.rest.strip_prefix(mark) else { return false };
        self.rest = rest.trim_start();
        true
    }
}

fn is_os(name: &str) -> bool {
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

fn is_arch(name: &str) -> bool {
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
