// Streams in options and results, over a real daemon.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";

import { BridgeError, stream } from "../src/index.js";
import { openClients } from "./support/clients.mjs";
import { startDaemon, temporaryDirectory, withoutDaemon } from "./support/daemon.mjs";

async function bytesOf(readable) {
    return Buffer.from(await new Response(readable).arrayBuffer());
}

/** Returns an endless source, and a promise that resolves with the reason when the source is cancelled. */
function endless() {
    let cancel;
    const cancelled = new Promise((done) => { cancel = done; });
    return { source: new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(40_000)), cancel }), cancelled };
}

/** Returns an endless generator, and a promise that resolves when it is closed. */
function endlessGenerator() {
    let close;
    const closed = new Promise((done) => { close = done; });
    const source = (async function* more() {
        try {
            for (;;) yield new Uint8Array(40_000);
        } finally {
            close();
        }
    })();
    return { source, closed };
}

test("streams in options and results", { skip: withoutDaemon }, async (suite) => {
    const daemon = await startDaemon(suite);

    /** Connects a caller, and the provider of a task. */
    async function two(t, task, handler) {
        const { bridge, other } = await openClients(t, daemon, 2);
        if (task) await other.register(task, handler);
        return bridge;
    }

    const size = async ({ photo, more }, call) => [
        (await bytesOf(call.readStream(photo))).length, more && (await bytesOf(call.readStream(more[0].raw))).length,
    ];

    await suite.test("sources of every kind go to a task, anywhere in its options", async (t) => {
        const caller = await two(t, "photo.size", size);
        const path = join(temporaryDirectory(t), "photo");
        writeFileSync(path, new Uint8Array(1_000_000));
        const photo = Readable.toWeb(createReadStream(path));
        const options = { photo, more: [{ raw: stream("raw") }], none: undefined };
        assert.deepEqual(await caller.call("photo.size", options), [1_000_000, 3]);
        for (const source of ["four", new Uint8Array(4), new Uint8Array(4).buffer, new Blob(["four"]), ["fo", "ur"]]) {
            const four = stream(source, { type: "image/png", totalBytes: 4 });
            assert.deepEqual(await caller.call("photo.size", { photo: four }), [4, null]);
        }
    });

    await suite.test("a result has streams that the caller reads", async (t) => {
        const bytes = randomBytes(1_000_001);
        const caller = await two(t, "photo.copy", ({ photo }, call) => (
            { photo: call.readStream(photo), thumb: stream("thumb", { type: "text/plain" }) }));
        const result = await caller.call("photo.copy", { photo: stream(bytes) });
        assert.equal((await bytesOf(caller.readStream(result.thumb))).toString(), "thumb");
        assert.deepEqual(await bytesOf(caller.readStream(result.photo)), bytes);
    });

    await suite.test("where its schema says so, a task gets streams to read, and a caller too", async (t) => {
        const { bridge: caller, other } = await openClients(t, daemon, 2);
        const name = { type: "string", format: "trestle-stream" };
        const schema = { type: "object", properties: { photo: name, more: { properties: { raw: name } } } };
        await other.register("photo.turn", async ({ photo, more, text }) => {
            const bytes = (await bytesOf(photo)).reverse();
            return { photo: stream([bytes]), bytes: (await bytesOf(more.raw)).length, text };
        }, { description: { options: schema, result: schema } });
        const photo = randomBytes(200_001);
        const options = { photo: stream(photo), more: { raw: stream("raw") }, text: "stream:" };
        const result = await caller.call("photo.turn", options, { resultSchema: schema });
        assert.deepEqual(await bytesOf(result.photo), Buffer.from(photo).reverse());
        assert.deepEqual([result.bytes, result.text], [3, "stream:"]);
        const named = await caller.call("photo.turn", options);
        assert.match(named.photo, /^stream:[0-9a-f]{32}$/);
        await caller.readStream(named.photo).cancel();
    });

    await suite.test("a task that fails ends the streams that its schema names", async (t) => {
        const { bridge: caller, other } = await openClients(t, daemon, 2);
        const schema = { properties: { photo: { format: "trestle-stream" } } };
        await other.register("photo.fail", async ({ photo }) => {
            await photo.getReader().read();
            throw new BridgeError("photo.dull", "the photo is dull");
        }, { description: { options: schema } });
        const { source, cancelled } = endless();
        await assert.rejects(caller.call("photo.fail", { photo: source }), { code: "photo.dull" });
        await cancelled;
    });

    await suite.test("a call that is refused or fails ends its streams and cancels their sources", async (t) => {
        let readable;
        const caller = await two(t, "photo.fail", async ({ photo }, call) => {
            readable = call.readStream(photo).getReader();
            await readable.read();
            throw new BridgeError("photo.dull", "the photo is dull");
        });
        for (const task of ["no.such.task", "photo.fail"]) {
            const code = task === "photo.fail" ? "photo.dull" : "task.not_found";
            const { source, cancelled } = endless();
            await assert.rejects(caller.call(task, { photo: source }), { code });
            assert.equal((await cancelled).code, code);
        }
        await assert.rejects((async () => {
            for (;;) await readable.read();
        })(), (error) => error.code === "stream.closed" && error.data.error.code === "photo.dull");
        const { source, closed } = endlessGenerator();
        await assert.rejects(caller.call("photo.fail", { photo: stream(source) }), { code: "photo.dull" });
        await closed;
    });

    await suite.test("a call that is aborted, or cannot be sent, cancels its sources", async (t) => {
        let begin;
        const begun = new Promise((done) => { begin = done; });
        const caller = await two(t, "photo.wait", () => new Promise(begin));
        const abort = new AbortController();
        const waiting = endless();
        const call = caller.call("photo.wait", { photo: waiting.source }, { signal: abort.signal });
        const rejected = assert.rejects(call, { code: "call.cancelled", started: true });
        await begun;
        abort.abort();
        await rejected;
        await waiting.cancelled;
        const early = endless();
        const aborted = caller.call("photo.wait", { photo: early.source }, { signal: abort.signal });
        await assert.rejects(aborted, { code: "call.cancelled", started: false });
        await early.cancelled;
        await caller.close();
        const late = endless();
        const closed = caller.call("photo.wait", { photo: late.source });
        await assert.rejects(closed, { code: "session.closed", started: false });
        await late.cancelled;
    });

    await suite.test("a reader that leaves early cancels the source, and the call succeeds", async (t) => {
        const caller = await two(t, "photo.peek", async ({ photo }, call) => {
            for await (const chunk of call.readStream(photo)) return chunk.length > 0;
        });
        const { source, cancelled } = endless();
        assert.equal(await caller.call("photo.peek", { photo: source }), true);
        assert.equal((await cancelled).code, "stream.closed");
    });

    await suite.test("a caller that leaves early cancels the source of a result", async (t) => {
        const { source, closed } = endlessGenerator();
        const caller = await two(t, "photo.get", () => stream(source));
        await caller.readStream(await caller.call("photo.get")).cancel();
        await closed;
    });

    await suite.test("what a source throws reaches the reader", async (t) => {
        const caller = await two(t, "photo.size", size);
        const failing = (async function* fail() {
            yield "half";
            throw new Error("no paper");
        })();
        const call = caller.call("photo.size", { photo: stream(failing) });
        await assert.rejects(call, { code: "stream.closed", message: /no paper/ });
    });

    await suite.test("a source that can be read once is sent once, in words", async (t) => {
        const caller = await two(t, "photo.size", size);
        const { source } = endless();
        const refused = { code: "options.invalid", started: false, message: /was sent or read before/ };
        await assert.rejects(caller.call("Echo", [source, source]), refused);
        await assert.rejects(caller.call("Echo", stream(source)), refused);
        const locked = new ReadableStream();
        locked.getReader();
        await assert.rejects(caller.call("Echo", locked), refused);
        const again = stream(["one", "two"]);
        for (let count = 0; count < 2; count += 1) {
            assert.deepEqual(await caller.call("photo.size", { photo: again, more: [{ raw: again }] }), [6, 6]);
        }
    });

    await suite.test("what may be sent again is, where the call is", async (t) => {
        let calls = 0;
        const caller = await two(t, "photo.busy", async ({ photo }, call) => {
            const { length } = await bytesOf(call.readStream(photo));
            calls += 1;
            if (calls < 3) throw new BridgeError("photo.busy", "later", { transient: true, retryAfter: 1 });
            return length;
        });
        assert.equal(await caller.call("photo.busy", { photo: stream("four") }, { retry: "transient" }), 4);
        calls = 0;
        const once = caller.call("photo.busy", { photo: new Blob(["four"]).stream() }, { retry: "transient" });
        await assert.rejects(once, { code: "photo.busy" });
        assert.equal(calls, 1);
    });

    await suite.test("what is wrong with the rest of the options uses no stream up", async (t) => {
        const caller = await two(t, "photo.size", size);
        const photo = new Blob(["four"]).stream();
        const refused = { code: "options.invalid", started: false };
        await assert.rejects(caller.call("photo.size", { photo, number: 1n }), refused);
        const ring = { photo };
        ring.ring = ring;
        await assert.rejects(caller.call("photo.size", ring), refused);
        await assert.rejects(caller.notify("photo.size", { photo }), refused);
        assert.deepEqual(await caller.call("photo.size", { photo }), [4, null]);
    });

    await suite.test("a callback hears of the end of a call with streams, and can cancel it", async (t) => {
        const caller = await two(t, "photo.size", size);
        const result = await new Promise((done) => {
            caller.call("photo.size", { photo: stream("four") }, (...values) => done(values));
        });
        assert.deepEqual(result, [[4, null], null]);
        const { source, cancelled } = endless();
        const code = await new Promise((done) => {
            caller.call("photo.size", { photo: source }, (_, error) => done(error.code)).cancel();
        });
        assert.equal(code, "call.cancelled");
        await cancelled;
    });

    await suite.test("a one-way call cancels the sources of its result", async (t) => {
        const { source, cancelled } = endless();
        const caller = await two(t, "photo.get", () => source);
        await caller.notify("photo.get");
        await cancelled;
    });

    await suite.test("an abort does not wait for a write that waits for the reader", async (t) => {
        const caller = await two(t);
        const { name, writable } = await caller.makeStream();
        const writer = writable.getWriter();
        const reader = caller.readStream(name);
        const writing = assert.rejects(writer.write(new Uint8Array(1_000_000)));
        writer.closed.catch(() => {});
        await writer.abort(new BridgeError("disk.full", "the disk is full"));
        await writing;
        await assert.rejects(bytesOf(reader), (error) => error.data.error.code === "disk.full");
    });
});
