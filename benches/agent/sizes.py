#!/usr/bin/env python3
"""How long each verb's reply is, in characters of Markdown and of JSON, without a limit that was asked for.

    sizes.py --server-binary semdex --workspace ripgrep [--save DIRECTORY]

The flagship is one edit that gives `SearcherBuilder::build` one parameter more: every place that it breaks has to be in
the reply. Elsewhere than on ripgrep the symbols are those of gin.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import semdex_client as semdex

CASES = {
    "ripgrep": [
        ("open a file", "POST", "/v1/open", {"file": "crates/searcher/src/searcher/mod.rs"}),
        ("describe a struct", "POST", "/v1/describe", {"symbol": "grep_searcher::Searcher"}),
        ("describe a method", "POST", "/v1/describe", {"symbol": "grep_searcher::SearcherBuilder::build"}),
        ("describe a package", "POST", "/v1/describe", {"package": "grep_searcher"}),
        ("describe of std", "POST", "/v1/describe", {"symbol": "std::collections::HashMap"}),
        ("describe a file", "POST", "/v1/describe", {"file": "crates/core/main.rs"}),
        ("usages of a struct", "GET", "/v1/usages", {"symbol": "grep_searcher::Searcher"}),
        ("usages of a method", "GET", "/v1/usages", {"symbol": "grep_searcher::SearcherBuilder::build"}),
        ("callers", "GET", "/v1/callers", {"symbol": "grep_searcher::SearcherBuilder::build"}),
        ("implementations", "GET", "/v1/implementations", {"symbol": "grep_matcher::Matcher"}),
        ("diagnostics", "GET", "/v1/diagnostics", {}),
        ("impact: signature", "POST", "/v1/impact", {"symbol": "grep_searcher::SearcherBuilder::build", "change": "signature"}),
        ("impact: remove", "POST", "/v1/impact", {"symbol": "grep_searcher::Searcher", "change": "remove"}),
        ("edit: the flagship", "POST", "/v1/edit", {
            "file": "crates/searcher/src/searcher/mod.rs", "search_context": "pub fn build(&self) -> Searcher",
            "replacement": "pub fn build(&self, extra: u8) -> Searcher", "dry_run": True,
        }),
        ("rename", "POST", "/v1/rename", {"symbol": "grep_searcher::Searcher::search_reader", "new_name": "search_from", "dry_run": True}),
    ],
    "gin": [
        ("open a file", "POST", "/v1/open", {"file": "context.go"}),
        ("describe a struct", "POST", "/v1/describe", {"symbol": "github.com/gin-gonic/gin.Context"}),
        ("describe a method", "POST", "/v1/describe", {"symbol": "github.com/gin-gonic/gin.Context.JSON"}),
        ("describe a package", "POST", "/v1/describe", {"package": "github.com/gin-gonic/gin"}),
        ("usages of a struct", "GET", "/v1/usages", {"symbol": "github.com/gin-gonic/gin.Context"}),
        ("usages of a method", "GET", "/v1/usages", {"symbol": "github.com/gin-gonic/gin.Context.JSON"}),
        ("diagnostics", "GET", "/v1/diagnostics", {}),
        ("impact: signature", "POST", "/v1/impact", {"symbol": "github.com/gin-gonic/gin.Context.JSON", "change": "signature"}),
        ("edit: one parameter more", "POST", "/v1/edit", {
            "file": "context.go", "search_context": "Context) JSON(code int, obj any)",
            "replacement": "Context) JSON(code int, obj any, extra int)", "dry_run": True,
        }),
    ],
}


def run(options, directory):
    source = pathlib.Path(options.workspaces[0])
    root = semdex.copy_workspace(source, directory)
    cases = CASES["ripgrep" if (root / "crates/searcher").is_dir() else "gin"]
    rows = []
    with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
        server.wait_ready(options.ready_timeout)
        server.wait_indexed()
        for name, method, path, fields in cases:
            sizes = {}
            for form, accept in [("markdown", "text/markdown"), ("json", "application/json")]:
                asked = {"query": fields} if method == "GET" else {"body": fields}
                status, body = server.client.send(method, path, accept=accept, **asked)
                text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
                if status != 200:
                    raise semdex.Failed(f"{name}: {status}: {text[:400]}")
                sizes[form] = len(text)
                if options.save:
                    saved = pathlib.Path(options.save)
                    saved.mkdir(parents=True, exist_ok=True)
                    (saved / f"{root.name}-{name.replace(' ', '-').replace(':', '')}.{form}").write_text(text)
            rows.append((name, sizes["markdown"], sizes["json"]))
    print(f"{'reply':<26} {'Markdown':>9} {'JSON':>9}")
    for name, markdown, as_json in rows:
        print(f"{name:<26} {markdown:>9} {as_json:>9}")


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--save", metavar="DIRECTORY", help="where each reply is kept, to be read")
    semdex.main(run, parser.parse_args())
