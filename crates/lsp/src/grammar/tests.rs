//! Each language with a small text: the paths of its declarations, and a skeleton that parses again.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::{Code, Grammar, LspSyntax};
use semdex_model::{Role, Span, Syntax as _};

/// The paths and kinds of all declarations. The skeleton must parse without errors and declare the same.
#[track_caller]
fn check(language: &str, text: &str, expected: Expect, skeleton: Expect) {
    let grammar = Grammar::of(language);
    assert!(grammar.is_some(), "{language}");
    let syntax = LspSyntax { grammar, extensions: &[] };
    let paths = |text: &str| {
        let mut found = String::new();
        syntax.outline(text).walk(&mut |it| {
            let chain: Vec<&str> = it.container.iter().map(String::as_str).chain([it.name.as_str()]).collect();
            assert_eq!(&text[it.name_span.start..it.name_span.end], it.name);
            assert!(it.span.encloses(it.name_span));
            writeln!(found, "{} {}", it.kind.name(), chain.join(".")).unwrap();
        });
        found
    };
    expected.assert_eq(&paths(text));
    let outline = syntax.outline(text);
    assert_eq!(outline.errors, [], "{language}");
    skeleton.assert_eq(&outline.skeleton);
    assert_eq!(outline.skeleton_lines.len(), outline.skeleton.lines().count());
    let again = syntax.outline(&outline.skeleton);
    assert_eq!(again.errors, [], "{}", outline.skeleton);
    for (line, from) in outline.skeleton.lines().zip(&outline.skeleton_lines) {
        let original = text.lines().nth(from - 1).unwrap();
        let is_stand_in = line.contains("...") || line.trim_start().starts_with("# ");
        assert!(is_stand_in || line.starts_with(original.split('{').next().unwrap()), "{line:?} {original:?}");
    }
}

