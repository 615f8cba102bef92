// The carriers of pages: a web view's container, ports, windows; and the search for the socket.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { MessageChannel, Worker } from "node:worker_threads";

import { buildClassicScript, classicScript } from "../scripts/build-classic.mjs";
import { LineSplitter } from "../src/carriers/lineSplitter.js";
import { socketPath } from "../src/carriers/socketLocation.js";
import { Bridge, connect } from "../src/index.js";
import { failure } from "./support/driven.mjs";
import { settled } from "./support/fakes.mjs";

/** Runs the plain script in its own page. `sent`: the container's messages; `surroundings`: the page's globals. */
function page(surroundings = {}) {
    const sent = [];
    const handler = { postMessage: (text) => void sent.push(JSON.parse(text)) };
    const globals = createContext({
        AbortController, TextEncoder, console, performance, setTimeout, clearTimeout,
        webkit: { messageHandlers: { bridge: handler } }, ...surroundings,
    });
    runInContext(classicScript(), globals);
    const calls = () => sent.filter(({ task }) => task !== "bridge.hello");
    return { sent, globals, WebBridge: globals.WebBridge, calls };
}

test("the build writes the plain script where the package names it", () => {
    const { exports: { "./classic": path } } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url)));
    const built = buildClassicScript();
    assert.equal(built, fileURLToPath(new URL(`../${path}`, import.meta.url)));
    assert.ok(readFileSync(built, "utf8") === classicScript());
});

test("a page in a web view calls through its container, which answers with container.receive()", async () => {
    const { WebBridge, calls } = page();
    const heard = [];
    WebBridge.call("Alert", { content: "Hello", btn: "Fine" }, (...values) => heard.push(values));
    const [{ task, callbackId, options }] = calls();
    assert.deepEqual([task, options], ["Alert", { content: "Hello", btn: "Fine" }]);
    WebBridge.container.receive(JSON.stringify({ callbackId, result: { button: "Fine" } }));
    WebBridge.container.receive({ callbackId, result: "twice" });
    await settled();
    // Values that the page parsed have the page's own prototypes.
    assert.deepEqual(JSON.parse(JSON.stringify(heard)), [[{ button: "Fine" }, null]]);
});

test("a container may hand over values, arrays of messages, and events", async () => {
    const { WebBridge, calls } = page();
    const names = [];
    WebBridge.subscribe("page.*", ({ event }) => names.push(event));
    const answers = [WebBridge.call("Echo", 1), WebBridge.call("Echo", 2)];
    const [subscription, ...echoes] = calls();
    WebBridge.container.receive([
        { callbackId: subscription.callbackId, result: { events: ["page.*"] } },
        { event: "page.shown", data: null },
        ...echoes.map(({ callbackId, options }) => ({ callbackId, result: options })),
    ]);
    assert.deepEqual([await Promise.all(answers), names], [[1, 2], ["page.shown"]]);
});

test("a page's calls need no container that knows bridge.hello", async () => {
    const { WebBridge, sent, calls } = page();
    const call = WebBridge.call("Echo", "at once");
    assert.equal(calls().length, 1);
    WebBridge.container.receive({
        callbackId: sent[0].callbackId, error: { code: "task.not_found", message: "there is no task bridge.hello" },
    });
    WebBridge.container.receive({ callbackId: calls()[0].callbackId, result: "at once" });
    assert.equal(await call, "at once");
});

test("a page provides tasks to its container", async () => {
    const { WebBridge, calls } = page();
    const registered = WebBridge.register("ui.color", () => "#ff8800");
    WebBridge.container.receive({ callbackId: calls()[0].callbackId, result: { tasks: ["ui.color"] } });
    await registered;
    WebBridge.container.receive({ task: "ui.color", callbackId: 5 });
    await settled();
    assert.deepEqual(calls()[1], { callbackId: 5, result: "#ff8800" });
});

test("a container that has lost its session says so: calls end, tasks and subscriptions are restored", async () => {
    const { WebBridge, sent, calls } = page();
    const registered = WebBridge.register("ui.color", () => "#ff8800");
    WebBridge.container.receive({ callbackId: calls()[0].callbackId, result: {} });
    await registered;
    const call = failure(WebBridge.call("slow"));
    sent.length = 0;
    WebBridge.container.sessionLost();
    const error = await call;
    assert.deepEqual([error.code, error.started], ["session.closed", true]);
    assert.deepEqual(sent.map(({ task }) => task), ["bridge.hello", "bridge.register"]);
    assert.equal(WebBridge.state, "open");
});

test("a page that gets web.close is closed", async () => {
    const { WebBridge } = page();
    const call = failure(WebBridge.call("slow"));
    WebBridge.container.receive({ event: "web.close", data: { info: null } });
    assert.equal((await call).code, "session.closed");
    assert.equal(WebBridge.state, "closed");
});

test("a container whose handler throws, or rejects, ends the call or is reported, and nothing more", async () => {
    const bridge = new Bridge({ handler: { postMessage: () => {
        throw new Error("no such handler");
    } } });
    const problems = [];
    bridge.onProblem(({ message }) => problems.push(message));
    const error = await failure(bridge.call("Echo"));
    assert.deepEqual([error.code, error.started], ["daemon.unreachable", false]);
    const refusing = new Bridge({ handler: { postMessage: () => Promise.reject(new Error("refused")) } });
    refusing.onProblem(({ message }) => problems.push(message));
    refusing.call("Echo").catch(() => {});
    await settled();
    assert.ok(problems.includes("no such handler") && problems.includes("refused"));
    await Promise.all([bridge.close(), refusing.close()]);
});

