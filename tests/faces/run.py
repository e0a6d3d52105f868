"""The faces of semdex for others: run.py SEMDEX. Too slow for every change, so `make test-all` runs it.

- the pages in a real browser (pages.mjs, Playwright with the system's Chromium);
- clients of openapi.yaml: openapi-typescript with openapi-fetch, oapi-codegen, each compiled and run against a server;
- schemathesis against a server: no answer is 5xx, none is of a status or a form that the document does not have;
- scripts/diff-openapi.sh refuses what breaks clients, unless the version is another.

What they need beyond is installed into $SEMDEX_TOOLS, pinned.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HERE = REPOSITORY / "tests/faces"
TOOLS = pathlib.Path(os.environ.get("SEMDEX_TOOLS", REPOSITORY / "target/tools")).resolve()
OAPI_CODEGEN = "v2.8.2"

sys.path.insert(0, str(REPOSITORY / "scripts"))
from semdex_client import Failed, Server  # noqa: E402


def run(command, quiet=False, **how):
    """A command that must succeed; what it says is shown where it does not."""
    ended = subprocess.run([str(it) for it in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if ended.returncode:
        raise Failed(f"{' '.join(map(str, command))} ended with {ended.returncode}:\n{ended.stdout[-8000:]}")
    if not quiet:
        print(ended.stdout, end="")
    return ended.stdout


def fits(pins, directory):
    kept = directory / pins.name
    return kept.exists() and kept.read_bytes() == pins.read_bytes()


def node_modules():
    pins, directory = HERE / "package.json", TOOLS / "faces-node"
    if not fits(pins, directory):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        shutil.copy(pins, directory / "package.json.new")
        (directory / "package.json.new").rename(directory / "package.json")
        environment = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
        # Pinned without a lockfile, which would name the registry.
        install = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--no-package-lock", "--ignore-scripts"]
        try:
            run([*install, "--prefix", directory], quiet=True, env=environment)
        except Failed:
            shutil.rmtree(directory)
            raise
    return directory


def schemathesis():
    pins, directory = HERE / "requirements.txt", TOOLS / "faces-venv"
    if not fits(pins, directory):
        shutil.rmtree(directory, ignore_errors=True)
        run([sys.executable, "-m", "venv", directory], quiet=True)
        run([directory / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", pins], quiet=True)
        shutil.copy(pins, directory)
    return directory / "bin/schemathesis"


def oapi_codegen():
    program = TOOLS / f"oapi-codegen-{OAPI_CODEGEN}/oapi-codegen"
    if not program.exists():
        module = f"github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@{OAPI_CODEGEN}"
        run(["go", "install", module], quiet=True, env={**os.environ, "GOBIN": str(program.parent)})
    return program


def workspace(directory):
    """The package of tests/it/support.rs, so that there is one of it."""
    support = (REPOSITORY / "tests/it/support.rs").read_text()
    text = lambda name: re.search(rf'const {name}: &str = r#"(.*?)"#;', support, re.S).group(1)
    (directory / "src").mkdir(parents=True)
    (directory / "Cargo.toml").write_text('[package]\nname = "greeter"\nversion = "0.1.0"\nedition = "2021"\n')
    (directory / "src/lib.rs").write_text(text("LIB"))
    (directory / "src/shout.rs").write_text(text("SHOUT"))
    return directory


def serve(binary, directory):
    server = Server(binary, [workspace(directory / "workspace")], directory=directory)
    server.wait_ready()
    return server, server.hello["listening"], server.client.token


def pages(binary, directory):
    screenshots = directory / "screenshots"
    screenshots.mkdir()
    modules = node_modules()
    server, base, token = serve(binary, directory)
    with server:
        said = run(["node", HERE / "pages.mjs", base, token, screenshots, modules])
    assert "the pages: fine" in said
    kept = os.environ.get("SEMDEX_SCREENSHOTS")
    if kept:
        shutil.copytree(screenshots, kept, dirs_exist_ok=True)


def typescript_client(binary, directory):
    modules, generated = node_modules(), directory / "client"
    generated.mkdir()
    run([modules / "node_modules/.bin/openapi-typescript", REPOSITORY / "openapi.yaml", "--default-non-nullable=false", "-o", generated / "semdex.ts"], quiet=True)
    shutil.copy(HERE / "client.ts", generated)
    (generated / "package.json").write_text('{"type": "module"}')
    (generated / "node_modules").symlink_to(modules / "node_modules")
    compile = [modules / "node_modules/.bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck"]
    (generated / "node.d.ts").write_text("declare const process: { argv: string[] };\n")
    run([*compile, "client.ts", "node.d.ts"], cwd=generated)
    server, base, token = serve(binary, directory)
    with server:
        assert "the four verbs: fine" in run(["node", generated / "client.js", base, token])


def go_client(binary, directory):
    program, module = oapi_codegen(), directory / "client"
    (module / "semdex").mkdir(parents=True)
    shutil.copy(HERE / "go/main.go", module)
    (module / "go.mod").write_text("module semdex.test/client\n\ngo 1.24\n")
    generate = ["-generate", "types,client", "-package", "semdex", "-o", module / "semdex/semdex.go"]
    run([program, *generate, REPOSITORY / "openapi.yaml"])
    environment = {**os.environ, "GOFLAGS": "-mod=mod"}
    run(["go", "mod", "tidy"], quiet=True, cwd=module, env=environment)
    run(["go", "vet", "./..."], cwd=module, env=environment)
    run(["go", "build", "-o", "client", "."], cwd=module, env=environment)
    server, base, token = serve(binary, directory)
    with server:
        assert "the four verbs: fine" in run([module / "client", base, token])


def contract(binary, directory):
    program = schemathesis()
    server, base, token = serve(binary, directory)
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    with server:
        run(
            [
                program, "run", REPOSITORY / "openapi.yaml", "--url", base, "--header", f"Authorization: Bearer {token}",
                "--checks", checks, "--max-examples", os.environ.get("SEMDEX_EXAMPLES", "40"), "--seed", "19", "--workers", "1",
                # What it streams has no end; a workspace that is closed answers nobody.
                "--exclude-operation-id", "events", "--exclude-operation-id", "close_workspace",
                "--request-timeout", "150", "--suppress-health-check", "all", "--no-color",
            ],
            cwd=directory,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)},
        )
        server.must_live()


def breaking(_, directory):
    script, document = REPOSITORY / "scripts/diff-openapi.sh", REPOSITORY / "openapi.yaml"
    text, changed = document.read_text(), directory / "openapi.yaml"
    run([script], quiet=True)
    for name, broken in [
        ("a call that is gone", text.replace("  /v1/callees:\n", "  /v1/called:\n")),
        ("a parameter that is gone", text.replace("      - name: min_revision\n", "      - name: least_revision\n", 1)),
    ]:
        assert broken != text, name
        changed.write_text(broken)
        refused = subprocess.run([script, changed], capture_output=True, text=True)
        if refused.returncode != 1:
            raise Failed(f"{name} was not refused: {refused.stdout}{refused.stderr}")
        changed.write_text(re.sub(r"^(  version: *).*$", r"\g<1>9.0.0", broken, count=1, flags=re.M))
        run([script, changed], quiet=True)


def main(binary, *names):
    parts = {it.__name__: it for it in (breaking, pages, typescript_client, go_client, contract)}
    for name in names or parts:
        directory = pathlib.Path(tempfile.mkdtemp(prefix=f"semdex-{name}-"))
        print(f"== {name}", flush=True)
        parts[name](binary, directory)
        shutil.rmtree(directory, ignore_errors=True)
    print(json.dumps({"fine": list(names or parts)}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failed as failed:
        sys.exit(str(failed))