#[test]
fn python() {
    check(
        "python",
        r#""""Module."""
import os
from .a import b as c

LIMIT = 3

class A(B):
    """Doc."""
    x: int = 1

    @property
    def f(self) -> int:
        """What."""
        def inner():
            pass
        return 1

    def g(self): return 2

async def h(a,
        b=1):
    y = 2
    return y
"#,
        expect![["
            const LIMIT
            struct A
            field A.x
            method A.f
            function A.f.inner
            method A.g
            function h
        "]],
        expect![[r#"
            """Module."""
            import os
            from .a import b as c

            LIMIT = 3

            class A(B):
                """Doc."""
                x: int = 1

                @property
                def f(self) -> int:
                    """What."""
                    ...  # 3 lines

                def g(self): return 2

            async def h(a,
                    b=1):
                ...  # 2 lines
        "#]],
    );
    let syntax = LspSyntax { grammar: Grammar::of("python"), extensions: &["py"] };
    let outline =
        syntax.outline("import a.b as c, d\nfrom .x import (y, z as w)\nfrom m import *\n# Docs.\ndef f(): pass\n");
    let imports: Vec<(&str, Option<&str>)> =
        outline.imports.iter().map(|it| (it.path.as_str(), it.alias.as_deref())).collect();
    assert_eq!(imports, [("a.b", Some("c")), ("d", None), (".x.y", None), (".x.z", Some("w")), ("m.*", None)]);
    assert_eq!(outline.items[0].docs.as_deref(), Some("Docs."));
    assert!(
        syntax.is_path("a/b.py::C.d") && syntax.is_path("C.d") && !syntax.is_path("a/b.ts::C") && !syntax.is_path("C")
    );
}

#[test]
fn typescript() {
    check(
        "typescript",
        "import { a } from './a';
/** Doc. */
export class K<T> extends B {
  private x = 1;
  m(a: number): string {
    return '';
  }
}
export interface I { p: string; q(): void }
export enum E { A, B = 2 }
export type T = string;
export const f = (a: number) => {
  return a;
};
namespace N {
  export function g() {
    return 1;
  }
}
export default function h() {
  const local = 1;
}
",
        expect![["
            struct K
            field K.x
            method K.m
            interface I
            field I.p
            method I.q
            enum E
            variant E.A
            variant E.B
            type T
            function f
            module N
            function N.g
            function h
        "]],
        expect![["
            import { a } from './a';
            /** Doc. */
            export class K<T> extends B {
              private x = 1;
              m(a: number): string { /* 1 line */ }
            }
            export interface I { p: string; q(): void }
            export enum E { A, B = 2 }
            export type T = string;
            export const f = (a: number) => { /* 1 line */ };
            namespace N {
              export function g() { /* 1 line */ }
            }
            export default function h() { /* 1 line */ }
        "]],
    );
    let syntax = LspSyntax { grammar: Grammar::of("typescript"), extensions: &["ts"] };
    assert_eq!(syntax.outline("export const A = () => <div>{x}</div>;\n").errors, [], "TSX");
    let signed = "interface $A {}\nlet a: $A, A;\n";
    assert_eq!(syntax.outline(signed).items[0].name, "$A");
    let words: Vec<bool> = semdex_text::words::occurrences(signed, "A")
        .map(|at| Code::new(syntax.grammar, signed).word(Span::new(at, at + 1)).is_some())
        .collect();
    assert_eq!(words, [false, false, true]);
    assert_eq!(syntax.outline("/** Doc. */\nexport class K {}\n").items[0].docs.as_deref(), Some("Doc."));
}

#[test]
fn c_and_its_kin() {
    check(
        "c",
        "#include <stdio.h>
#define MAX 3
typedef struct CallInfo {
  int func;
  void (*hook)(int);
} CallInfo;
struct S { int a, *b; };
enum E { X, Y };
int add(int a, int b);
static int *find(int n) {
  int local;
  return 0;
}
int counter = 0;
",
        expect![["
            macro MAX
            type CallInfo
            struct CallInfo
            field CallInfo.func
            field CallInfo.hook
            struct S
            field S.a
            field S.b
            enum E
            variant E.X
            variant E.Y
            function add
            function find
            variable counter
        "]],
        expect![["
            #include <stdio.h>
            #define MAX 3
            typedef struct CallInfo {
              int func;
              void (*hook)(int);
            } CallInfo;
            struct S { int a, *b; };
            enum E { X, Y };
            int add(int a, int b);
            static int *find(int n) { /* 2 lines */ }
            int counter = 0;
        "]],
    );
    check(
        "cpp",
        "namespace n {
template <class T> class K {
 public:
  int f() const {
    return 1;
  }
  int x;
};
int K<int>::g() {
  return 2;
}
}
",
        expect![["
            module n
            struct n.K
            method n.K.f
            field n.K.x
            method n.K<int>.g
        "]],
        expect![["
            namespace n {
            template <class T> class K {
             public:
              int f() const { /* 1 line */ }
              int x;
            };
            int K<int>::g() { /* 1 line */ }
            }
        "]],
    );
}

#[test]
fn the_others() {
    check(
        "java",
        "import a.B;
class A {
  int x, y;
  void f() {
    g();
  }
}
",
        expect![["
            struct A
            field A.x
            field A.y
            method A.f
        "]],
        expect![["
            import a.B;
            class A {
              int x, y;
              void f() { /* 1 line */ }
            }
        "]],
    );
    check(
        "csharp",
        "namespace N {
  class A {
    int x;
    public int P { get; set; }
    void F() {
      G();
    }
  }
}
",
        expect![["
            module N
            struct N.A
            field N.A.x
            field N.A.P
            method N.A.F
        "]],
        expect![["
            namespace N {
              class A {
                int x;
                public int P { get; set; }
                void F() { /* 1 line */ }
              }
            }
        "]],
    );
    check(
        "ruby",
        "require 'a'
module M
  class A
    LIMIT = 1
    def f(x)
      y = x
      y
    end
  end
end
",
        expect![["
            module M
            struct M.A
            const M.A.LIMIT
            method M.A.f
        "]],
        expect![["
            require 'a'
            module M
              class A
                LIMIT = 1
                def f(x)
                  # 2 lines
                end
              end
            end
        "]],
    );
    check(
        "php",
        "<?php
class A {
  const X = 1;
  public $y = 2;
  function f() {
    return 1;
  }
}
function g() {
  return 2;
}
",
        expect![["
            struct A
            const A.X
            field A.y
            method A.f
            function g
        "]],
        expect![["
            <?php
            class A {
              const X = 1;
              public $y = 2;
              function f() { /* 1 line */ }
            }
            function g() { /* 1 line */ }
        "]],
    );
    check(
        "bash",
        r#"#!/bin/bash
source ./lib.sh
NAME=x
greet() {
  local a=1
  echo "$NAME"
}
greet
"#,
        expect![["
            const NAME
            function greet
        "]],
        expect![["
            #!/bin/bash
            source ./lib.sh
            NAME=x
            greet() { :; } # 2 lines
            greet
        "]],
    );
}

#[test]
fn words_of_code_are_distinguished_from_comments_and_strings() {
    let text = "from m import f\n# f\ns = 'f' + f'{f()}'\nf(1)\na.f()\nx = f\n";
    let code = Code::new(Grammar::of("python"), text);
    let roles: Vec<Role> = semdex_text::words::occurrences(text, "f")
        .filter_map(|at| code.word(Span::new(at, at + 1)))
        .map(|it| it.role)
        .collect();
    assert_eq!(roles, [Role::Import, Role::Call, Role::Call, Role::Call, Role::Read]);
    let role = |language: &str, text: &str, word: &str| {
        let at = text.rfind(word).unwrap();
        Code::new(Grammar::of(language), text).word(Span::new(at, at + word.len())).map(|it| it.role)
    };
    assert_eq!(role("bash", "greet() { :; }\ngreet world\n", "greet"), Some(Role::Call));
    for (text, word) in [("const x = <Shop name=\"a\" />;\n", "Shop"), ("const x = <a.Shop b=\"1\" />;\n", "Shop")] {
        assert_eq!(role("javascript", text, word), Some(Role::Call), "{text}");
    }
    let calls = Code::new(Grammar::of("typescript"), "function m() { a.b(new C(1)); d(); }\n");
    assert_eq!(calls.calls(Span::new(0, 40)).len(), 3);
}

#[test]
fn a_declaration_is_altered() {
    use semdex_model::Alteration::{Remove, Rename, Signature, Visibility};
    let after = |language: &str, text: &str, name: &str, change| {
        let syntax = LspSyntax { grammar: Grammar::of(language), extensions: &[] };
        let mut found = None;
        syntax.outline(text).walk(&mut |it| {
            if it.name == name {
                found = syntax.alter(text, it.span, it.name_span, change);
            }
        });
        let (span, new) = found?;
        let mut text = text.to_owned();
        text.replace_range(span.start..span.end, &new);
        Some(text)
    };
    let python = "class A:\n    x: int = 1\n\n    def f(self, a=1) -> int:\n        return a\n\ndef g(): pass\n";
    let check = |language: &str, text: &str, name: &str, change, expected: Option<&str>| {
        let found = after(language, text, name, change);
        match expected {
            Some(expected) => assert!(found.as_ref().is_some_and(|it| it.contains(expected)), "{name}: {found:?}"),
            None => assert_eq!(found, None, "{name}"),
        }
    };
    check("python", python, "f", Signature, Some("def f(self, semdex_added, a=1)"));
    check("python", python, "g", Signature, Some("def g(semdex_added)"));
    check("python", python, "x", Signature, Some("x: type[NotImplementedError] = 1"));
    check("python", python, "f", Remove, Some("    pass\n\ndef g"));
    check("python", python, "A", Rename, Some("class A_renamed:"));
    check("python", python, "A", Signature, None);
    check("python", python, "A", Visibility, None);
    let script = "export class K {\n  p: string = '';\n  m(a: number) {}\n}\nexport const f = (a: number) => a;\n";
    check("typescript", script, "m", Signature, Some("m(semdex_added: symbol, a: number)"));
    check("typescript", script, "f", Signature, Some("= (semdex_added: symbol, a: number) =>"));
    check("typescript", script, "p", Signature, Some("p: symbol = ''"));
    check("typescript", script, "K", Visibility, Some("class K {\n  p"));
    check("typescript", script, "f", Visibility, Some("}\nconst f"));
    check(
        "c",
        "int f(void) { return 1; }\nint g(int a) { return a; }\n",
        "f",
        Signature,
        Some("int f(int semdex_added)"),
    );
    check(
        "c",
        "int f(void) { return 1; }\nint g(int a) { return a; }\n",
        "g",
        Signature,
        Some("int g(int semdex_added, int a)"),
    );
    check("java", "class A {\n  public int f(int a) { return a; }\n}\n", "f", Visibility, Some("private int f"));
    check(
        "java",
        "class A {\n  public int f(int a) { return a; }\n}\n",
        "f",
        Signature,
        Some("f(int semdex_added, int a)"),
    );
}

/// Projects put macros before the type of a function. The parser takes the type for the name, the name for an error.
#[test]
fn a_macro_before_the_type_of_a_function_leaves_its_name() {
    let text = "API type_t length (state_t *s, int at) {
  type_t found;
  return found;
}
API type_t first (void);
API type_t third (state_t *s) {
  int found;
  return found;
}
";
    let syntax = LspSyntax { grammar: Grammar::of("c"), extensions: &[] };
    let mut names = Vec::new();
    syntax.outline(text).walk(&mut |it| {
        assert_eq!(&text[it.name_span.start..it.name_span.end], it.name);
        names.push(it.name.clone());
    });
    assert_eq!(names, ["length", "first", "third"]);
}

#[test]
fn a_signature_does_not_show_its_layout() {
    let text = "def get(
    url: str, params: tuple[int, ...] = (1,),

    **kwargs: Unpack[
        Args
    ],
) -> Response:
    return 1
";
    let syntax = LspSyntax { grammar: Grammar::of("python"), extensions: &[] };
    let mut signatures = Vec::new();
    syntax.outline(text).walk(&mut |it| signatures.push(it.signature.clone()));
    assert_eq!(signatures, ["def get(url: str, params: tuple[int, ...] = (1,), **kwargs: Unpack[Args]) -> Response"]);
}
