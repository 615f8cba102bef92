// Lost connections and reconnects, and the end of a bridge.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { driven, failure, pair } from "./support/driven.mjs";
import { fakeDaemon, settled } from "./support/fakes.mjs";

test("a call in flight when the connection is lost ends with session.closed, and may have begun", async (t) => {
    const { bridge, peer } = await pair(t);
    const call = bridge.call("slow");
    await peer.next();
    peer.drop();
    const error = await failure(call);
    assert.deepEqual([error.code, error.started, error.transient], ["session.closed", true, true]);
});

test("attempts to connect come at growing intervals, and a connection that lasted begins again", async () => {
    const { bridge, carriers, clock, changes } = driven({}, { canReopen: true });
    await bridge.open();
    const delays = () => changes.filter(({ state }) => state === "waiting").map(({ delay }) => delay);
    for (let loss = 0; loss < 6; loss += 1) {
        carriers.at(-1).events.closed();
        clock.advance(delays().at(-1));
        await settled();
    }
    assert.deepEqual(delays(), [100, 200, 400, 800, 1000, 1000]);
    clock.advance(1000);
    carriers.at(-1).events.closed();
    assert.equal(delays().at(-1), 100);
    await bridge.close();
});

test("intervals are scattered between a half and all of themselves", async () => {
    const { bridge, carriers, changes } = driven({ backoff: { random: () => 0 } }, { canReopen: true });
    await bridge.open();
    carriers[0].events.closed();
    assert.equal(changes.at(-1).delay, 50);
    await bridge.close();
});

test("tasks and subscriptions are restored before calls that waited go out", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    const answer = (carrier) => carrier.receive({ callbackId: carrier.calls.at(-1).callbackId, result: {} });
    const registered = bridge.register("mine", () => 1, { scope: "session" });
    answer(carriers[0]);
    await registered;
    const stop = bridge.subscribe(["a", "b*"], () => {});
    answer(carriers[0]);
    await stop.ready;
    carriers[0].events.closed();
    bridge.call("Echo", 1).catch(() => {});
    clock.advance(100);
    await settled();
    assert.deepEqual(carriers[1].calls.map(({ task, options }) => [task, options]), [
        ["bridge.register", { tasks: ["mine"], scope: "session" }],
        ["bridge.subscribe", { events: ["a", "b*"] }],
        ["Echo", 1],
    ]);
    await bridge.close();
});

test("a registration outlives the loss of the connection over which it was asked for", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    const registered = bridge.register("mine", () => 1);
    carriers[0].events.closed();
    await settled();
    clock.advance(100);
    await settled();
    const [message] = carriers[1].calls;
    assert.equal(message.task, "bridge.register");
    carriers[1].receive({ callbackId: message.callbackId, result: { tasks: ["mine"] } });
    await registered;
    await bridge.close();
});

test("a call that a stopping daemon refused is sent again on the next connection, before younger ones", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    const first = bridge.call("Echo", "first");
    const started = failure(bridge.call("Echo", "second"));
    const [one, two] = carriers[0].calls;
    const refusal = (begun) => ({ code: "daemon.stopping", message: "…", data: { started: begun }, transient: true });
    carriers[0].receive({ callbackId: one.callbackId, error: refusal(false) });
    const third = bridge.call("Echo", "third");
    carriers[0].receive({ callbackId: two.callbackId, error: refusal(true) });
    assert.equal((await started).code, "daemon.stopping");
    assert.equal(carriers[0].calls.length, 2);
    carriers[0].events.closed();
    clock.advance(100);
    await settled();
    assert.deepEqual(carriers[1].calls.map(({ options }) => options), ["first", "third"]);
    for (const { callbackId, options } of carriers[1].calls) carriers[1].receive({ callbackId, result: options });
    assert.deepEqual(await Promise.all([first, third]), ["first", "third"]);
    await bridge.close();
});

test("a stopping daemon that hands its sessions on is asked again over the same connection", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    const call = bridge.call("Echo", 1);
    const refusal = { code: "daemon.stopping", message: "…", data: { started: false }, transient: true };
    carriers[0].receive({ callbackId: carriers[0].calls[0].callbackId, error: refusal });
    assert.equal(carriers[0].calls.length, 1);
    clock.advance(1000);
    assert.equal(carriers[0].calls.length, 2);
    carriers[0].receive({ callbackId: carriers[0].calls[1].callbackId, result: 1 });
    assert.equal(await call, 1);
    await bridge.close();
    assert.equal(clock.count, 0);
});

