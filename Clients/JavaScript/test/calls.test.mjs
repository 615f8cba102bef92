// Ends of calls without an answer of the daemon: deadlines, aborts, back-pressure; and repeated calls.

import assert from "node:assert/strict";
import { test } from "node:test";

import { driven, failure, pair } from "./support/driven.mjs";
import { mailbox, settled } from "./support/fakes.mjs";

/** Makes a bridge whose calls end with these errors, one after the other. */
async function refusing(errors) {
    const driving = driven();
    await driving.bridge.open();
    const [carrier] = driving.carriers;
    const refuse = async () => {
        carrier.receive({ callbackId: carrier.calls.at(-1).callbackId, error: { message: "…", ...errors.shift() } });
        await settled();
    };
    return { ...driving, carrier, refuse };
}

test("a call made while there is no connection is sent on the next one, with what is left of its timeout", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    carriers[0].events.closed();
    const call = bridge.call("Echo", 1, { timeout: 5000 });
    clock.advance(100);
    await settled();
    const [message] = carriers[1].calls;
    assert.deepEqual([message.task, message.timeout], ["Echo", 4900]);
    carriers[1].receive({ callbackId: message.callbackId, result: 1 });
    assert.equal(await call, 1);
    await bridge.close();
});

test("a call without a timeout waits for a connection only so long", async () => {
    const { bridge, clock } = driven({ maxWait: 500 }, { canReopen: true, opensAtOnce: false });
    const call = failure(bridge.call("Echo"));
    const oneWay = failure(bridge.notify("Echo"));
    clock.advance(500);
    for (const error of [await call, await oneWay]) {
        assert.deepEqual([error.code, error.started], ["daemon.unreachable", false]);
    }
    await bridge.close();
});

test("a timeout that passes without a connection ends the call, which was not begun", async () => {
    const { bridge, clock } = driven({}, { canReopen: true, opensAtOnce: false });
    const call = failure(bridge.call("Echo", {}, { timeout: 50 }));
    clock.advance(50);
    const error = await call;
    assert.deepEqual([error.code, error.started], ["call.timeout", false]);
    await bridge.close();
});

test("a daemon that neither answers nor reports the deadline does not leave a call hanging", async () => {
    const { bridge, carriers, clock } = driven({ grace: 200 });
    await bridge.open();
    const call = failure(bridge.call("Echo", {}, { timeout: 50 }));
    const [{ callbackId, timeout }] = carriers[0].calls;
    assert.equal(timeout, 50);
    clock.advance(249);
    assert.equal(carriers[0].calls.length, 1);
    clock.advance(1);
    const error = await call;
    assert.deepEqual([error.code, error.started], ["call.timeout", true]);
    assert.deepEqual(carriers[0].calls.at(-1), { cancel: callbackId });
    await bridge.close();
});

test("a timeout may be longer than the platform's timers", async () => {
    const { bridge, clock, carriers } = driven({ grace: 0 });
    await bridge.open();
    const year = 365 * 24 * 60 * 60 * 1000;
    const call = failure(bridge.call("Echo", {}, { timeout: year }));
    clock.advance(year - 1000);
    assert.equal(carriers[0].calls.length, 1);
    clock.advance(1000);
    assert.equal((await call).code, "call.timeout");
    for (const timeout of [0, -1, NaN, -Infinity, "5", year + 1]) {
        assert.equal((await failure(bridge.call("Echo", {}, { timeout }))).code, "options.invalid");
    }
    await bridge.close();
});

