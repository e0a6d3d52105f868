#!/usr/bin/env python3
"""64 writers change one file at the same time, each its own lines: nothing is lost, and nobody is refused.

Each writer counts on a line of its own, next to those of others, by edits that name the line as it is. At the end each line has the count of its
writer's edits, and nobody was refused.
"""

import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

FILE = "shared.txt"


class Writer(threading.Thread):
    def __init__(self, client, number, edits, wrong, seconds):
        super().__init__(daemon=True)
        self.client, self.number, self.edits, self.wrong, self.seconds = client.another(), number, edits, wrong, seconds

    def run(self):
        try:
            for turn in range(self.edits):
                body = {"file": FILE, "search_context": f"writer {self.number}: {turn}\n", "replacement": f"writer {self.number}: {turn + 1}\n"}
                begin = time.monotonic()
                status, reply = self.client.send("POST", "/v1/edit", body=body)
                self.seconds.append(time.monotonic() - begin)
                if status != 200:
                    self.wrong.append(f"writer {self.number}, edit {turn}: {status} {reply}")
                    return
        except Exception as error:
            self.wrong.append(f"writer {self.number}: {error!r}")
        finally:
            self.client.close()


def run(options, directory):
    root = directory / "workspace"
    root.mkdir()
    filler = "".join(f"filler {it}\n" for it in range(options.filler))
    (root / FILE).write_text(filler + "".join(f"writer {it}: 0\n" for it in range(options.writers)))
    each, wrong, seconds = options.edits // options.writers, [], []
    with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
        server.wait_ready()
        begin = time.monotonic()
        writers = [Writer(server.client, number, each, wrong, seconds) for number in range(options.writers)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        elapsed = time.monotonic() - begin
        changes = server.client.get("/v1/changes", limit=1)["total"]
    if (root / FILE).read_text() != filler + "".join(f"writer {it}: {each}\n" for it in range(options.writers)):
        wrong.append("the file is not what the writers made of it")
    if changes != each * options.writers:
        wrong.append(f"the journal has {changes} changes of {each * options.writers}")
    seconds.sort()
    at = lambda share: seconds[min(len(seconds) - 1, int(share * len(seconds)))] * 1000 if seconds else 0.0
    print(
        f"{options.writers} writers, {len(seconds)} edits of one file in {elapsed:.0f} s ({len(seconds) / elapsed:.0f} a second); "
        f"p50 {at(0.5):.0f} ms, p99 {at(0.99):.0f} ms, longest {at(1.0):.0f} ms; refused or lost: {len(wrong)}"
    )
    for it in wrong[:20]:
        print(f"  {it}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--writers", type=int, default=64, help="(default: %(default)s)")
    parser.add_argument("--edits", type=int, default=10_000, help="of all writers together (default: %(default)s)")
    parser.add_argument("--filler", type=int, default=200, help="lines before those of the writers (default: %(default)s)")
    semdex.main(run, parser.parse_args())