test("a session that is closed on purpose does not come back, with its info as the reason", async () => {
    const { bridge, carriers, changes } = driven({}, { canReopen: true });
    await bridge.open();
    const call = failure(bridge.call("slow"));
    carriers[0].receive({ event: "web.close", data: { info: "bye" } });
    carriers[0].events.closed();
    const error = await call;
    assert.deepEqual([error.code, error.data], ["session.closed", { info: "bye", started: true }]);
    assert.deepEqual([bridge.state, changes.at(-1).error.data], ["closed", { info: "bye" }]);
});

test("an event web.close that other messages follow is not the end of the session", async () => {
    const messages = [{ event: "other" }, { callbackId: "unknown", result: 1 }, "no JSON", [{ event: "other" }]];
    for (const message of messages) {
        const { bridge, carriers, clock } = driven({}, { canReopen: true });
        await bridge.open();
        carriers[0].receive({ event: "web.close", data: { info: "bye" } });
        carriers[0].receive(message);
        carriers[0].events.closed();
        assert.equal(bridge.state, "waiting", JSON.stringify(message));
        clock.advance(100);
        await settled();
        assert.equal(bridge.state, "open");
        await bridge.close();
    }
    const { bridge, carriers } = driven({}, { canReopen: true });
    await bridge.open();
    carriers[0].receive([{ event: "web.close", data: { info: "bye" } }, { event: "other" }]);
    carriers[0].events.closed();
    assert.equal(bridge.state, "waiting");
    await bridge.close();
});

test("a registration that is under way when the bridge is closed ends with it", async () => {
    const { bridge, carriers } = driven({}, { canReopen: true });
    await bridge.open();
    carriers[0].end = () => {};
    const registered = failure(bridge.register("mine", () => 1));
    bridge.close();
    assert.equal((await registered).code, "session.closed");
    carriers[0].events.closed();
    assert.equal(bridge.state, "closed");
});

test("who hears of a state may close the bridge there", async () => {
    for (const state of ["connecting", "open", "waiting"]) {
        const { bridge, carriers, clock } = driven({}, { canReopen: true });
        bridge.onState((change) => change.state === state && bridge.close());
        const opened = bridge.open().catch((error) => error.code);
        await settled();
        carriers[0]?.events.closed();
        await opened;
        assert.deepEqual([bridge.state, clock.count], ["closed", 0]);
    }
});

test("answers of handlers do not reach the session behind the one in which they were asked", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    let finish;
    let signal;
    const registered = bridge.register("mine", (options, call) => new Promise((done) => {
        finish = done;
        signal = call.signal;
    }));
    carriers[0].receive({ callbackId: carriers[0].calls[0].callbackId, result: {} });
    await registered;
    carriers[0].receive({ task: "mine", callbackId: 7 });
    carriers[0].events.closed();
    assert.equal(signal.aborted, true);
    clock.advance(100);
    await settled();
    finish("too late");
    await settled();
    assert.ok(carriers[1].calls.every((message) => message.callbackId !== 7));
    await bridge.close();
});

test("a closed bridge leaves no timer behind", async () => {
    const { bridge, carriers, clock } = driven({}, { canReopen: true });
    await bridge.open();
    const calls = [bridge.call("Echo", {}, { timeout: 1000 }), bridge.call("Echo")].map(failure);
    carriers[0].events.closed();
    calls.push(failure(bridge.call("Echo", {}, { timeout: 1000 })), failure(bridge.call("Echo")));
    await bridge.close();
    await Promise.all(calls);
    assert.equal(clock.count, 0);
});

test("an open bridge keeps a process alive, and one that was let go of does not", async (t) => {
    const daemon = await fakeDaemon(t);
    const library = fileURLToPath(new URL("../src/index.js", import.meta.url));
    const run = (last) => {
        const program = `
            import { connect } from ${JSON.stringify(library)};
            const bridge = await connect({ socket: ${JSON.stringify(daemon.socket)} });
            process.on("exit", () => console.log("ended"));
            ${last}`;
        let child;
        const ended = new Promise((done) => {
            child = execFile(process.execPath, ["--input-type=module", "-e", program], (error, output) => done(output));
        });
        return { child, ended };
    };
    assert.equal(await run("bridge.unref();").ended, "ended\n");
    assert.equal(await run("await bridge.close();").ended, "ended\n");
    await daemon.next();
    await daemon.next();
    const alive = run("console.error('idle'); bridge.notify('note');");
    t.after(() => alive.child.kill());
    // The process has no other work when the notification arrives, and must wait for the answer to the next call.
    const peer = await daemon.next();
    assert.equal((await peer.next()).task, "note");
    let hasEnded = false;
    alive.ended.then(() => {
        hasEnded = true;
    });
    peer.send({ task: "are you there", callbackId: 1 });
    assert.equal((await peer.next()).error.code, "task.not_found");
    assert.equal(hasEnded, false);
});
