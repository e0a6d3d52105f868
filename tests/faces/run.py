"""The interfaces of semdex for others: run.py SEMDEX. Too slow for every change, so `make test-all` runs it.

- the pages in a real browser (pages.mjs, Playwright with the system's Chromium);
- clients of openapi.yaml: openapi-typescript with openapi-fetch, oapi-codegen, each compiled and run against a server;
- schemathesis against a server: no answer is 5xx, none is of a status or a form that the document does not have;
- scripts/diff-openapi.sh refuses what breaks clients, unless the version is another;
- the packed crates hold their sources and nothing else; a wheel with the binary of the test build (there is no release
  build) installs and runs; systemd accepts the unit.

Other tools that they need are installed into $SEMDEX_TOOLS, pinned.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HERE = REPOSITORY / "tests/faces"
TOOLS = pathlib.Path(os.environ.get("SEMDEX_TOOLS", REPOSITORY / "target/tools")).resolve()
OAPI_CODEGEN = "v2.8.2"

sys.path.insert(0, str(REPOSITORY / "scripts"))
from semdex_client import Failed, Server  # noqa: E402


def run(command, quiet=False, **how):
    """Runs a command that must succeed; shows its output if it fails."""
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


def python_tool(name):
    pins, directory = HERE / "requirements.txt", TOOLS / "faces-venv"
    if not fits(pins, directory):
        shutil.rmtree(directory, ignore_errors=True)
        run([sys.executable, "-m", "venv", directory], quiet=True)
        run([directory / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", pins], quiet=True)
        shutil.copy(pins, directory)
    return directory / "bin" / name


def oapi_codegen():
    program = TOOLS / f"oapi-codegen-{OAPI_CODEGEN}/oapi-codegen"
    if not program.exists():
        module = f"github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@{OAPI_CODEGEN}"
        run(["go", "install", module], quiet=True, env={**os.environ, "GOBIN": str(program.parent)})
    return program


def workspace(directory):
    """The package of tests/it/support.rs: it is defined only there."""
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
    root = workspace(directory / "workspace")
    # Another language, whose engine is a process with memory of its own.
    (root / "go.mod").write_text("module example.com/greeter\n\ngo 1.22\n")
    (root / "main.go").write_text("package main\n\nfunc main() { println(\"hello\") }\n")
    (directory / "config/semdex").mkdir(parents=True)
    (directory / "config/semdex/config.toml").write_text("[log]\nslow_ms = 1\n")
    faults = directory / "faults"
    faults.mkdir()
    holds = faults / "rust.prime"
    holds.write_text("stall")
    environment = {"XDG_CONFIG_HOME": str(directory / "config"), "SEMDEX_FAULTS": str(faults)}
    server = Server(binary, [root], directory=directory, environment=environment)
    with server:
        said = run(["node", HERE / "pages.mjs", server.hello["listening"], server.client.token, screenshots, modules, holds])
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
    program = python_tool("schemathesis")
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


def crate(_, directory):
    run([REPOSITORY / "scripts/package.sh", directory], quiet=True)
    packed = {re.sub(r"-[0-9.]+\.crate$", "", it.name): it for it in directory.glob("*.crate")}
    crates = {it.name for it in (REPOSITORY / "crates").iterdir()} - {"parser", "testing"}
    assert packed.keys() == {"semdex", *(f"semdex-{it}" for it in crates)}, sorted(packed)
    known = re.compile(r"src/|(Cargo\.(toml|toml\.orig|lock)|README\.md|CHANGELOG\.md|LICENSE-\w+|openapi\.yaml|\.cargo_vcs_info\.json)$")
    for package, file in packed.items():
        assert file.stat().st_size < 3 << 20, f"{package}: {file.stat().st_size} bytes"
        with tarfile.open(file) as archive:
            names = {it.split("/", 1)[1] for it in archive.getnames()}
        wanted = {
            "semdex": {"Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "openapi.yaml", "src/main.rs"},
            "semdex-http": {"src/pages/rapidoc/LICENSE.txt"},
        }.get(package, {"Cargo.toml", "src/lib.rs"})
        assert wanted <= names, f"{package} does not hold {wanted - names}"
        more = [it for it in names if not known.match(it) or "/fixtures/" in it]
        assert not more, f"{package} holds {more}"


def wheel(binary, directory):
    target = pathlib.Path(binary).resolve().parents[1]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    build = ["build", "--profile", "dev", "--out", directory / "wheels"]
    run([python_tool("maturin"), *build], quiet=True, cwd=REPOSITORY, env=environment)
    made = list((directory / "wheels").glob("semdex-*.whl"))
    assert len(made) == 1, made
    with zipfile.ZipFile(made[0]) as archive:
        names = archive.namelist()
        metadata = archive.read(next(it for it in names if it.endswith(".dist-info/METADATA"))).decode()
    assert any(it.endswith(".data/scripts/semdex") for it in names), names
    assert sum("licenses/" in it for it in names) == 3, names
    for wanted in ("Name: semdex", "License-Expression: MIT OR Apache-2.0", "Requires-Python: >=3.9", "# semdex"):
        assert wanted in metadata, f"no {wanted!r} in {metadata[:2000]}"
    run([sys.executable, "-m", "venv", directory / "venv"], quiet=True)
    run([directory / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", made[0]], quiet=True)
    said = run([directory / "venv/bin/semdex", "--version"], quiet=True)
    assert said.split()[0] == "semdex" and said.split()[1] in made[0].name, said


def unit(_, directory):
    if not shutil.which("systemd-analyze"):
        print("no systemd-analyze here: the unit is not looked at")
        return
    text = (REPOSITORY / "packaging/semdex.service").read_text()
    assert "%h/.cargo/bin/semdex" in text
    # Where the program is, which systemd looks for too, is another place on each machine.
    (directory / "semdex.service").write_text(text.replace("%h/.cargo/bin/semdex", "/bin/true"))
    said = run(["systemd-analyze", "--user", "verify", directory / "semdex.service"], quiet=True, env={**os.environ, "XDG_RUNTIME_DIR": str(directory)})
    assert not said.strip(), said


def main(binary, *names):
    parts = {it.__name__: it for it in (breaking, unit, crate, pages, typescript_client, go_client, contract, wheel)}
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