test("retry \"unstarted\" makes a call again where nothing was done, after the pause that the error names", async () => {
    const busy = { code: "busy", transient: true, retryAfter: 300, data: { started: false } };
    const unavailable = { code: "plugin.unavailable", transient: true, data: { started: false } };
    const { bridge, carrier, clock, refuse } = await refusing([busy, unavailable]);
    const call = bridge.call("Echo", 1, { retry: "unstarted", timeout: 1000 });
    await refuse();
    clock.advance(299);
    await settled();
    assert.equal(carrier.calls.length, 1);
    clock.advance(1);
    await settled();
    assert.deepEqual(carrier.calls.map(({ timeout }) => timeout), [1000, 700]);
    await refuse();
    clock.advance(100);
    await settled();
    carrier.receive({ callbackId: carrier.calls[2].callbackId, result: "at last" });
    assert.equal(await call, "at last");
    await bridge.close();
});

test("a call that may have begun is made again only with retry \"transient\"", async () => {
    const lost = { code: "session.closed", transient: true, data: { started: true } };
    const { bridge, carrier, clock, refuse } = await refusing([lost, lost, { code: "internal" }]);
    const careful = failure(bridge.call("pay", {}, { retry: "unstarted" }));
    await refuse();
    assert.equal((await careful).code, "session.closed");
    const harmless = failure(bridge.call("look", {}, { retry: "transient" }));
    await refuse();
    clock.advance(100);
    await settled();
    await refuse();
    assert.deepEqual([(await harmless).code, carrier.calls.length], ["internal", 3]);
    await bridge.close();
});

test("a call that was cancelled, timed out or found no daemon is not made again", async () => {
    const codes = ["call.cancelled", "call.timeout", "daemon.unreachable"];
    const errors = codes.map((code) => ({ code, transient: true, data: { started: false } }));
    const { bridge, carrier, refuse } = await refusing(errors);
    for (const code of codes) {
        const call = failure(bridge.call("look", {}, { retry: "transient" }));
        await refuse();
        assert.equal((await call).code, code);
    }
    assert.equal(carrier.calls.length, codes.length);
    await bridge.close();
});

test("a call is made five times at most, and once unless retry says otherwise", async () => {
    const busy = { code: "busy", transient: true, retryAfter: 10, data: { started: false } };
    const { bridge, carrier, clock, refuse } = await refusing(Array.from({ length: 7 }, () => busy));
    for (const [retry, count] of [["transient", 5], [undefined, 1], ["never", 1]]) {
        carrier.sent.length = 0;
        const call = failure(bridge.call("look", {}, { retry }));
        for (let attempt = 0; attempt < count; attempt += 1) {
            await refuse();
            clock.advance(10);
            await settled();
        }
        assert.deepEqual([(await call).code, carrier.calls.length], ["busy", count]);
    }
    const error = await failure(bridge.call("look", {}, { retry: "always" }));
    assert.deepEqual([error.code, error.started, carrier.calls.length], ["options.invalid", false, 1]);
    await bridge.close();
});

test("a timeout of Infinity waits without end, for a connection as for the result", async () => {
    const { bridge, carriers, clock } = driven({ maxWait: 500, connectTimeout: 1e12 }, { opensAtOnce: false });
    const call = bridge.call("Echo", {}, { timeout: Infinity });
    clock.advance(10_000_000);
    carriers[0].events.opened();
    await settled();
    const [{ callbackId, timeout }] = carriers[0].calls;
    assert.equal(timeout, 366 * 24 * 60 * 60 * 1000);
    clock.advance(2 * timeout);
    carriers[0].receive({ callbackId, result: "late" });
    assert.equal(await call, "late");
    await bridge.close();
});

