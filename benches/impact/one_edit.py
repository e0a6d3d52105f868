#!/usr/bin/env python3
"""One edit, asked about several times: how many places it breaks, and how long the first answer takes and the next.

For the cases that others were timed on:

    one_edit.py --server-binary semdex --workspace ripgrep --file crates/searcher/src/searcher/mod.rs \\
        --text 'pub fn build(&self) -> Searcher' --becomes 'pub fn build(&self, extra: u8) -> Searcher'
    one_edit.py --server-binary semdex --workspace gin --file context.go \\
        --text 'Context) JSON(code int, obj any)' --becomes 'Context) JSON(code int, obj any, extra int)'

Each answer is asked of a text that nobody asked about before: it ends with another comment.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import semdex_client as semdex

PAUSE = 0.7


def run(options, directory):
    root = semdex.copy_workspace(pathlib.Path(options.workspaces[0]), directory)
    text = (root / options.file).read_bytes().decode()
    if text.count(options.text) != 1:
        raise semdex.Failed(f"{options.text!r} stands {text.count(options.text)} times in {options.file}, not once")
    text = text.replace(options.text, options.becomes)
    with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
        server.wait_ready(options.ready_timeout)
        server.wait_indexed()
        for _ in range(options.times):
            text += "\n// once more\n"
            begin = time.perf_counter()
            reply = server.client.post(
                "/v1/write", workspace=server.workspace(root), name=options.file, content=text, mode="overwrite", dry_run=True, limit=500
            )
            took = time.perf_counter() - begin
            print(f"{1000 * took:.0f} ms, {len(reply['impact']['broken'])} places broken")
            time.sleep(PAUSE)


if __name__ == "__main__":
    parser = semdex.arguments(__doc__)
    parser.add_argument("--file", required=True, help="the edited file, as it is named in the workspace")
    parser.add_argument("--text", required=True, help="stands there once")
    parser.add_argument("--becomes", required=True, metavar="TEXT")
    parser.add_argument("--times", type=int, default=6)
    semdex.main(run, parser.parse_args())
