"""How each agent is started without a terminal, with a model of the test and all its own files below one directory.

`home` is the user's directory, `address` the model's. What a person would answer once in a dialog is answered here: the agent trusts the
project, and Claude Code uses the server of `.mcp.json`.
"""

import json
import pathlib

PLUGINS = pathlib.Path(__file__).resolve().parents[2] / "plugins"
PROMPT = "Who calls the function? Change it."


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def programs(modules):
    found = {name: modules / ".bin" / name for name in ("codex", "gemini", "qwen", "copilot", "cline")}
    # Their packages link the program in a script, which the installation does not run.
    for name, pattern in (("claude", "@anthropic-ai/claude-code-linux-*/claude"), ("opencode", "opencode-linux-*/bin/opencode")):
        # The variant for old processors runs everywhere.
        found[name] = sorted(modules.glob(pattern))[-1]
    return found


class Client:
    """`init`: its name for `semdex init`."""

    init = None
    has_hooks = False
    # More arguments of a session.
    more = ()

    def prepare(self, home, root, address):
        """The configuration that the user has before semdex comes."""

    def environment(self, address):
        return {}

    def consent(self, program):
        """What a person does once after `semdex init`, as a command. None: nothing."""

    def command(self, program, prompt):
        raise NotImplementedError


class Claude(Client):
    init, has_hooks = "claude", True

    def prepare(self, home, root, address):
        # Until the project is trusted, neither its permissions nor its hooks count.
        write(home / ".claude.json", json.dumps({"hasCompletedOnboarding": True, "projects": {str(root): {"hasTrustDialogAccepted": True}}}))

    def environment(self, address):
        return {
            "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1", "ENABLE_TOOL_SEARCH": "true",
        }

    def command(self, program, prompt):
        return [program, "-p", prompt, "--settings", json.dumps({"enableAllProjectMcpServers": True}), "--permission-mode", "acceptEdits", *self.more]


class Codex(Client):
    init = "codex"

    def prepare(self, home, root, address):
        # A comment and a setting of the user, which `init` must keep.
        write(home / ".codex/config.toml", f"""# of the user
model_provider = "test"
model = "gpt-5.4"
[model_providers.test]
name = "test"
base_url = "{address}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[projects."{root}"]
trust_level = "trusted"
""")

    def environment(self, address):
        return {"OPENAI_API_KEY": "none"}

    def command(self, program, prompt):
        return [program, "exec", "--skip-git-repo-check", prompt]


class Gemini(Client):
    init, has_hooks = "gemini", True

    def prepare(self, home, root, address):
        write(home / ".gemini/settings.json", json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
        # Otherwise the settings of the project do not count, without a word.
        trusted = {str(it): "TRUST_FOLDER" for it in (root, PLUGINS / "gemini")}
        write(home / ".gemini/trustedFolders.json", json.dumps(trusted))

    def environment(self, address):
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": address}

    def command(self, program, prompt):
        # Its own tools for edits exist without a terminal only if they need no permission.
        return [program, "--approval-mode", "auto_edit", "-m", "gemini-2.5-pro", "-p", prompt]


class Opencode(Client):
    init, has_hooks = "opencode", True

    def prepare(self, home, root, address):
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "test", "options": {"baseURL": f"{address}/v1", "apiKey": "none"}, "models": {"scripted": {"name": "scripted"}}}
        write(home / ".config/opencode/opencode.json", json.dumps({"provider": {"test": provider}, "model": "test/scripted", "autoupdate": False}))

    def environment(self, address):
        # It installs what its plugins may import before it begins, and tries for 70 s where no registry is reached.
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "npm_config_fetch_retries": "0"}

    def command(self, program, prompt):
        return [program, "run", prompt]


class Qwen(Client):
    init = "qwen"

    def environment(self, address):
        return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_MODEL": "scripted"}

    def consent(self, program):
        return [program, "mcp", "approve", "semdex"]

    def command(self, program, prompt):
        return [program, "--auth-type", "openai", prompt]


class Copilot(Client):
    init = "copilot"

    def environment(self, address):
        return {"COPILOT_PROVIDER_BASE_URL": f"{address}/v1", "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "scripted", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}

    def command(self, program, prompt):
        return [program, "-p", prompt, "--allow-tool", "semdex", "--trust-folder", "--disable-builtin-mcps"]


class Cline(Client):
    init = "cline"

    def prepare(self, home, root, address):
        settings = {"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": f"{address}/v1"}
        providers = {"openai-compatible": {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}
        write(home / ".cline/data/settings/providers.json", json.dumps({"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": providers}))

    def command(self, program, prompt):
        return [program, "-P", "openai-compatible", prompt]


CLIENTS = {it.init: it for it in (Claude(), Codex(), Gemini(), Opencode(), Qwen(), Copilot(), Cline())}
