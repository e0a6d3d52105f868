//! Fuzz target of the grammars: outlines, skeletons and words of mostly invalid texts.

use proptest::prelude::any;
use proptest::sample::select;

use super::{Code, Grammar, LspSyntax};
use semdex_model::{Outline, OutlineItem, Span, Syntax as _};
use semdex_testing::fuzz::{fuzz, mutated};
use semdex_text::words::occurrences;

const LANGUAGES: &[&str] = &["python", "typescript", "javascript", "c", "cpp", "java", "csharp", "ruby", "php", "bash"];

/// A text for each grammar. The grammar that reads it is chosen at random.
const TEXTS: &[&str] = &[
    "\"\"\"Module.\"\"\"\nimport os\nfrom .a import b as c\n\nLIMIT = 3\n\nclass A(B):\n    \"\"\"Doc.\"\"\"\n    x: int = 1\n\n    @property\n    def f(self) -> int:\n        \"\"\"What.\"\"\"\n        def inner():\n            pass\n        return 1\n\nasync def h(a,\n        b=1): return [x for x in y if not z]\n",
    "import { a } from './a';\n/** Doc. */\nexport class K<T> extends B {\n  private x = 1;\n  m(a: number): string {\n    return `${a}`;\n  }\n}\nexport enum E { A, B = 2 }\nexport const f = async (a: number) => {\n  return <div>{a}</div>;\n};\nnamespace N { export function g() {} }\n",
    "#include <stdio.h>\n#define MAX(x) ((x) \\\n  + 1)\ntypedef struct CallInfo {\n  int func;\n  void (*hook)(int);\n} CallInfo;\n#ifdef X\nenum E { X, Y };\n#endif\nstatic int *find(int n) {\n  int local;\n  return !0;\n}\nint a, *b, c[3];\n",
    "namespace n {\ntemplate <class T> class K : public B {\n public:\n  int f() const {\n    return 1;\n  }\n  ~K();\n};\nint K<int>::g() { return [&](auto x) { return x; }(2); }\n}\n",
    "package a;\nimport a.B;\n@A(1)\nclass A<T> extends B implements C {\n  int x, y;\n  void f() {\n    g(() -> 1);\n  }\n  enum D { E, F { void g() {} } }\n}\n",
    "using A.B;\nnamespace N {\n  class A : B {\n    public int P { get; set; }\n    void F() => G();\n  }\n  record R(int X);\n}\n",
    "require 'a'\nmodule M\n  class A < B\n    LIMIT = 1\n    def self.f(x)\n      y = x.map { |it| it + 1 }\n      <<~T\n        #{y}\n      T\n    end\n  end\nend\n",
    "<?php\nnamespace A\\B;\nuse C\\{D, E as F};\nclass A {\n  const X = 1;\n  public $y = 2;\n  function f(): ?int {\n    return $this->y;\n  }\n}\n?>\n<p><?= $x ?></p>\n",
    "#!/bin/bash\nsource ./lib.sh\nNAME=x\ngreet() {\n  local a=1\n  echo \"$NAME\" | cat <<EOF\n$(x)\nEOF\n}\nif [[ $a == b ]]; then greet; fi\n",
];

const WORDS: &[&str] = &[
    "def ",
    "class ",
    "function ",
    "func",
    "struct ",
    "enum ",
    "namespace ",
    "module ",
    "end\n",
    "return ",
    "import ",
    "from ",
    "export ",
    "const ",
    "let ",
    "typedef ",
    "template<",
    "public ",
    "private:",
    "static ",
    "async ",
    "await ",
    "if ",
    "else ",
    "elif ",
    "fi\n",
    "then\n",
    "do\n",
    "done\n",
    "not ",
    "lambda ",
    "new ",
    "@",
    "#",
    "##",
    "//",
    "/*",
    "*/",
    "/**",
    "\"\"\"",
    "'''",
    "\"",
    "'",
    "`",
    "${",
    "$(",
    "$",
    "<<EOF\n",
    "<?php ",
    "?>",
    "#include <",
    "#define ",
    "#if ",
    "#endif\n",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "=>",
    "->",
    "::",
    ":",
    ";",
    ",",
    ".",
    "...",
    "?.",
    "=",
    "==",
    "!",
    "+",
    "-",
    "*",
    "&",
    "|",
    "~",
    "\\",
    "\n",
    "\r\n",
    "    ",
    "\t",
    "x",
    "A",
    "a.b",
    "1",
    "é",
    "_",
];

fn check(text: &str, outline: &Outline) {
    fn items(text: &str, all: &[OutlineItem]) {
        for item in all {
            assert!(text.get(item.span.start..item.span.end).is_some(), "{item:?}");
            assert!(text.get(item.name_span.start..item.name_span.end).is_some(), "{item:?}");
            assert!(item.body.is_none_or(|body| text.get(body.start..body.end).is_some()), "{item:?}");
            assert!(!item.signature.contains('\n') && !item.name.is_empty(), "{item:?}");
            items(text, &item.children);
        }
    }
    items(text, &outline.items);
    assert_eq!(outline.skeleton.lines().count(), outline.skeleton_lines.len(), "{:?}", outline.skeleton);
    let lines = text.lines().count();
    assert!(outline.skeleton_lines.iter().all(|&line| line <= lines + 1), "{:?}", outline.skeleton_lines);
    assert!(outline.errors.iter().all(|it| text.get(it.span.start..it.span.end).is_some()));
    assert!(outline.imports.iter().all(|it| text.get(it.span.start..it.span.end).is_some()));
}

#[test]
fn fuzz_outlines_of_grammars() {
    let deep = (
        select(&["!", "- ", "not ", "(", "x.", "f(", "a + ", "if x: ", "else if (x) {} ", "* ", "&&x"][..]),
        0_usize..3000,
    );
    fuzz(
        "lsp_grammars",
        (select(LANGUAGES), mutated(TEXTS, WORDS), deep, any::<bool>()),
        |(language, text, deep, is_deep)| {
            let text = if is_deep { format!("{text}{}", deep.0.repeat(deep.1)) } else { text };
            let syntax = LspSyntax { grammar: Grammar::of(language), extensions: &["x"] };
            let outline = syntax.outline(&text);
            check(&text, &outline);
            if !syntax.is_too_deep(&text) {
                check(&outline.skeleton, &syntax.outline(&outline.skeleton));
            }
            let code = Code::new(syntax.grammar, &text);
            for at in occurrences(&text, "x").take(50) {
                code.word(Span::new(at, at + 1));
            }
            for span in code.calls(Span::new(0, text.len())) {
                assert!(text.get(span.start..span.end).is_some());
            }
        },
    );
}
