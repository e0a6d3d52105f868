// The pages in a real browser: pages.mjs BASE_URL TOKEN SCREENSHOTS MODULES HOLDS. Chromium is the system's own; as long as
// the file HOLDS is there, the server's index stands still.
import assert from "node:assert/strict";
import { unlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [base, token, screenshots, modules, holds] = process.argv.slice(2);
const { chromium } = createRequire(path.join(modules, "package.json"))("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});

/** A page that fails the test where it asks another origin, or meets an error or its own policy. */
async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const expected = message.text().includes("status of 401");
    if (message.type() === "error" && !expected) page.faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith("data:")) page.faults.push(`asks ${request.url()}`);
    if (request.url().includes(token)) page.faults.push(`the token is in ${request.url()}`);
  });
  await page.goto(base + address);
  return page;
}

async function done(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

const shot = (page, name) => page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: !name.startsWith("docs") });
const say = (text) => console.log(`pages: ${text}`);

async function call(method, address, body) {
  const reply = await fetch(base + address, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  return reply.json();
}

// -- How far the index is, and what the engines take.
{
  const page = await open(`/#token=${token}`);
  const bar = page.locator(".card progress");
  await bar.waitFor();
  assert.ok((await bar.getAttribute("aria-label")).length > 0);
  assert.match(await page.locator(".card").innerText(), /: \d+ of \d+/);
  await shot(page, "loading");
  unlinkSync(holds);
  await page.waitForSelector(".card header .pill.ready");
  await bar.waitFor({ state: "detached" });
  const engines = page.locator(".card table[aria-label=Engines] tr");
  await engines.filter({ hasText: /gopls.*\d MB/s }).waitFor();
  await engines.filter({ hasText: /rust-analyzer.*in the process/s }).waitFor();
  await done(page);
  say("progress and memory are shown");
}

// -- The token: by the form, refused where it is wrong, and never in an address.
{
  const page = await open("/");
  await page.waitForSelector("#login:not([hidden])");
  await shot(page, "login");
  assert.equal(await page.evaluate(() => document.activeElement.id), "token");
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("refused").textContent.includes("does not take"));
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".card .pill.ready");
  assert.equal(await page.evaluate(() => sessionStorage.getItem("semdex-token")), token);
  await page.click("#forget");
  await page.waitForSelector("#login:not([hidden])");
  assert.equal(await page.evaluate(() => sessionStorage.getItem("semdex-token")), null);
  await done(page);
  say("the form takes the token");
}
{
  const page = await open(`/#token=${token}`);
  await page.waitForSelector(".card .pill.ready");
  assert.equal(page.url(), `${base}/`);
  await done(page);
  say("the address gives its token away");
}

// -- An engine that does not run takes no memory, and one that is not trusted is not missing.
{
  const page = await open("/");
  await page.route("**/v1/status", async (route) => {
    const response = await route.fetch();
    const status = await response.json();
    const [workspace] = status.workspaces;
    const engine = (name, language, state) => ({ name, language, state, restarts: 0 });
    workspace.engines.push(
      engine("basedpyright", "python", "missing"),
      engine("clangd", "c", "missing"),
      engine("bash-language-server", "bash", "idle"),
    );
    workspace.missing.push(
      { code: "untrusted", detail: "basedpyright runs code of the workspace, which is not trusted", scope: "python" },
      { code: "engine_missing", detail: "the language server of C is missing", scope: "c" },
    );
    await route.fulfill({ response, json: status });
  });
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  const row = (name) => page.locator(".card table[aria-label=Engines] tr").filter({ hasText: name });
  await row("basedpyright").waitFor();
  assert.match(await row("basedpyright").innerText(), /not started: not trusted\s+–/);
  assert.match(await row("clangd").innerText(), /missing\s+–/);
  assert.match(await row("bash-language-server").innerText(), /idle\s+–/);
  await done(page);
  say("an engine that does not run is said not to");
}

