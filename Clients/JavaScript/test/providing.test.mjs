// Provided tasks: their registrations, and the calls of their handlers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { driven, failure } from "./support/driven.mjs";
import { settled } from "./support/fakes.mjs";

async function opened() {
    const driving = driven({}, { canReopen: true });
    await driving.bridge.open();
    return { ...driving, carrier: driving.carriers[0] };
}

/** Registers a task, which the daemon accepts. */
async function registered({ bridge, carrier }, handler = () => 1, settings = {}) {
    const registering = bridge.register("mine", handler, settings);
    carrier.answer();
    return registering;
}

const tasks = (carrier) => carrier.calls.map(({ task }) => task);

test("a task is described to each daemon", async () => {
    const driving = await opened();
    const description = { summary: "Reads a code.", options: { type: "object" }, result: true };
    await registered(driving, () => 1, { description });
    driving.carrier.events.closed();
    driving.clock.advance(100);
    await settled();
    for (const { calls: [message] } of driving.carriers) {
        assert.deepEqual([message.task, message.options], [
            "bridge.register", { tasks: ["mine"], scope: "any", descriptions: { mine: description } },
        ]);
    }
    await driving.bridge.close();
});

test("a registration ends with unregister, with its disposal, or with its signal, and once", async () => {
    const abort = new AbortController();
    const ends = [
        (registration) => registration.unregister(),
        (registration) => registration[Symbol.asyncDispose](),
        () => abort.abort(),
    ];
    for (const end of ends) {
        const { bridge, carrier } = await opened();
        const registration = await registered({ bridge, carrier }, () => 1, { signal: abort.signal });
        assert.equal(registration.task, "mine");
        end(registration);
        carrier.answer();
        await registration.unregister();
        assert.deepEqual(tasks(carrier), ["bridge.register", "bridge.unregister"]);
        assert.deepEqual(carrier.calls.at(-1).options, { tasks: ["mine"] });
        await bridge.close();
    }
});

test("a registration ends with its bridge, and ending it then does nothing", async () => {
    const { bridge, carrier } = await opened();
    const registration = await registered({ bridge, carrier });
    await bridge.close();
    await registration.unregister();
    assert.deepEqual(tasks(carrier), ["bridge.register"]);
});

test("the registration of a task that was registered again ends nothing", async () => {
    const { bridge, carrier } = await opened();
    const first = await registered({ bridge, carrier }, () => "first");
    await registered({ bridge, carrier }, () => "second");
    await first.unregister();
    carrier.receive({ task: "mine", callbackId: 3 });
    await settled();
    assert.deepEqual(carrier.calls.at(-1), { callbackId: 3, result: "second" });
    await bridge.close();
});

test("a signal that is aborted before the daemon has taken the task takes it back", async () => {
    const { bridge, carrier } = await opened();
    const early = await failure(bridge.register("mine", () => 1, { signal: AbortSignal.abort() }));
    assert.deepEqual([early.code, early.started, carrier.calls.length], ["call.cancelled", false, 0]);
    const abort = new AbortController();
    const registering = failure(bridge.register("mine", () => 1, { signal: abort.signal }));
    abort.abort();
    carrier.answer();
    await settled();
    carrier.answer();
    assert.equal((await registering).code, "call.cancelled");
    assert.deepEqual(tasks(carrier), ["bridge.register", "bridge.unregister"]);
    await bridge.close();
});

test("the time that remains is computed when it is read", async () => {
    const driving = await opened();
    const { bridge, carrier, clock } = driving;
    const calls = [];
    await registered(driving, (options, call) => {
        calls.push(call);
        return new Promise(() => {});
    });
    carrier.receive({ task: "mine", callbackId: 1, timeout: 500 });
    carrier.receive({ task: "mine", callbackId: 2 });
    const [call, endless] = calls;
    assert.equal(call.timeRemaining, 500);
    clock.advance(200);
    assert.equal(call.timeRemaining, 300);
    clock.advance(1000);
    assert.deepEqual([call.timeRemaining, endless.timeRemaining], [0, undefined]);
    await bridge.close();
});

test("reportProgress never waits, and returns whether the value was taken", async () => {
    const driving = driven({ maxQueuedBytes: 1000 });
    await driving.bridge.open();
    const { bridge, carriers: [carrier] } = driving;
    const calls = [];
    await registered({ bridge, carrier }, (options, call) => {
        calls.push(call);
        return new Promise(() => {});
    });
    carrier.receive({ task: "mine", callbackId: 1, progress: true });
    carrier.receive({ task: "mine", callbackId: 2 });
    const [call, silent] = calls;
    assert.deepEqual([call.reportProgress(1), silent.reportProgress(1)], [true, false]);
    carrier.isFull = true;
    assert.deepEqual([2, "x".repeat(900), "x".repeat(900)].map(call.reportProgress), [true, true, false]);
    carrier.isFull = false;
    carrier.events.drained();
    assert.equal(call.reportProgress(3), true);
    assert.deepEqual(carrier.calls.slice(1).map(({ progress, sequence }) => [String(progress).length, sequence]),
        [[1, 0], [1, 1], [900, 2], [1, 3]]);
    assert.throws(() => call.reportProgress(1n), { code: "internal" });
    await bridge.close();
});
