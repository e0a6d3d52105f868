// The four verbs through the client that openapi-typescript's types make of openapi-fetch: client.js BASE_URL TOKEN.
import createClient from "openapi-fetch";
import type { components, paths } from "./semdex.js";

const [base, token] = process.argv.slice(2);
const client = createClient<paths, "application/json" | "application/problem+json">({ baseUrl: base!, headers: { authorization: `Bearer ${token}` } });

function expect<T>(wanted: T, got: T): void {
  if (JSON.stringify(wanted) !== JSON.stringify(got)) throw new Error(`wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`);
}

const wait_ms = 120_000;
const opened = await client.POST("/v1/open", { body: { file: "src/lib.rs", wait_ms } });
if (!opened.data) throw new Error(opened.error?.detail);
expect("greeter", opened.data.package);
const greet = opened.data.symbols.find((it) => it.name === "greet");
expect<components["schemas"]["SymbolKind"] | undefined>("function", greet?.kind);

const described = await client.POST("/v1/describe", { body: { symbol: "greeter::greet", wait_ms } });
if (described.data?.kind !== "symbol") throw new Error("a symbol was asked for");
expect(3, described.data.usages.total);

const usages = await client.GET("/v1/usages", { params: { query: { symbol: "greeter::greet", wait_ms } } });
expect(3, usages.data?.total);

const edit = { file: "src/lib.rs", search_context: "Hello, {name}!", replacement: "Good day, {name}!", wait_ms };
const dry = await client.POST("/v1/edit", { body: { ...edit, dry_run: true } });
expect<boolean | undefined>(false, dry.data?.applied);
const made = await client.POST("/v1/edit", { body: edit });
expect<boolean | undefined>(true, made.data?.applied);
const missed = await client.POST("/v1/edit", { body: { ...edit, search_context: "nowhere to be found at all", autofix: 100 } });
expect<components["schemas"]["ProblemCode"] | undefined>("no_match", missed.error?.code);

const written = await client.POST("/v1/write", { body: { name: "notes.txt", content: "one\n", mode: "create", wait_ms } });
expect<boolean | undefined>(true, written.data?.files[0]?.created);
for (const change of [written.data?.change, made.data?.change]) {
  const undone = await client.POST("/v1/undo", { body: { change: change!, wait_ms } });
  expect<boolean | undefined>(true, undone.data?.applied);
}
const status = await client.GET("/v1/status");
expect(1, status.data?.workspaces.length);
console.log("the four verbs: fine");
