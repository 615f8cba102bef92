// Subscriptions: their ends, missed events, and retained events.

import assert from "node:assert/strict";
import { test } from "node:test";

import { driven, failure } from "./support/driven.mjs";
import { settled } from "./support/fakes.mjs";

const gap = { event: "bridge.events_dropped", data: { count: null } };

/** Makes an open bridge over carriers that the test drives. */
async function opened() {
    const driving = driven({}, { canReopen: true });
    await driving.bridge.open();
    return { ...driving, carrier: driving.carriers[0] };
}

/** Loses the connection. Resolves to the carrier of the next one. */
async function reconnected({ carriers, clock }) {
    carriers.at(-1).events.closed();
    clock.advance(1000);
    await settled();
    return carriers.at(-1);
}

const tasks = (carrier) => carrier.calls.map(({ task }) => task);

test("a subscription ends when it is called, when it is disposed of, or when its signal is aborted", async () => {
    const { bridge, carrier } = await opened();
    const abort = new AbortController();
    const ends = [
        (subscription) => subscription(),
        (subscription) => subscription[Symbol.dispose](),
        () => abort.abort(),
    ];
    for (const end of ends) {
        carrier.sent.length = 0;
        const heard = [];
        const subscription = bridge.subscribe("bell", ({ data }) => heard.push(data), { signal: abort.signal });
        carrier.answer();
        await subscription.ready;
        carrier.receive({ event: "bell", data: 1 });
        end(subscription);
        end(subscription);
        carrier.receive({ event: "bell", data: 2 });
        assert.deepEqual([heard, tasks(carrier)], [[1], ["bridge.subscribe", "bridge.unsubscribe"]]);
    }
    await bridge.close();
});

test("a subscription whose signal is aborted already sends nothing", async () => {
    const { bridge, carrier } = await opened();
    const { ready } = bridge.subscribe("bell", () => {}, { signal: AbortSignal.abort("enough") });
    const error = await failure(ready);
    assert.deepEqual([error.code, error.started, error.cause], ["call.cancelled", false, "enough"]);
    assert.deepEqual(carrier.calls, []);
    await bridge.close();
});

test("what is no listener and no settings is refused immediately", async () => {
    const { bridge } = await opened();
    for (const wrong of [null, "listener", 7, []]) {
        assert.throws(() => bridge.subscribe("bell", wrong), { code: "options.invalid" });
    }
    assert.throws(() => bridge.subscribe("bell", { capacity: 0 }), { code: "options.invalid" });
    assert.throws(() => bridge.subscribe([], () => {}), { code: "options.invalid" });
    await bridge.close();
});

test("a stream that is disposed of ends its subscription", async () => {
    const { bridge, carrier } = await opened();
    const events = bridge.subscribe("bell");
    carrier.answer();
    await events.ready;
    await events[Symbol.asyncDispose]();
    assert.deepEqual(await events.next(), { value: undefined, done: true });
    assert.deepEqual(tasks(carrier), ["bridge.subscribe", "bridge.unsubscribe"]);
    await bridge.close();
});

test("after a new session each stream gets one event that says that events were missed, before any other", async () => {
    const driving = await opened();
    const { bridge, carrier } = driving;
    const events = bridge.subscribe("bell");
    carrier.answer();
    await events.ready;
    const heard = [];
    const asked = bridge.subscribe("bridge.events_dropped", (event) => heard.push(event));
    carrier.answer();
    await asked.ready;
    bridge.subscribe("bell", (event) => heard.push(event));
    carrier.answer();
    await settled();
    const next = await reconnected(driving);
    next.answer();
    next.receive({ event: "bell", data: 1 });
    assert.deepEqual([(await events.next()).value, (await events.next()).value], [gap, { event: "bell", data: 1 }]);
    assert.deepEqual(heard, [gap, { event: "bell", data: 1 }]);
    await bridge.close();
});