test("a call that is aborted in a pause is cancelled; other ends of a pause have the last error", async () => {
    const busy = { code: "busy", transient: true, retryAfter: 300, data: { started: false } };
    const { bridge, clock, refuse } = await refusing([busy, busy, busy, busy]);
    const abort = new AbortController();
    const aborted = failure(bridge.call("Echo", 1, { retry: "unstarted", signal: abort.signal }));
    await refuse();
    abort.abort("enough");
    const cancelled = await aborted;
    assert.deepEqual([cancelled.code, cancelled.started, cancelled.cause], ["call.cancelled", false, "enough"]);
    const ended = new Promise((resolve) => {
        const call = bridge.call("Echo", 1, (result, error) => resolve(error), { retry: "unstarted" });
        refuse().then(() => call.cancel());
    });
    assert.equal((await ended).code, "call.cancelled");
    const late = failure(bridge.call("Echo", 1, { retry: "unstarted", timeout: 200 }));
    await refuse();
    assert.equal((await late).code, "busy");
    const closed = failure(bridge.call("Echo", 1, { retry: "unstarted" }));
    await refuse();
    await bridge.close();
    assert.equal((await closed).code, "busy");
    assert.equal(clock.count, 0);
});

test("a full carrier is not written to until it is drained, and what waits is bounded", async () => {
    const { bridge, carriers } = driven({ maxQueuedBytes: 1000 });
    await bridge.open();
    const [carrier] = carriers;
    carrier.isFull = true;
    const calls = [0, 1, 2, 3].map((number) => bridge.call("Echo", number).catch((error) => error));
    assert.equal(carrier.calls.length, 1);
    const error = await failure(bridge.call("Echo", "x".repeat(1000)));
    assert.deepEqual([error.code, error.started, error.transient, error.retryAfter], ["busy", false, true, 100]);
    assert.ok(bridge.queuedBytes > 0 && bridge.queuedBytes <= 1000);
    carrier.isFull = false;
    carrier.events.drained();
    assert.equal(bridge.queuedBytes, 0);
    assert.deepEqual(carrier.calls.map(({ options }) => options), [0, 1, 2, 3]);
    for (const { callbackId, options } of carrier.calls) carrier.receive({ callbackId, result: options });
    assert.deepEqual(await Promise.all(calls), [0, 1, 2, 3]);
    await bridge.close();
});

test("a socket that takes no more is not filled up in memory", async (t) => {
    const { bridge, peer } = await pair(t, { maxQueuedBytes: 1 << 20 });
    peer.peer.pause();
    const text = "x".repeat(100_000);
    const outcomes = mailbox();
    for (let count = 0; count < 40; count += 1) bridge.call("Echo", text).catch((error) => outcomes.put(error));
    assert.equal((await outcomes.take()).code, "busy");
    assert.ok(bridge.queuedBytes <= 1 << 20);
});

test("a signal that is aborted already sends nothing", async () => {
    const { bridge, carriers } = driven();
    await bridge.open();
    const error = await failure(bridge.call("Echo", {}, { signal: AbortSignal.abort() }));
    assert.deepEqual([error.code, error.started, carriers[0].calls.length], ["call.cancelled", false, 0]);
    await bridge.close();
});

test("a call that is cancelled before it was written is never sent, nor is its cancel", async () => {
    const { bridge, carriers } = driven({}, { opensAtOnce: false });
    const abort = new AbortController();
    const call = failure(bridge.call("Echo", {}, { signal: abort.signal }));
    abort.abort();
    assert.equal((await call).started, false);
    carriers[0].events.opened();
    await settled();
    assert.deepEqual(carriers[0].calls, []);
    await bridge.close();
});

test("exceptions of callbacks and listeners stop nothing and are reported", async () => {
    const { bridge, carriers } = driven();
    const problems = [];
    bridge.onProblem(({ message }) => problems.push(message));
    await bridge.open();
    const fail = (message) => () => {
        throw new Error(message);
    };
    bridge.subscribe("tick", fail("listener"));
    bridge.call("Echo", {}, fail("callback"), { onProgress: fail("progress") });
    const { callbackId } = carriers[0].calls.at(-1);
    carriers[0].receive({ event: "tick", data: null });
    carriers[0].receive({ callbackId, progress: 1, sequence: 0 });
    carriers[0].receive({ callbackId, result: 1 });
    await settled();
    assert.deepEqual(problems, ["listener", "progress", "callback"]);
    await bridge.close();
});
