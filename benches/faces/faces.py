#!/usr/bin/env python3
"""What the faces themselves cost:

- MCP over HTTP beside REST: the same `usages` in Markdown by either, alternating, each on one connection that is kept;
- `/healthz`: requests a second, the client on the same cores as the server (`load`, built by `go build`);
- metrics: the same, and as many `usages`, of two servers that differ in nothing but the layer that measures (`SEMDEX_METRICS=off`, which is for this
  program alone) and are asked in turn, 20 ms each: over longer times what else the machine does differs by more than metrics cost.
  Two processes of the same kind differ by 1 to 2 % as well, so there are many pairs of them.

    faces.py --server-binary semdex

Ends with 1 where MCP takes over a millisecond more at the median, `/healthz` answers less than 30,000 a second, or metrics cost
more than 1 %. It wants two cores and nothing else to do.
"""

import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))

import semdex_client as semdex

LIB = """//! Greetings.

/// Greets someone.
pub fn greet(name: &str) -> String {
    format!("Hello, {name}!")
}

"""


def workspace(directory):
    """A small package whose one function is used a hundred times."""
    users = "".join(f'pub fn greet_{it}() -> String {{\n    greet("{it}")\n}}\n\n' for it in range(100))
    (directory / "src").mkdir(parents=True)
    (directory / "Cargo.toml").write_text('[package]\nname = "greeter"\nversion = "0.1.0"\nedition = "2021"\n')
    (directory / "src/lib.rs").write_text(LIB + users)
    return directory


class Wire:
    """One connection that is kept; each request is timed from its first byte to the last one of the reply."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request):
        begun, reply, end = time.perf_counter(), b"", None
        self.socket.sendall(request)
        while end is None or len(reply) < end:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise semdex.Failed(f"the connection ended: {reply[:300]!r}")
            reply += piece
            head = reply.find(b"\r\n\r\n")
            if end is None and head >= 0:
                end = head + 4 + int(re.search(rb"(?i)content-length: *(\d+)", reply[:head]).group(1))
        took = time.perf_counter() - begun
        if b" 200 " not in reply.split(b"\r\n", 1)[0]:
            raise semdex.Failed(f"{reply[:300]!r}")
        return took, reply[head + 4 :].decode()


def beside_rest(server, rounds):
    """(seconds of each REST call, of each MCP call)"""
    host, port = server.client.address
    common = f"Host: {host}:{port}\r\nAuthorization: Bearer {server.client.token}\r\n"
    rest = f"GET /v1/usages?symbol=greeter::greet HTTP/1.1\r\n{common}Accept: text/markdown\r\n\r\n".encode()
    call = {"name": "usages", "arguments": {"symbol": "greeter::greet"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    head = f"POST /mcp HTTP/1.1\r\n{common}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    tool = f"{head}MCP-Protocol-Version: 2025-11-25\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    by_rest, by_tool = Wire(server.client.address), Wire(server.client.address)
    times = ([], [])
    for number in range(rounds + 50):
        one, markdown = by_rest.ask(rest)
        other, message = by_tool.ask(tool)
        told = json.loads(message)["result"]["content"][0]["text"]
        if told.split("\n---\n")[0] != markdown.split("\n---\n")[0]:
            raise semdex.Failed(f"the faces differ:\n{markdown[:300]}\n{told[:300]}")
        if number >= 50:
            times[0].append(one)
            times[1].append(other)
    return times


def load(program, server, *more):
    host, port = server.client.address
    said = subprocess.run([program, "-address", f"{host}:{port}", *more], capture_output=True, text=True)
    if said.returncode:
        raise semdex.Failed(said.stderr.strip())
    return json.loads(said.stdout)


def with_and_without(options, directory, program, root, short):
    """What metrics cost the cheapest request, and one that answers something."""
    paths = {"/healthz": [], "/v1/usages?symbol=greeter::greet": []}
    per_second, p99 = [], []
    for number in range(options.servers):
        measured, plain = (
            semdex.Server(options.server_binary, [root], directory=directory / f"{name}{number}", environment={"SEMDEX_METRICS": name}) for name in ("on", "off")
        )
        with measured, plain:
            for server in (measured, plain):
                server.wait_ready(options.ready_timeout)
                server.wait_indexed()
                answered = load(program, server, "-seconds", "1")
                counted = "semdex_request_duration_seconds_count" in server.client.send("GET", "/metrics", accept="*/*")[1]
                if counted != (server is measured):
                    raise semdex.Failed("the switch of the metrics does not work")
                if counted:
                    per_second.append(answered["per_second"])
                    p99.append(answered["p99_ms"])
            host, port = plain.client.address
            other = ["-other", f"{host}:{port}", "-other-token", plain.client.token, "-seconds", str(options.seconds / 2)]
            for path, ratios in paths.items():
                ratios.append(load(program, measured, "-path", path, "-token", measured.client.token, *other)["ratio"])
    answered = statistics.median(per_second)
    print(f"/healthz: {answered:,.0f} requests a second on {len(os.sched_getaffinity(0))} cores with the client, p99 {statistics.median(p99):.2f} ms")
    if answered < 30_000:
        short.append(f"/healthz: {answered:,.0f} requests a second")
    for path, ratios in paths.items():
        cost, error = 1 - statistics.mean(ratios), statistics.stdev(ratios) / len(ratios) ** 0.5
        print(f"metrics cost {cost:.2%} of the requests a second of {path}, ± {error:.2%} (mean and standard error of {len(ratios)} pairs of servers)")
        if cost > 0.01:
            short.append(f"metrics cost {cost:.2%} of {path}")


def milliseconds(values):
    ordered = sorted(values)
    return f"p50 {statistics.median(ordered) * 1e3:.2f} ms, p95 {ordered[int(len(ordered) * 0.95)] * 1e3:.2f} ms"


def run(options, directory):
    program = directory / "load"
    built = subprocess.run(["go", "build", "-o", program, "."], cwd=HERE / "load", capture_output=True, text=True)
    if built.returncode:
        raise semdex.Failed(built.stderr.strip())
    root, short = workspace(directory / "workspace"), []
    with semdex.Server(options.server_binary, [root], directory=directory / "server") as server:
        server.wait_ready(options.ready_timeout)
        server.client.get("/v1/usages", symbol="greeter::greet")
        rest, tool = beside_rest(server, options.rounds)
        more = (statistics.median(tool) - statistics.median(rest)) * 1e3
        print(f"usages in Markdown, {options.rounds} of each: REST {milliseconds(rest)}; MCP {milliseconds(tool)}; {more:+.2f} ms at the median")
        if more > 1.0:
            short.append(f"MCP takes {more:.2f} ms more than REST")
    with_and_without(options, directory, program, root, short)
    if short:
        raise semdex.Failed("; ".join(short))


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--rounds", type=int, default=1000, help="calls by each of REST and MCP (default: %(default)s)")
    parser.add_argument("--servers", type=int, default=12, help="pairs of servers with and without metrics (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long each pair is asked in turn (default: %(default)s)")
    semdex.main(run, parser.parse_args())