test("a gap that a slow reader has not read yet is not counted as one event", async () => {
    const driving = await opened();
    const { bridge, carrier } = driving;
    const events = bridge.subscribe("bell", { capacity: 2 });
    carrier.answer();
    await events.ready;
    const next = await reconnected(driving);
    for (let number = 0; number < 4; number += 1) next.receive({ event: "bell", data: number });
    const heard = [await events.next(), await events.next(), await events.next()].map(({ value }) => value);
    assert.deepEqual(heard, [gap, { event: "bell", data: 2 }, { event: "bell", data: 3 }]);
    next.receive({ event: "bell", data: 4 });
    assert.deepEqual((await events.next()).value, { event: "bell", data: 4 });
    await bridge.close();
});

test("a stream that had not begun when the connection was lost has missed nothing", async () => {
    const driving = await opened();
    const { bridge } = driving;
    const events = bridge.subscribe("bell");
    const next = await reconnected(driving);
    next.answer();
    await events.ready;
    next.receive({ event: "bell", data: 1 });
    assert.deepEqual((await events.next()).value, { event: "bell", data: 1 });
    await bridge.close();
});

test("a retained event comes to a second subscription, in its newest form", async () => {
    const { bridge, carrier } = await opened();
    const first = bridge.subscribe("lamp", () => {});
    const { callbackId } = carrier.sent.at(-1);
    carrier.receive([{ callbackId, result: {} }, { event: "lamp", retained: true, data: "on" }]);
    await first.ready;
    const heard = [];
    bridge.subscribe("lamp", ({ data }) => heard.push(data));
    assert.deepEqual(heard, []);
    await settled();
    carrier.receive({ event: "lamp", retained: true, data: "off" });
    // This event is not retained, so "off" stays the newest retained event.
    carrier.receive({ event: "lamp", data: "blinking" });
    const third = bridge.subscribe("la*");
    assert.deepEqual((await third.next()).value, { event: "lamp", data: "off" });
    assert.deepEqual(heard, ["on", "off", "blinking"]);
    await bridge.close();
});

test("an event that is not retained does not come to a later subscription", async () => {
    const { bridge, carrier } = await opened();
    const first = bridge.subscribe("bell", () => {});
    carrier.answer();
    await first.ready;
    carrier.receive({ event: "bell", data: 1 });
    const heard = [];
    bridge.subscribe("bell", ({ data }) => heard.push(data));
    await settled();
    assert.deepEqual(heard, []);
    await bridge.close();
});

test("what this bridge publishes as retained comes to its own later subscriptions", async () => {
    const { bridge, carrier } = await opened();
    const first = bridge.subscribe("lamp", () => {});
    carrier.answer();
    await first.ready;
    const published = bridge.publish("lamp", "on", { retain: true });
    const { callbackId } = carrier.sent.at(-1);
    carrier.receive([{ event: "lamp", retained: true, data: "on" }, { callbackId, result: {} }]);
    await published;
    const second = bridge.subscribe("lamp");
    assert.deepEqual((await second.next()).value, { event: "lamp", data: "on" });
    await bridge.close();
});

test("retained events are not kept beyond the last subscription, nor beyond the session", async () => {
    const driving = await opened();
    const { bridge, carrier } = driving;
    const heard = [];
    const listen = () => bridge.subscribe("lamp", ({ data }) => heard.push(data));
    const retained = (on) => on.receive([
        { callbackId: on.sent.at(-1).callbackId, result: {} }, { event: "lamp", retained: true, data: "on" },
    ]);
    const first = listen();
    retained(carrier);
    await first.ready;
    first();
    // The daemon sends the event again.
    const second = listen();
    await settled();
    assert.deepEqual(heard, ["on"]);
    retained(carrier);
    await second.ready;
    const next = await reconnected(driving);
    listen();
    await settled();
    assert.deepEqual(heard, ["on", "on"]);
    next.receive([{ callbackId: next.calls[0].callbackId, result: {} }, { event: "lamp", data: "off" }]);
    assert.deepEqual(heard, ["on", "on", "off", "off"]);
    await bridge.close();
});
