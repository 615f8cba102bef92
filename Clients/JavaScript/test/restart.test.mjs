// The client and real daemons that are killed, stopped and started.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../src/index.js";
import { changed, openClients } from "./support/clients.mjs";
import { startDaemon, withoutDaemon } from "./support/daemon.mjs";

const backoff = { first: 10, max: 20 };

test("after the daemon was killed, tasks and subscriptions are there again", { skip: withoutDaemon }, async (t) => {
    const daemon = await startDaemon(t);
    const { bridge } = await openClients(t, daemon, 1, { backoff });
    await bridge.register("mine", (options) => options);
    const heard = [];
    await bridge.subscribe("bell", ({ data }) => heard.push(data)).ready;
    const bells = bridge.subscribe("bell");
    await bells.ready;
    const waiting = changed(bridge, "waiting");
    await daemon.stop("SIGKILL");
    const { error } = await waiting;
    assert.equal(error.code, "session.closed");
    const early = bridge.call("Echo", "made while there was no daemon");
    await daemon.start();
    assert.equal(await early, "made while there was no daemon");
    assert.equal(await bridge.call("mine", 7), 7);
    await bridge.publish("bell", 1);
    await bridge.call("bridge.ping");
    assert.deepEqual(heard, [1]);
    assert.deepEqual((await bells.next()).value, { event: "bridge.events_dropped", data: { count: null } });
    assert.deepEqual((await bells.next()).value, { event: "bell", data: 1 });
});

test("with waitForDaemon connecting waits for a daemon that is started later", { skip: withoutDaemon }, async (t) => {
    const daemon = await startDaemon(t);
    await daemon.stop();
    await assert.rejects(connect({ socket: daemon.socket }), { code: "daemon.unreachable" });
    const connecting = connect({ socket: daemon.socket, waitForDaemon: true, backoff });
    await daemon.start();
    const bridge = await connecting;
    assert.equal(await bridge.call("Echo", 1), 1);
    await bridge.close();
});

test("calls that a stopping daemon refuses are made at the next one", { skip: withoutDaemon }, async (t) => {
    const daemon = await startDaemon(t);
    const { bridge, other } = await openClients(t, daemon, 2, { backoff });
    let finish;
    await other.register("slow", () => new Promise((done) => {
        finish = done;
    }));
    const slow = bridge.call("slow");
    const draining = bridge.subscribe("daemon.draining");
    await draining.ready;
    const stopped = daemon.stop();
    await draining.next();
    const refused = bridge.call("Echo", "for the next one");
    finish("still answered");
    assert.equal(await slow, "still answered");
    await stopped;
    await daemon.start();
    assert.equal(await refused, "for the next one");
});
