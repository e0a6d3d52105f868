"""A scripted model on a loopback port: it speaks Anthropic messages, OpenAI responses and chat completions, and Gemini, streamed or
not. The main conversation of an agent is answered with the steps of a script, side requests (titles, summaries) with a word.

A step is a list of calls (tool, arguments), or a function of the request that returns one. `semdex:VERB` is looked for among the
tools of the request, since each agent gives them another name. After the last step the model says that it is done.
"""

import gzip
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# An agent's main conversation offers more tools than its side requests.
FEWEST_TOOLS = 4


class Tool:
    def __init__(self, name, namespace=None, kind=None, text=""):
        self.name, self.namespace, self.kind, self.text = name, namespace, kind, text


def tools_of(body):
    """Every tool that a request offers, with its definition as text."""
    found = []
    for tool in body.get("tools") or []:
        inner = tool.get("functionDeclarations") or tool.get("function_declarations")
        if inner:
            found += [Tool(it["name"], text=json.dumps(it)) for it in inner]
        elif tool.get("type") == "namespace":
            found += [Tool(it.get("name"), tool.get("name"), text=json.dumps(it)) for it in tool.get("tools") or []]
        elif isinstance(tool.get("function"), dict):
            found.append(Tool(tool["function"]["name"], text=json.dumps(tool)))
        else:
            found.append(Tool(tool.get("name") or tool.get("type"), kind=tool.get("type"), text=json.dumps(tool)))
    return found


def is_ours(tool, verb):
    full = f"{tool.namespace or ''}__{tool.name}"
    return re.search(rf"semdex[^a-z]+{verb}$", full) is not None


def messages_of(body):
    return body.get("messages") or body.get("input") or body.get("contents") or []


def text_of(value):
    """All texts of a message, tool results included."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text_of(it) for it in value)
    if isinstance(value, dict):
        return "\n".join(text_of(it) for key, it in value.items() if key not in ("type", "role", "id"))
    return ""


class Request:
    def __init__(self, body):
        self.body, self.tools = body, tools_of(body)

    def verbs(self):
        """The tools of semdex that the model can call."""
        return {it.name.rsplit("__", 1)[-1].removeprefix("semdex").strip("-_") for it in self.tools if "semdex" in f"{it.namespace}{it.name}"}

    def last(self):
        """The text of what is new after the model's previous reply."""
        new = []
        for message in reversed(messages_of(self.body)):
            kind = message.get("type", "")
            if message.get("role") in ("assistant", "model") or kind.endswith("_call"):
                break
            new.insert(0, message)
        return text_of(new)

    def all(self):
        return text_of(self.body)


