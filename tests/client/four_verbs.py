"""open, describe, edit (dry run and real) and write, all through the generated client and its types."""

import sys

from semdex_client import AuthenticatedClient
from semdex_client.api.change import edit, write
from semdex_client.api.read import describe, open_, usages
from semdex_client.models import (
    At,
    ChangeReport,
    DescribedFile,
    DescribedSymbol,
    DescribeRequest,
    EditItem,
    EditRequest,
    Opened,
    OpenRequest,
    Problem,
    ProblemCode,
    State,
    Strategy,
    SymbolKind,
    UsagesReply,
    WriteMode,
    WriteRequest,
)


def expect(wanted, got):
    if wanted != got:
        raise SystemExit(f"wanted {wanted!r}, got {got!r}")
    return got


def typed(kind, reply):
    if not isinstance(reply, kind):
        raise SystemExit(f"wanted {kind.__name__}, got {reply!r}")
    return reply


def main(base_url, token):
    # The first answers that need the index wait for it.
    client = AuthenticatedClient(base_url=base_url, token=token, timeout=150.0)

    opened = typed(Opened, open_.sync(client=client, body=OpenRequest(file="src/lib.rs", wait_ms=120_000)))
    expect("greeter", opened.package)
    expect(State.READY, opened.meta.state)
    greet = next(it for it in opened.symbols if it.name == "greet")
    expect((SymbolKind.FUNCTION, 6), (greet.kind, greet.name_at.line))
    expect((3, 2), (greet.usages.total, greet.usages.files))

    described = typed(
        DescribedSymbol, describe.sync(client=client, body=DescribeRequest(package="greeter", symbol="greet"))
    )
    expect("greeter::greet", described.symbol.path)
    expect(3, described.usages.total)
    expect(True, described.meta.complete)
    file = typed(DescribedFile, describe.sync(client=client, body=DescribeRequest(file="src/lib.rs")))
    expect(opened.hash_, file.file.hash_)
    used = typed(UsagesReply, usages.sync(client=client, symbol="greeter::greet"))
    expect(described.usages.total, len(used.items))

    unknown = typed(Problem, describe.sync(client=client, body=DescribeRequest(symbol="greeter::gret")))
    expect((ProblemCode.UNKNOWN_SYMBOL, True), (unknown.code, "greeter::greet" in unknown.suggestions))

    changing = EditRequest(
        file="src/lib.rs",
        search_context="Hello, {name}!",
        replacement="Good day, {name}!",
        expected_hash=opened.hash_,
        dry_run=True,
    )
    dry = typed(ChangeReport, edit.sync(client=client, body=changing))
    expect((False, None), (dry.applied, dry.change))
    expect(opened.hash_, typed(Opened, open_.sync(client=client, body=OpenRequest(file="src/lib.rs"))).hash_)
    changing.dry_run = False
    real = typed(ChangeReport, edit.sync(client=client, body=changing))
    expect(True, real.applied)
    expect([Strategy.EXACT], [it.strategy for it in real.edits])
    expect(dry.files[0].hash_, real.files[0].hash_)
    stale = typed(Problem, edit.sync(client=client, body=changing))
    expect((ProblemCode.HASH_MISMATCH, real.files[0].hash_), (stale.code, stale.actual_hash))

    removal = EditRequest(edits=[EditItem(symbol="greeter::greet", at=At.DELETE)], dry_run=True)
    broken = typed(ChangeReport, edit.sync(client=client, body=removal)).impact.broken
    expect({"src/lib.rs", "src/shout.rs"}, {it.file for it in broken})

    written = typed(
        ChangeReport,
        write.sync(
            client=client,
            body=WriteRequest(name="src/farewell.rs", content="pub fn bye() {}\n", mode=WriteMode.CREATE),
        ),
    )
    expect([(True, None)], [(it.created, it.old_hash) for it in written.files])
    print("the four verbs: fine")


main(*sys.argv[1:])
