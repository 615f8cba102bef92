// Connecting: its waits, the introduction of a client, and the reasons for failure.

import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { test } from "node:test";

import { BridgeError, connect } from "../src/index.js";
import { temporaryDirectory } from "./support/daemon.mjs";
import { driven, failure } from "./support/driven.mjs";
import { fakeDaemon, FakeCarrier, FakeClock, settled } from "./support/fakes.mjs";

/** Connects with waitForDaemon, over carriers that the test opens. */
function waiting() {
    const carriers = [];
    const clock = new FakeClock();
    const makeCarrier = () => {
        carriers.push(new FakeCarrier({ canReopen: true, opensAtOnce: false }));
        return carriers.at(-1);
    };
    const backoff = { first: 100, max: 1000, random: () => 1 };
    return { connecting: connect({ waitForDaemon: true, makeCarrier, clock, backoff }), carriers, clock };
}

test("connecting where nobody listens is daemon.unreachable", async (t) => {
    const socket = join(temporaryDirectory(t), "none.sock");
    const error = await failure(connect({ socket }));
    assert.deepEqual([error.code, error.transient, error.data.path], ["daemon.unreachable", true, socket]);
});

test("with waitForDaemon connecting goes on until a daemon answers", async () => {
    const { connecting, carriers, clock } = waiting();
    carriers[0].events.closed();
    clock.advance(100);
    await settled();
    carriers[1].events.closed(new BridgeError("busy", "too many connections", { transient: true }));
    clock.advance(200);
    await settled();
    carriers[2].events.opened();
    const bridge = await connecting;
    assert.equal(bridge.state, "open");
    await bridge.close();
});

test("with waitForDaemon connecting fails where waiting makes no sense, and leaves nothing behind", async () => {
    const { connecting, carriers, clock } = waiting();
    carriers[0].events.closed(new BridgeError("connection.denied", "not for this user"));
    assert.equal((await failure(connecting)).code, "connection.denied");
    assert.equal(clock.count, 0);
});

test("in Node a bridge introduces itself by the name of the program's file, unless another is given", async () => {
    for (const [hello, client] of [[undefined, basename(process.argv[1])], [{ client: "shop" }, "shop"]]) {
        const { bridge, carriers } = driven({ hello });
        await bridge.open();
        assert.equal(carriers[0].sent[0].options.client, client);
        await bridge.close();
    }
});

test("a daemon that takes connections and says nothing is given up", async () => {
    const { bridge, carriers, clock } = driven({ connectTimeout: 1000 }, { canReopen: true, hello: null });
    const opened = failure(bridge.open());
    await settled();
    clock.advance(1000);
    assert.equal((await opened).code, "daemon.unreachable");
    assert.equal(carriers[0].isDestroyed, true);
    await bridge.close();
});

test("a connection that ends before the daemon has answered was never open", async () => {
    const { bridge, carriers } = driven({}, { canReopen: true, hello: null });
    const opened = failure(bridge.open());
    carriers[0].events.closed();
    assert.equal((await opened).code, "daemon.unreachable");
    assert.equal(bridge.state, "waiting");
    await bridge.close();
});

test("the reason why a daemon refuses a new connection is that of connecting", async (t) => {
    const daemon = await fakeDaemon(t, { answersHello: false });
    const connecting = failure(connect({ socket: daemon.socket }));
    const peer = await daemon.next();
    await peer.next();
    peer.peer.end("{\"callbackId\":null,\"error\":{\"code\":\"busy\",\"message\":\"too many sessions\"}}\n");
    assert.equal((await connecting).code, "busy");
});

test("a client that may not introduce itself may still call", async () => {
    const { bridge, carriers } = driven({}, { hello: null });
    const opened = bridge.open();
    const { callbackId } = carriers[0].sent[0];
    carriers[0].receive({ callbackId, error: { code: "permission.denied", message: "no" } });
    assert.equal(await opened, undefined);
    await bridge.close();
});

test("an origin that the daemon refuses closes the bridge", async () => {
    const { bridge, carriers } = driven({ hello: { origin: "https://a.example" } }, { hello: null, canReopen: true });
    const opened = failure(bridge.open());
    const { callbackId } = carriers[0].sent[0];
    carriers[0].receive({ callbackId, error: { code: "permission.denied", message: "no" } });
    assert.equal((await opened).code, "permission.denied");
    assert.equal(bridge.state, "closed");
});