test("a second copy of the plain script leaves the page's bridge as it is", () => {
    const { globals, WebBridge } = page();
    runInContext(classicScript(), globals);
    assert.equal(globals.WebBridge, WebBridge);
    assert.equal(typeof globals.TrestleBridge.BridgeError, "function");
});

test("a page without any carrier says so", async () => {
    const { WebBridge } = page({ webkit: undefined });
    const error = await failure(WebBridge.call("Echo"));
    assert.deepEqual([error.code, error.started], ["daemon.unreachable", false]);
});

test("two ends of a MessageChannel talk, and a port that closes ends what is in flight", async () => {
    const { port1, port2 } = new MessageChannel();
    port2.on("message", (text) => {
        const { callbackId, task, options } = JSON.parse(text);
        if (task === "Echo") port2.postMessage(JSON.stringify({ callbackId, result: options }));
        else if (task === "bridge.hello") port2.postMessage({ callbackId, result: { session: 4 } });
    });
    const bridge = await connect({ port: port1 });
    assert.equal(await bridge.call("Echo", "through the port"), "through the port");
    assert.equal(bridge.hello.session, 4);
    const call = failure(bridge.call("slow"));
    port2.close();
    assert.equal((await call).code, "session.closed");
    assert.equal(bridge.state, "closed");
});

test("a worker of Node's is a port, and its end is the bridge's", async () => {
    const worker = new Worker(`
        const { parentPort } = require("node:worker_threads");
        parentPort.on("message", (text) => {
            const { callbackId, task, options } = JSON.parse(text);
            if (task === "Echo") parentPort.postMessage(JSON.stringify({ callbackId, result: options }));
            if (task === "exit") process.exit();
        });`, { eval: true });
    const bridge = await connect({ port: worker });
    assert.equal(await bridge.call("Echo", 1), 1);
    assert.equal((await failure(bridge.call("exit"))).code, "session.closed");
});

test("another window is heard only from its origin, and spoken to only there", async () => {
    const target = new EventTarget();
    const posted = [];
    const frame = { postMessage: (text, origin) => posted.push([JSON.parse(text), origin]) };
    const globals = ["addEventListener", "removeEventListener"];
    for (const name of globals) globalThis[name] = target[name].bind(target);
    try {
        const bridge = await connect({ window: frame, origin: "https://a.example" });
        const call = bridge.call("Echo", 1);
        const [{ callbackId }, origin] = posted.at(-1);
        assert.equal(origin, "https://a.example");
        const say = (source, from, result) => {
            const data = JSON.stringify({ callbackId, result });
            target.dispatchEvent(Object.assign(new Event("message"), { source, origin: from, data }));
        };
        say(frame, "https://evil.example", "evil");
        say({}, "https://a.example", "another window");
        say(frame, "https://a.example", "right");
        assert.equal(await call, "right");
        await bridge.close();
        for (const wrong of [undefined, "", "*"]) {
            assert.equal((await failure(connect({ window: frame, origin: wrong }))).code, "options.invalid");
        }
    } finally {
        for (const name of globals) delete globalThis[name];
    }
});

test("what a browser loads names nothing that only Node has", () => {
    const seen = new Set();
    const visit = (url) => {
        if (seen.has(url.href)) return;
        seen.add(url.href);
        const source = readFileSync(url, "utf8");
        for (const [, imported] of source.matchAll(/^(?:import|export) .*from "([^"]+)";$/gm)) {
            assert.match(imported, /^\.\.?\//, `${url} imports ${imported}`);
            visit(new URL(imported, url));
        }
        assert.doesNotMatch(source, /\b(Buffer|require|process)\b(?!\?)(?!`)[.(]/, url.href);
    };
    visit(new URL("../src/index.js", import.meta.url));
    assert.ok(seen.size > 10);
});

test("the socket is the named one, else the user's own, else the system's", () => {
    const path = (variables, { uid = 1000, files = [], owners = {} } = {}) => socketPath({
        variable: (name) => variables[name], exists: (file) => files.includes(file), uid: () => uid,
        owner: (file) => owners[file],
    });
    const system = "/run/trestle/bridge.sock";
    const own = "/run/user/1000/trestle/bridge.sock";
    const runtime = { XDG_RUNTIME_DIR: "/run/user/1000" };
    assert.equal(path({ TRESTLE_SOCKET: "/named", ...runtime }), "/named");
    assert.equal(path({ TRESTLE_SOCKET: "", ...runtime }), own);
    assert.equal(path(runtime, { files: [own, system] }), own);
    assert.equal(path(runtime, { files: [system] }), system);
    assert.equal(path(runtime, { uid: 0, files: [own] }), system);
    assert.equal(path({}, { owners: { "/tmp/trestle-1000": 1000 } }), "/tmp/trestle-1000/bridge.sock");
    assert.equal(path({}, { owners: { "/tmp/trestle-1000": 7 } }), system);
    assert.equal(path({}), system);
});

test("lines are cut out of a stream wherever its pieces end", () => {
    const bytes = Buffer.from("one\n\r\n\nzwei 弹🎛\r\nx\n" + "y".repeat(40) + "\nlast\nhalf");
    for (let size = 1; size <= bytes.length; size += 1) {
        const lines = [];
        const tooLong = [];
        const splitter = new LineSplitter(20, (text) => lines.push(text.trimEnd()), (head) => tooLong.push(head));
        for (let start = 0; start < bytes.length; start += size) splitter.push(bytes.subarray(start, start + size));
        assert.deepEqual(lines, ["one", "zwei 弹🎛", "x", "last"]);
        assert.equal(tooLong.length, 1);
        assert.ok(tooLong[0].startsWith("y"));
    }
});
