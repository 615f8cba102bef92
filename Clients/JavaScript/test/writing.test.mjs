// The time at which messages leave the library's queue.

import assert from "node:assert/strict";
import { test } from "node:test";

import { driven, failure, pair } from "./support/driven.mjs";
import { settled } from "./support/fakes.mjs";

/** Makes a bridge over a carrier with `gather`: it writes when the test ends the turn. */
async function gathering() {
    const actions = [];
    const driving = driven({}, { gather: (action) => actions.push(action) });
    const endTurn = () => actions.splice(0).forEach((action) => action());
    const opened = driving.bridge.open();
    endTurn();
    await opened;
    const [carrier] = driving.carriers;
    carrier.sent.length = carrier.writes.length = 0;
    return { ...driving, carrier, endTurn };
}

test("calls that are made in one turn leave in one write, in their order", async () => {
    const { bridge, carrier, endTurn } = await gathering();
    const calls = [1, 2, 3].map((number) => bridge.call("Echo", number));
    assert.deepEqual(carrier.sent, []);
    endTurn();
    assert.deepEqual([carrier.writes, carrier.calls.map(({ options }) => options)], [[3], [1, 2, 3]]);
    for (const { callbackId, options } of carrier.calls) carrier.receive({ callbackId, result: options });
    assert.deepEqual(await Promise.all(calls), [1, 2, 3]);
    await bridge.close();
});

test("a write is no longer than about 16 KiB, and what the carrier does not take waits", async () => {
    const { bridge, carrier, endTurn } = await gathering();
    const text = "x".repeat(10_000);
    const calls = Array.from({ length: 5 }, () => failure(bridge.call("Echo", text)));
    carrier.isFull = true;
    endTurn();
    assert.deepEqual([carrier.writes, bridge.queuedBytes > 30_000], [[2], true]);
    carrier.events.closed();
    const started = (await Promise.all(calls)).map((error) => error.started);
    assert.deepEqual(started, [true, true, false, false, false]);
});

test("nothing leaves for a carrier that has ended, although its end has not been reported yet", async () => {
    const { bridge, carrier, endTurn } = await gathering();
    carrier.canWrite = false;
    const call = failure(bridge.call("Echo", 1));
    endTurn();
    carrier.events.closed();
    assert.deepEqual([(await call).started, carrier.sent], [false, []]);
});

test("a call that is cancelled in the turn in which it was made is never sent", async () => {
    const { bridge, carrier, endTurn } = await gathering();
    const abort = new AbortController();
    const call = failure(bridge.call("Echo", 1, { signal: abort.signal }));
    abort.abort();
    endTurn();
    assert.deepEqual([(await call).started, carrier.sent], [false, []]);
    await bridge.close();
});

test("closing in the turn in which a one-way call was made still sends it", async () => {
    const { bridge, carrier } = await gathering();
    const notified = bridge.notify("note", 1);
    await bridge.close();
    await notified;
    assert.deepEqual(carrier.calls.map(({ task }) => task), ["note"]);
});

test("of calls over a socket that was lost, those that the daemon got say that they may have begun", async (t) => {
    const { bridge, peer } = await pair(t, { maxQueuedBytes: 16 << 20 });
    peer.peer.pause();
    const outcomes = Array.from({ length: 4000 }, (_, number) => (
        failure(bridge.call("Echo", { number, text: "x".repeat(1000) }))));
    await settled();
    // The socket buffers a few hundred kilobytes. The rest waits in the library.
    assert.ok(bridge.queuedBytes > 2_000_000);
    peer.peer.resume();
    const received = [await peer.next()];
    peer.drop();
    await peer.ended;
    while (peer.waiting > 0) received.push(await peer.next());
    const started = (await Promise.all(outcomes)).map((error) => error.started);
    assert.ok(received.every(({ options }) => started[options.number]));
    const sent = started.indexOf(false);
    assert.ok(sent > 0 && started.slice(sent).every((each) => each === false));
});
