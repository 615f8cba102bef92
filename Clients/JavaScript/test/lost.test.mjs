// The effect of a lost connection on calls, as docs/clients.md specifies for every client.

import assert from "node:assert/strict";
import { test } from "node:test";

import { driven, failure } from "./support/driven.mjs";
import { settled } from "./support/fakes.mjs";

const refusal = { code: "daemon.stopping", message: "…", data: { started: false }, transient: true };

/** A bridge whose first connection was lost. */
async function apart(options = {}) {
    const driving = driven(options, { canReopen: true });
    await driving.bridge.open();
    driving.carriers[0].events.closed();
    return driving;
}

test("a call of a connection that is lost says whether it had been given to the carrier", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    carriers[0].isFull = true;
    const given = failure(bridge.call("Echo", "given"));
    const kept = failure(bridge.call("Echo", "kept"));
    const oneWay = failure(bridge.notify("Echo", "kept"));
    carriers[0].events.closed();
    const lost = "the connection to the daemon was lost (it was closed); the call of Echo ";
    const outcome = ({ code, message, started, transient }) => [code, message, started, transient];
    assert.deepEqual(outcome(await given), ["session.closed", `${lost}may have had its effect`, true, true]);
    for (const error of [await kept, await oneWay]) {
        assert.deepEqual(outcome(error), ["session.closed", `${lost}had not been sent`, false, true]);
    }
    clock.advance(100);
    await settled();
    assert.deepEqual([carriers.length, carriers[1].calls, bridge.queuedBytes], [2, [], 0]);
    await bridge.close();
});

test("a call that waited for a connection belongs to the one that comes, though it is not written yet", async () => {
    const { bridge, carriers, clock, carrierOptions } = await apart();
    const first = failure(bridge.call("Echo", "first"));
    const second = failure(bridge.call("Echo", "second"));
    carrierOptions.isFull = true;
    clock.advance(100);
    carriers[1].events.drained();
    await settled();
    carriers[1].events.closed();
    assert.deepEqual([(await first).started, (await second).started], [true, false]);
    await bridge.close();
});

test("only so many calls wait for a connection", async () => {
    const { bridge, carriers, clock } = await apart({ maxWaitingCalls: 2 });
    const waiting = [bridge.call("Echo", 1), bridge.call("Echo", 2)];
    for (const promise of waiting) promise.catch(() => {});
    for (const refused of [bridge.call("Echo", 3), bridge.notify("Echo", 3)]) {
        const error = await failure(refused);
        assert.deepEqual(
            [error.code, error.data, error.transient, error.retryAfter], ["busy", { started: false }, true, 1000]);
        assert.match(error.message, /^2 calls with \d+ bytes wait for a connection to the daemon, the maximum$/);
    }
    clock.advance(100);
    await settled();
    // Now there is a connection.
    bridge.call("Echo", 4).catch(() => {});
    assert.deepEqual(carriers[1].calls.map(({ options }) => options), [1, 2, 4]);
    await bridge.close();
});

test("calls that wait for a connection are only so long together", async () => {
    const { bridge } = await apart({ maxWaitingBytes: 1000 });
    assert.equal((await failure(bridge.call("Echo", "x".repeat(1000)))).code, "busy");
    const waiting = bridge.call("Echo", "x".repeat(700));
    waiting.catch(() => {});
    assert.equal((await failure(bridge.call("Echo", "x".repeat(300)))).code, "busy");
    await bridge.close();
    assert.equal((await failure(waiting)).code, "session.closed");
});

test("what has ended makes room for what waits", async () => {
    const { bridge } = await apart({ maxWaitingCalls: 1 });
    const abort = new AbortController();
    const aborted = failure(bridge.call("Echo", 1, { signal: abort.signal }));
    abort.abort();
    assert.equal((await aborted).started, false);
    const next = failure(bridge.call("Echo", 2));
    await bridge.close();
    assert.equal((await next).code, "session.closed");
});

test("by default 1,024 calls wait for a connection, each for its timeout or a minute", async () => {
    const { bridge, clock } = driven({}, { canReopen: true, opensAtOnce: false });
    const calls = Array.from({ length: 1025 }, () => failure(bridge.call("Echo")));
    assert.equal((await calls.pop()).code, "busy");
    clock.advance(59_999);
    const timed = failure(bridge.call("Echo", {}, { timeout: 1 }));
    // There is no room for this call.
    assert.equal((await timed).code, "busy");
    clock.advance(1);
    const error = await calls[0];
    assert.deepEqual([error.code, error.data, error.transient], ["daemon.unreachable", { started: false }, true]);
    const late = failure(bridge.call("Echo", {}, { timeout: 1 }));
    clock.advance(1);
    assert.equal((await late).message, "there was no connection to the daemon before the deadline of the call of Echo");
    await bridge.close();
});

test("a call that a stopping daemon refuses waits only where there is room", async () => {
    const { bridge, carriers } = driven({ maxWaitingCalls: 1 }, { canReopen: true });
    await bridge.open();
    const [first, second] = [bridge.call("Echo", 1), bridge.call("Echo", 2)].map(failure);
    for (const { callbackId } of carriers[0].calls) carriers[0].receive({ callbackId, error: refusal });
    assert.equal((await second).code, "daemon.stopping");
    await bridge.close();
    assert.equal((await first).code, "session.closed");
});
