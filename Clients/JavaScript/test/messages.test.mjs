// Invalid messages from a daemon or a container, and messages that this client must not send twice.

import assert from "node:assert/strict";
import { test } from "node:test";

import { encodeValue } from "../src/messages.js";
import { driven, failure, pair } from "./support/driven.mjs";
import { settled } from "./support/fakes.mjs";

test("a container that answers session.closed to a registration is not asked without end", async () => {
    const { bridge, carriers } = driven();
    await bridge.open();
    const registered = failure(bridge.register("mine", () => 1));
    const { callbackId } = carriers[0].calls[0];
    carriers[0].receive({ callbackId, error: { code: "session.closed", message: "the daemon is away" } });
    assert.equal((await registered).message, "the daemon is away");
    await bridge.close();
});

test("braces in strings are no levels, whatever stands before their quotes", () => {
    const nested = (levels, value) => (levels === 0 ? value : [nested(levels - 1, value)]);
    for (const text of ["[".repeat(200), '"{'.repeat(200), "\\".repeat(3), '\\"[', "", `\\\\"${"{".repeat(200)}`]) {
        const value = { [text]: nested(100, text) };
        assert.equal(encodeValue(value, "options.invalid", "it"), JSON.stringify(value));
        const refused = () => encodeValue(nested(130, text), "options.invalid", "it");
        assert.throws(refused, { code: "options.invalid", message: /levels are nested/ });
    }
});

test("garbage, half messages and unknown ones are passed over, and the next call goes on", async (t) => {
    const { bridge, peer, problems } = await pair(t);
    const call = bridge.call("Echo", "弹");
    const { callbackId } = await peer.next();
    peer.write("not json\n\r\n\n[1,null]\n{\"unknown\":1}\n{\"event\":7}\n{\"callbackId\":\"no\",\"result\":1}\n");
    peer.send({ callbackId: String(callbackId), result: "the id of another type" });
    peer.send({ callbackId: null, error: { code: "message.invalid", message: "what was that" } });
    const answer = Buffer.from(`{"callbackId":${callbackId},"result":"弹🎛"}\r\n`);
    for (const byte of answer) peer.write(Buffer.of(byte));
    assert.equal(await call, "弹🎛");
    assert.deepEqual(problems.map(({ code }) => code), [
        "message.invalid", "message.invalid", "message.invalid", "message.invalid",
    ]);
});

test("a second callback, late progress and progress out of order are passed over", async (t) => {
    const { bridge, peer } = await pair(t);
    const heard = [];
    const call = bridge.call("slow", {}, { onProgress: (value) => heard.push(value) });
    const { callbackId, progress } = await peer.next();
    assert.equal(progress, true);
    for (const sequence of [0, 2, 1, 2, 5]) peer.send({ callbackId, progress: sequence, sequence });
    peer.send({ callbackId, result: "first" });
    peer.send({ callbackId, result: "second" });
    peer.send({ callbackId, error: { code: "internal", message: "third" } });
    peer.send({ callbackId, progress: 9, sequence: 9 });
    assert.equal(await call, "first");
    const next = bridge.call("ping");
    peer.send({ callbackId: (await peer.next()).callbackId, result: null });
    assert.equal(await next, null);
    assert.deepEqual(heard, [0, 2, 5]);
});

test("a callback with both or neither of result and error ends its call with reply.invalid", async (t) => {
    const { bridge, peer } = await pair(t);
    const both = { result: 1, error: { code: "a", message: "b" } };
    for (const rest of [{}, both, { error: "no" }, { error: { code: "" } }]) {
        const call = failure(bridge.call("Echo"));
        peer.send({ callbackId: (await peer.next()).callbackId, ...rest });
        assert.equal((await call).code, "reply.invalid");
    }
});

test("a line beyond the client's bound is thrown away, and ends the call whose callback it was", async (t) => {
    const { bridge, peer, problems } = await pair(t, { maxLineBytes: 1000 });
    const call = failure(bridge.call("Echo"));
    const { callbackId } = await peer.next();
    peer.send({ callbackId, result: "x".repeat(100_000) });
    assert.equal((await call).code, "result.too_large");
    assert.deepEqual(problems.map(({ code }) => code), ["message.too_large"]);
    const next = bridge.call("Echo");
    peer.send({ callbackId: (await peer.next()).callbackId, result: "still here" });
    assert.equal(await next, "still here");
});

test("the daemon's own limit of a message is obeyed", async (t) => {
    const { bridge } = await pair(t, {}, { limits: { messageBytes: 100 } });
    const error = await failure(bridge.call("Echo", "x".repeat(100)));
    assert.deepEqual([error.code, error.started], ["message.too_large", false]);
});

test("a half line before the end of the connection is not a message", async (t) => {
    const { bridge, peer } = await pair(t);
    const call = failure(bridge.call("Echo"));
    const { callbackId } = await peer.next();
    peer.peer.end(`{"callbackId":${callbackId},"result":1}`);
    assert.equal((await call).code, "session.closed");
});

test("a provided call is answered once, and a handler that goes on after that is not heard", async () => {
    const { bridge, carriers } = driven();
    await bridge.open();
    let late;
    const registered = bridge.register("mine", (options, call) => {
        late = call;
        return "once";
    });
    carriers[0].receive({ callbackId: carriers[0].calls[0].callbackId, result: {} });
    await registered;
    carriers[0].receive({ task: "mine", callbackId: 16777216, progress: true });
    carriers[0].receive({ task: "mine", callbackId: 16777216, progress: true });
    await settled();
    assert.equal(late.reportProgress("late"), false);
    carriers[0].receive({ cancel: 16777216 });
    await settled();
    assert.deepEqual(carriers[0].calls.slice(1), [{ callbackId: 16777216, result: "once" }]);
    carriers[0].receive({ task: "other", callbackId: 1 });
    assert.equal(carriers[0].calls.at(-1).error.code, "task.not_found");
    await bridge.close();
});

test("a handler that fails because its call was cancelled answers call.cancelled", async () => {
    const { bridge, carriers } = driven();
    await bridge.open();
    const registered = bridge.register("mine", (options, { signal }) => new Promise((done, failed) => {
        signal.addEventListener("abort", () => failed(signal.reason));
    }));
    carriers[0].receive({ callbackId: carriers[0].calls[0].callbackId, result: {} });
    await registered;
    carriers[0].receive({ task: "mine", callbackId: 3 });
    carriers[0].receive({ cancel: 3 });
    await settled();
    assert.equal(carriers[0].calls.at(-1).error.code, "call.cancelled");
    await bridge.close();
});

test("a slow reader of events loses the oldest and hears how many", async () => {
    const { bridge, carriers } = driven();
    await bridge.open();
    const events = bridge.subscribe("tick", { capacity: 2 });
    for (let number = 0; number < 5; number += 1) carriers[0].receive({ event: "tick", data: number });
    const heard = [await events.next(), await events.next(), await events.next()].map(({ value }) => value);
    assert.deepEqual(heard, [
        { event: "bridge.events_dropped", data: { count: 3 } }, { event: "tick", data: 3 }, { event: "tick", data: 4 },
    ]);
    const last = events.next();
    await bridge.close();
    assert.deepEqual(await last, { value: undefined, done: true });
});
