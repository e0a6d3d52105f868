// semdex: after an edit, what is wrong and what the edit broke elsewhere follows the tool's output.
// `semdex init opencode --hook --write` wrote this file; `semdex init opencode --remove` removes it.
import { spawn } from "node:child_process";

const EDITS = new Set(["edit", "write", "patch", "multiedit", "apply_patch"]);
const PATIENCE_MS = 5000;

// A hook never breaks the agent: without an answer there is nothing to add.
function hook(event) {
  return new Promise((resolve) => {
    const child = spawn("SEMDEX", ["hook", "claude"], { stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE_MS });
    let answer = "";
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (text) => (answer += text));
    child.on("close", () => {
      try {
        resolve(JSON.parse(answer).hookSpecificOutput?.additionalContext ?? "");
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

export const Semdex = async ({ directory }) => ({
  "tool.execute.after": async (input, output) => {
    if (!EDITS.has(input.tool)) return;
    const text = await hook({
      hook_event_name: "PostToolUse",
      session_id: input.sessionID,
      cwd: directory,
      tool_name: "Edit",
      tool_input: { file_path: input.args?.filePath ?? output.metadata?.filediff?.file },
    });
    if (text) output.output += `\n\n${text}`;
  },
});
