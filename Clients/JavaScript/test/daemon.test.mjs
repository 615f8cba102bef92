// The client and a real daemon.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { BridgeError } from "../src/index.js";
import { changed, openClients } from "./support/clients.mjs";
import { startDaemon, withoutDaemon } from "./support/daemon.mjs";

/** The daemon of all tests that do not change it. Each test has its own sessions, which end with it. */
let shared;

/** Connects clients to that daemon. */
function clients(t, count, options) {
    return openClients(t, shared, count, options);
}

test("against a daemon", { skip: withoutDaemon }, async (suite) => {
    shared = await startDaemon(suite);

    await suite.test("a call answers with its result", async (t) => {
        const { bridge } = await clients(t, 1);
        const options = { text: "héllo 弹 🎛", list: [1, null, true] };
        assert.deepEqual(await bridge.call("Echo", options), options);
        assert.deepEqual(await bridge.call("Echo"), {});
        assert.equal(await bridge.call("Echo", null), null);
    });

    await suite.test("connecting brings what the daemon says of itself", async (t) => {
        const { bridge } = await clients(t, 1, { hello: { client: "test", version: "1" } });
        assert.equal(bridge.hello.protocol, 1);
        assert.ok(Number.isInteger(bridge.hello.session));
        const { sessions } = await bridge.call("bridge.sessions");
        const own = sessions.find((session) => session.session === bridge.hello.session);
        assert.deepEqual([own.client, own.version], ["test", "1"]);
    });

    await suite.test("a table comes page by page", async (t) => {
        const { bridge } = await clients(t, 1);
        const pages = [];
        for await (const page of bridge.pages("bridge.tasks", { limit: 10 })) pages.push(page);
        assert.ok(pages.length > 1);
        assert.ok(pages.slice(0, -1).every((page) => page.tasks.length === 10));
        const { tasks } = await bridge.call("bridge.tasks");
        assert.deepEqual(pages.flatMap((page) => page.tasks), tasks);
    });

    await suite.test("an error has code, message, data", async (t) => {
        const { bridge } = await clients(t, 1);
        await assert.rejects(bridge.call("Nope"), (error) => {
            assert.ok(error instanceof BridgeError);
            assert.deepEqual([error.code, error.transient, error.started], ["task.not_found", false, undefined]);
            return true;
        });
        await assert.rejects(bridge.call("bridge.describe", { task: 12 }), { code: "options.invalid" });
    });

    await suite.test("callbacks get the result alone, or nothing and the error", async (t) => {
        const { bridge } = await clients(t, 1);
        const heard = await new Promise((done) => bridge.call("Echo", { a: 1 }, (...values) => done(values)));
        assert.deepEqual(heard, [{ a: 1 }, null]);
        const refused = await new Promise((done) => bridge.call("Nope", (...values) => done(values)));
        assert.equal(refused[0], undefined);
        assert.equal(refused[1].code, "task.not_found");
    });

    await suite.test("a thousand parallel calls each get their own answer", async (t) => {
        const { bridge } = await clients(t, 1);
        const numbers = Array.from({ length: 1000 }, (_, index) => index);
        assert.deepEqual(await Promise.all(numbers.map((number) => bridge.call("Echo", number))), numbers);
    });

    await suite.test("megabytes of many-byte characters pass whole, both ways in parallel", async (t) => {
        const { bridge } = await clients(t, 1, { maxQueuedBytes: 64 << 20 });
        const text = "弹🎛é".repeat(100_000);
        const answers = await Promise.all(Array.from({ length: 12 }, () => bridge.call("Echo", text)));
        assert.ok(answers.every((answer) => answer === text));
    });

    await suite.test("a message longer than the daemon takes is refused here, and the next goes through", async (t) => {
        const { bridge } = await clients(t, 1);
        await assert.rejects(bridge.call("Echo", "x".repeat(1 << 20)), { code: "message.too_large", started: false });
        await assert.rejects(bridge.call("Echo", "弹".repeat(350_000)), { code: "message.too_large", started: false });
        assert.equal(await bridge.call("Echo", 1), 1);
    });

    await suite.test("options that are not valid JSON are refused here", async (t) => {
        const { bridge } = await clients(t, 1);
        const ring = {};
        ring.ring = ring;
        let deep = [];
        for (let depth = 0; depth < 200; depth += 1) deep = [deep];
        for (const options of [1n, ring, Symbol("none"), "\ud800", { "\udc00": 1 }, deep]) {
            await assert.rejects(bridge.call("Echo", options), { code: "options.invalid", started: false });
        }
        assert.equal(await bridge.call("Echo", "\\ud800"), "\\ud800");
    });

    await suite.test("a provided task answers with what its handler returns or throws", async (t) => {
        const { bridge, other } = await clients(t, 2);
        await other.register("sum", (options) => options.a + options.b);
        await other.register("later", async () => undefined);
        await other.register("own", () => {
            throw new BridgeError("scan.blurred", "blurred", { data: { at: 1 }, transient: true, retryAfter: 5 });
        });
        await other.register("broken", async () => {
            throw new TypeError("no such thing");
        });
        assert.equal(await bridge.call("sum", { a: 1, b: 2 }), 3);
        assert.equal(await bridge.call("later"), null);
        await assert.rejects(bridge.call("own"), {
            code: "scan.blurred", message: "blurred", data: { at: 1 }, transient: true, retryAfter: 5,
        });
        await assert.rejects(bridge.call("broken"), { code: "internal", message: "broken failed: no such thing" });
    });

    await suite.test("a result that cannot travel ends its call with an error, immediately", async (t) => {
        const { bridge, other } = await clients(t, 2);
        const results = { half: "\ud800", big: 1n, long: "x".repeat(1 << 20) };
        let deep = [];
        for (let depth = 0; depth < 200; depth += 1) deep = [deep];
        results.deep = deep;
        await other.register("give", (name) => results[name]);
        const code = (name) => bridge.call("give", name).then(() => "none", (error) => error.code);
        assert.equal(await code("half"), "reply.invalid");
        assert.equal(await code("big"), "reply.invalid");
        assert.equal(await code("deep"), "reply.invalid");
        assert.equal(await code("long"), "result.too_large");
    });

    await suite.test("progress comes in order and before the result", async (t) => {
        const { bridge, other } = await clients(t, 2);
        await other.register("count", (to, call) => {
            for (let number = 0; number < to; number += 1) assert.equal(call.reportProgress(number), true);
            return "done";
        });
        const heard = [];
        const onProgress = (value, sequence) => heard.push([value, sequence]);
        const result = await bridge.call("count", 5, { onProgress });
        assert.deepEqual([heard, result], [[[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]], "done"]);
        await other.register("silent", (options, call) => [call.wantsProgress, call.reportProgress(1)]);
        assert.deepEqual(await bridge.call("silent"), [false, false]);
    });

    await suite.test("a handler knows who calls", async (t) => {
        const { bridge, other } = await clients(t, 2);
        await other.register("who", (options, call) => call.caller);
        const caller = await bridge.call("who");
        assert.deepEqual([caller.session, caller.origin, caller.user], [bridge.hello.session, "local", null]);
    });

    await suite.test("aborting a call ends it immediately, and its provider's signal is aborted", async (t) => {
        const { bridge, other } = await clients(t, 2);
        const abort = new AbortController();
        const begun = new Promise((done) => other.register("wait", (options, call) => {
            done(call.signal);
            return new Promise(() => {});
        }));
        await other.call("bridge.ping");
        const call = bridge.call("wait", {}, { signal: abort.signal });
        const signal = await begun;
        const stopped = once(signal, "abort");
        abort.abort(new Error("enough"));
        await assert.rejects(call, (error) => {
            assert.deepEqual([error.code, error.started, error.cause.message], ["call.cancelled", true, "enough"]);
            return true;
        });
        await stopped;
    });

    await suite.test("cancel() of a call with a callback ends it with an error", async (t) => {
        const { bridge, other } = await clients(t, 2);
        await other.register("wait", () => new Promise(() => {}));
        const error = await new Promise((done) => {
            const call = bridge.call("wait", {}, (result, problem) => done(problem));
            call.cancel();
            call.cancel();
        });
        assert.equal(error.code, "call.cancelled");
    });

    await suite.test("the daemon's deadline ends a call", async (t) => {
        const { bridge, other } = await clients(t, 2);
        await other.register("wait", () => new Promise(() => {}));
        await assert.rejects(bridge.call("wait", {}, { timeout: 20 }), { code: "call.timeout", started: true });
    });

    await suite.test("calls can name the session that is to answer", async (t) => {
        const { bridge, other } = await clients(t, 2);
        await other.register("mine", () => "other", { scope: "session" });
        assert.equal(await bridge.call("mine", {}, { session: other.hello.session }), "other");
        await assert.rejects(bridge.call("mine"), { code: "task.not_found" });
    });

    await suite.test("a task that belongs to a plugin cannot be registered", async (t) => {
        const { bridge } = await clients(t, 1);
        await assert.rejects(bridge.register("Echo", () => {}), { code: "task.exists" });
    });

    await suite.test("a task is described as its registration says, and its options are checked", async (t) => {
        const { bridge, other } = await clients(t, 2);
        const options = { type: "object", required: ["kind"], properties: { kind: { type: "string" } } };
        await other.register("scan", ({ kind }) => kind, { description: { summary: "Reads a code.", options } });
        const described = await bridge.call("bridge.describe", { task: "scan" });
        assert.deepEqual([described.summary, described.options], ["Reads a code.", options]);
        await assert.rejects(bridge.call("scan", {}), { code: "options.invalid" });
        assert.equal(await bridge.call("scan", { kind: "ean" }), "ean");
    });

    await suite.test("an unregistered task is called no more", async (t) => {
        const { bridge } = await clients(t, 1);
        const registration = await bridge.register("gone", () => 1);
        assert.equal(await bridge.call("gone"), 1);
        await registration.unregister();
        await assert.rejects(bridge.call("gone"), { code: "task.not_found" });
    });

    await suite.test("one-way calls are carried out", async (t) => {
        const { bridge, other } = await clients(t, 2);
        const heard = new Promise((done) => other.register("note", (options, call) => done([options, call.isOneWay])));
        await other.call("bridge.ping");
        await bridge.notify("note", { a: 1 });
        assert.deepEqual(await heard, [{ a: 1 }, true]);
    });

    await suite.test("listeners hear the events of their patterns, until they stop", async (t) => {
        const { bridge, other } = await clients(t, 2);
        const heard = [];
        const stop = bridge.subscribe("door.*", (event) => heard.push(event));
        const both = bridge.subscribe(["door.opened", "bell"], ({ event }) => heard.push(event));
        await Promise.all([stop.ready, both.ready]);
        await other.publish("door.opened", { floor: 2 });
        await other.publish("window.opened");
        await bridge.call("bridge.ping");
        stop();
        await other.publish("door.closed");
        await other.publish("bell");
        await bridge.call("bridge.ping");
        assert.deepEqual(heard, [{ event: "door.opened", data: { floor: 2 } }, "door.opened", "bell"]);
    });

    await suite.test("a retained event comes to who subscribes later", async (t) => {
        const { bridge, other } = await clients(t, 2);
        await bridge.publish("lamp", "on", { retain: true });
        // The daemon sends the event once. The library passes it to the later subscriptions.
        for (const pattern of ["lamp", "lamp", "la*"]) {
            const events = other.subscribe(pattern);
            assert.deepEqual((await events.next()).value, { event: "lamp", data: "on" });
        }
    });

    await suite.test("events can be read one by one, and leaving the loop ends the subscription", async (t) => {
        const { bridge, other } = await clients(t, 2);
        const events = bridge.subscribe("tick");
        await events.ready;
        for (let number = 0; number < 3; number += 1) await other.publish("tick", number);
        const heard = [];
        for await (const { data } of events) {
            heard.push(data);
            if (data === 2) break;
        }
        assert.deepEqual(heard, [0, 1, 2]);
        const { sessions } = await bridge.call("bridge.sessions");
        assert.deepEqual(sessions.find((each) => each.session === bridge.hello.session).subscriptions, []);
    });

    await suite.test("a session that is closed on purpose does not come back", async (t) => {
        const { bridge, other } = await clients(t, 2);
        const closed = changed(bridge, "closed");
        const event = new Promise((done) => bridge.subscribe("web.close", done));
        await bridge.call("bridge.ping");
        await other.call("closeWeb", { session: bridge.hello.session, info: "logged out" });
        assert.deepEqual(await event, { event: "web.close", data: { info: "logged out" } });
        const { error } = await closed;
        assert.deepEqual([error.code, error.data], ["session.closed", { info: "logged out" }]);
        await assert.rejects(bridge.call("Echo"), { code: "session.closed", started: false });
    });

    await suite.test("closing ends what is in flight, sends what is one-way, and says so", async (t) => {
        const { bridge, other } = await clients(t, 2);
        let begin;
        const begun = new Promise((done) => {
            begin = done;
        });
        await other.register("wait", () => new Promise(begin));
        const events = other.subscribe("last");
        await events.ready;
        const call = bridge.call("wait");
        await begun;
        bridge.notify("bridge.publish", { event: "last", data: 1 });
        const closed = bridge.close();
        await assert.rejects(call, { code: "session.closed", started: true });
        await closed;
        assert.equal(bridge.state, "closed");
        assert.deepEqual((await events.next()).value, { event: "last", data: 1 });
        await assert.rejects(bridge.notify("Echo"), { code: "session.closed", started: false });
        await bridge.close();
    });
});