class Model:
    def __init__(self, steps):
        self.steps, self.requests, self.lock = list(steps), [], threading.Lock()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), lambda *it: Handler(self, *it))
        self.http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def said(self, number):
        """What the model read after its step of this number."""
        return self.requests[number + 1].last() if number + 1 < len(self.requests) else ""

    def step(self, body):
        request = Request(body)
        if len(request.tools) < FEWEST_TOOLS:
            return None, []
        with self.lock:
            number = len(self.requests)
            self.requests.append(request)
        if number >= len(self.steps):
            return number, []
        step = self.steps[number]
        calls = step(request) if callable(step) else step
        return number, [(self.named(tool, request), arguments) for tool, arguments in calls]

    def named(self, name, request):
        if not name.startswith("semdex:"):
            return next((it for it in request.tools if it.name == name), Tool(name))
        verb = name.split(":", 1)[1]
        return next((it for it in request.tools if is_ours(it, verb)), Tool(f"mcp__semdex__{verb}"))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, model, *arguments):
        self.model = model
        super().__init__(*arguments)

    def log_message(self, *_):
        pass

    def read_body(self):
        data = b""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().strip() or b"0", 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            return json.loads(data or b"null")
        except ValueError:
            return None

    def reply(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode())
        self.wfile.flush()

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        is_list = "models" in self.path
        self.reply({"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "test"}], "models": []} if is_list else {})

    def do_POST(self):
        body = self.read_body()
        path = self.path.split("?")[0]
        if not isinstance(body, dict):
            return self.reply({})
        if path.endswith(("count_tokens", ":countTokens")):
            tokens = len(json.dumps(body)) // 4
            return self.reply({"input_tokens": tokens, "totalTokens": tokens})
        forms = {
            "/messages": self.anthropic,
            "/responses": self.openai_responses,
            "/chat/completions": self.chat,
            ":streamGenerateContent": self.gemini,
            ":generateContent": self.gemini,
        }
        form = next((it for suffix, it in forms.items() if path.endswith(suffix)), None)
        if form is None:
            return self.reply({})
        number, calls = self.model.step(body)
        text = "ok" if number is None else "" if calls else "done."
        ids = [f"call_{number}_{at}_{time.monotonic_ns() % 10**9}" for at in range(len(calls))]
        try:
            form(body, text, [(i, *call) for i, call in zip(ids, calls)])
        except (BrokenPipeError, ConnectionResetError):
            pass

    def anthropic(self, body, text, calls):
        blocks = [{"type": "text", "text": text}] if text else []
        blocks += [{"type": "tool_use", "id": f"tool{i}", "name": tool.name, "input": arguments} for i, tool, arguments in calls]
        stop = "tool_use" if calls else "end_turn"
        usage = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {"id": f"msg_{time.monotonic_ns()}", "type": "message", "role": "assistant", "model": body.get("model"), "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.reply({**message, "content": blocks, "stop_reason": stop})
        events = [{"type": "message_start", "message": message}]
        for at, block in enumerate(blocks):
            if block["type"] == "text":
                empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": at, "content_block": empty},
                {"type": "content_block_delta", "index": at, "delta": delta},
                {"type": "content_block_stop", "index": at},
            ]
        events += [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 20}}, {"type": "message_stop"}]
        self.stream((it["type"], it) for it in events)

    def openai_responses(self, body, text, calls):
        ident = f"resp_{time.monotonic_ns()}"
        items = [{"type": "message", "id": f"msg_{ident}", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}] if text else []
        for i, tool, arguments in calls:
            if tool.name == "tool_search":
                items.append({"type": "tool_search_call", "id": f"tsc_{i}", "call_id": i, "execution": "client", "status": "completed", "arguments": arguments})
                continue
            item = {"type": "function_call", "id": f"fc_{i}", "call_id": i, "name": tool.name, "arguments": json.dumps(arguments), "status": "completed"}
            items.append({**item, "namespace": tool.namespace} if tool.namespace else item)
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120}
        response = {"id": ident, "object": "response", "created_at": int(time.time()), "model": body.get("model"), "output": items, "usage": usage, "status": "completed"}
        if not body.get("stream"):
            return self.reply(response)
        events = [{"type": "response.created", "response": {**response, "output": [], "usage": None, "status": "in_progress"}}]
        for at, item in enumerate(items):
            events += [{"type": "response.output_item.added", "output_index": at, "item": item}, {"type": "response.output_item.done", "output_index": at, "item": item}]
        events.append({"type": "response.completed", "response": response})
        self.stream((it["type"], it) for it in events)

    def chat(self, body, text, calls):
        base = {"id": f"chatcmpl-{time.monotonic_ns()}", "created": int(time.time()), "model": body.get("model")}
        made = [{"index": at, "id": i, "type": "function", "function": {"name": tool.name, "arguments": json.dumps(arguments)}} for at, (i, tool, arguments) in enumerate(calls)]
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        end = "tool_calls" if made else "stop"
        if not body.get("stream"):
            message = {"role": "assistant", "content": text or None, **({"tool_calls": made} if made else {})}
            return self.reply({**base, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": end}], "usage": usage})
        chunk = lambda delta, finish=None: {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        events = [chunk({"role": "assistant", "content": text})] + [chunk({"tool_calls": [it]}) for it in made]
        self.stream((None, it) for it in [*events, {**chunk({}, end), "usage": usage}, "[DONE]"])

    def gemini(self, _, text, calls):
        parts = [{"text": text}] if text else []
        parts += [{"functionCall": {"id": i, "name": tool.name, "args": arguments}, "thoughtSignature": "c2lnbg=="} for i, tool, arguments in calls]
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
        reply = {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage, "modelVersion": "scripted", "responseId": str(time.monotonic_ns())}
        if "stream" in self.path:
            self.stream([(None, reply)])
        else:
            self.reply(reply)
