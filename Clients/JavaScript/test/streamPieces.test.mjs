// Streams in pieces: for a daemon with the shortest message limit, and with writes that were never sent.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import { BridgeError, stream } from "../src/index.js";
import { Streams } from "../src/streams.js";
import { openClients } from "./support/clients.mjs";
import { startDaemon, withoutDaemon } from "./support/daemon.mjs";

/** Reads all bytes of a stream. */
async function bytesOf(readable) {
    const chunks = [];
    for await (const chunk of readable) chunks.push(chunk);
    return Buffer.concat(chunks);
}

const names = { type: "object", properties: { file: { type: "string", format: "trestle-stream" } } };

test("a daemon that takes short messages", { skip: withoutDaemon }, async (suite) => {
    const daemon = await startDaemon(suite, { configuration: '[limits]\nmessage_bytes = "1KiB"\n' });

    await suite.test("gets short pieces, from who makes a stream and from who does not", async (t) => {
        const { bridge, other } = await openClients(t, daemon, 2);
        const bytes = randomBytes(60_000);
        const sent = await bridge.sendStream(bytes);
        assert.deepEqual(await bytesOf(other.readStream(sent.name)), bytes);
        await sent.done;
        const { name, readable } = await other.makeStream({ side: "read" });
        const writer = bridge.writeStream(name).getWriter();
        const written = writer.write(bytes).then(() => writer.close());
        assert.deepEqual(await bytesOf(readable), bytes);
        await written;
    });

    await suite.test("gets them of a task that answers with a stream", async (t) => {
        const { bridge, other } = await openClients(t, daemon, 2);
        await other.register("turn", ({ file }) => ({ file: stream(file) }), { description: { options: names } });
        const bytes = randomBytes(60_000);
        const result = await bridge.call("turn", { file: stream(bytes) }, { resultSchema: names });
        assert.deepEqual(await bytesOf(result.file), bytes);
    });

    await suite.test("gets the beginning of a reason that is too long", async (t) => {
        const { bridge, other } = await openClients(t, daemon, 2);
        for (const text of ["\"\n\u{1f600}".repeat(3_000), `\ud800${"x".repeat(3_000)}`]) {
            for (const reason of [new Error(text), new BridgeError("album.full", text)]) {
                const { name, writable } = await bridge.makeStream();
                await writable.abort(reason);
                await assert.rejects(bytesOf(other.readStream(name)), (error) => {
                    const { message } = error.data.error;
                    assert.ok(message.length > 100);
                    assert.ok(text.replace("\ud800", "\ufffd").startsWith(message.replace(/…$/, "")));
                    return true;
                });
            }
        }
    });
});

const unsent = new BridgeError("busy", "too much is waiting", { data: { started: false } });
const refused = new BridgeError("stream.closed", "the reader is gone");
const room = { room: 1_000 };

for (const { what, error, write, close, ends } of [
    { what: "a write that was not sent ends the stream", error: unsent, write: unsent, ends: 1 },
    { what: "a close that was not sent ends it too", error: unsent, write: room, close: unsent, ends: 1 },
    { what: "a write that the daemon refused has ended it", error: refused, write: refused, ends: 0 },
]) {
    test(what, async () => {
        const errors = [];
        const answers = { new: { stream: "stream:1", ...room }, write, close };
        const streams = new Streams(async (task, options) => {
            if (options.error) return errors.push(options.error);
            const answer = answers[task.slice("bridge.stream.".length)];
            if (answer instanceof BridgeError) throw answer;
            return answer;
        }, () => 1 << 20);
        const { writable } = await streams.make();
        const writer = writable.getWriter();
        writer.write("abc").then(() => writer.close()).catch(() => {});
        await assert.rejects(writer.closed, error);
        assert.deepEqual(errors.map(({ code }) => code), Array(ends).fill("busy"));
    });
}