// -- What happens is shown while it happens; a change is taken back.
{
  const page = await open(`/#token=${token}`);
  await page.waitForSelector("#live.live");
  const edited = await call("POST", "/v1/edit", {
    file: "src/lib.rs",
    search_context: "pub fn greet(name: &str) -> String {\n    format!(\"Hello, {name}!\")",
    replacement: "pub fn greet(name: &str, times: usize) -> String {\n    format!(\"Hello, {name}!\").repeat(times)",
    wait_ms: 120000,
  });
  assert.equal(edited.applied, true);
  const made = page.locator(`#changes details[data-change="${edited.change}"]`);
  await made.waitFor();
  await made.locator("summary").press("Enter");
  await made.locator("pre .added").first().waitFor();
  assert.match(await made.innerText(), /2 places broken/);
  assert.match(await made.innerText(), /shout\.rs:\d+/);
  // Without the event that told of it the journal still knows.
  await page.reload();
  await page.waitForSelector("#live.live");
  await made.waitFor();
  await made.locator("summary").press("Enter");
  assert.match(await made.innerText(), /2 places broken · \d+ affected · \d+ tests? reached/);
  // The edit took longer than the server was told to call slow.
  const slow = page.locator("#questions tbody tr").filter({ hasText: "edit" }).first();
  await slow.waitFor();
  assert.match(await slow.innerText(), /edit\s+\d+/);
  await shot(page, "status-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "status-dark");
  await page.setViewportSize({ width: 390, height: 800 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  assert.equal(wide, false, "the page is wider than a telephone");
  await shot(page, "status-narrow");
  await page.setViewportSize({ width: 1200, height: 900 });

  await made.getByRole("button", { name: "Undo" }).press("Enter");
  assert.equal((await call("GET", "/v1/changes?limit=1")).changes[0].change, edited.change, "once is not enough");
  await made.getByRole("button", { name: "Really undo" }).press("Enter");
  await page.locator("#changes details.undone").first().waitFor();
  const [undo] = (await call("GET", "/v1/changes?limit=1")).changes;
  assert.equal(undo.undoes, edited.change);
  await done(page);
  say("a change is shown and taken back");
}

// -- A symbol is found by the keyboard alone.
{
  const page = await open(`/#token=${token}`);
  await page.waitForSelector(".card .pill.ready");
  await page.keyboard.press("/");
  await page.keyboard.type("greet_al");
  await page.locator("#found button").first().waitFor();
  await shot(page, "search");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("#code .marked").waitFor();
  assert.match(await page.locator("#code .marked").innerText(), /pub fn greet_all/);
  await shot(page, "skeleton-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "skeleton-dark");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#skeleton").isVisible(), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  await page.fill("#search", "nonesuch_anywhere");
  await page.waitForFunction(() => document.getElementById("found").textContent.includes("no such symbol"));
  await done(page);
  say("a symbol is found by the keyboard");
}

// -- The reference: all calls without a token, and "try it" with one.
{
  const page = await open("/docs");
  const text = () => page.evaluate(() => document.querySelector("rapi-doc").shadowRoot.textContent);
  await page.waitForFunction(() => document.querySelector("rapi-doc")?.shadowRoot?.textContent.includes("/v1/usages"));
  const shown = await text();
  for (const route of ["/v1/open", "/v1/edit", "/v1/overlays/{file}", "/v1/events", "/metrics", "/healthz"]) {
    assert.ok(shown.includes(route), `the reference lacks ${route}`);
  }
  await shot(page, "docs-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.querySelector("rapi-doc").getAttribute("theme") === "dark");
  await shot(page, "docs-dark");
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  await page.evaluate(() => document.querySelector("rapi-doc").scrollToPath("get-/v1/status"));
  const tried = page.waitForResponse((reply) => new URL(reply.url()).pathname === "/v1/status");
  await page.locator("rapi-doc").getByRole("button", { name: "TRY" }).first().click();
  const reply = await tried;
  assert.equal(reply.status(), 200);
  assert.equal((await reply.request().allHeaders()).authorization, `Bearer ${token}`);
  await shot(page, "docs-tried");
  await page.setViewportSize({ width: 390, height: 800 });
  await shot(page, "docs-narrow");
  await done(page);
  say("the reference shows all calls and tries one");
}

await browser.close();
console.log("the pages: fine");
