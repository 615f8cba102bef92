// Streams over a real daemon.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";

import { decodeBase64, decodeInLoop, encodeBase64, encodeInLoop } from "../src/base64.js";
import { BridgeError } from "../src/index.js";
import { openClients } from "./support/clients.mjs";
import { startDaemon, temporaryDirectory, withoutDaemon } from "./support/daemon.mjs";

/** Reads all bytes of a stream. */
async function bytesOf(readable) {
    const chunks = [];
    for await (const chunk of readable) chunks.push(chunk);
    return Buffer.concat(chunks);
}

function hash(bytes) {
    return createHash("sha256").update(bytes).digest("hex");
}

test("base 64 is what Node makes of the same bytes, and comes out as it went in", () => {
    for (const size of [0, 1, 2, 3, 1000, 100_000]) {
        const bytes = new Uint8Array(randomBytes(size));
        const text = Buffer.from(bytes).toString("base64");
        for (const encode of [encodeBase64, encodeInLoop]) assert.equal(encode(bytes), text);
        for (const decode of [decodeBase64, decodeInLoop]) assert.deepEqual(decode(text), bytes);
        const part = bytes.subarray(1);
        assert.equal(encodeBase64(part), Buffer.from(part).toString("base64"));
    }
});

test("streams", { skip: withoutDaemon }, async (suite) => {
    const daemon = await startDaemon(suite);

    /** Connects two clients of the daemon. */
    async function two(t) {
        const { bridge, other } = await openClients(t, daemon, 2);
        return [bridge, other];
    }

    await suite.test("megabytes go whole to a task and back from it", async (t) => {
        const [client, provider] = await two(t);
        await provider.register("turn", async ({ file }, call) => {
            const turned = await call.sendStream(call.readStream(file), { type: "image/png" });
            return turned.name;
        });
        const bytes = randomBytes(3_000_001);
        const { name, done } = await client.sendStream(new Blob([bytes]));
        const result = await client.call("turn", { file: name });
        assert.equal(hash(await bytesOf(client.readStream(result))), hash(bytes));
        await done;
    });

    await suite.test("a file of Node's is a source, and small chunks are as good as large ones", async (t) => {
        const [writer, reader] = await two(t);
        const path = join(temporaryDirectory(t), "file");
        const bytes = randomBytes(200_000);
        writeFileSync(path, bytes);
        const sent = await writer.sendStream(Readable.toWeb(createReadStream(path)));
        assert.equal(hash(await bytesOf(reader.readStream(sent.name))), hash(bytes));
        await sent.done;
        const chunks = Array.from({ length: 2_000 }, (_, index) => `${index},`);
        const small = await writer.sendStream(chunks);
        assert.equal((await bytesOf(reader.readStream(small.name))).toString(), chunks.join(""));
        await small.done;
    });

    await suite.test("a stream of no bytes is complete", async (t) => {
        const [writer, reader] = await two(t);
        const { name, done } = await writer.sendStream("");
        assert.equal((await bytesOf(reader.readStream(name))).length, 0);
        await done;
    });

    await suite.test("a stream that its reader made is written to", async (t) => {
        const [reader, writer] = await two(t);
        const { name, readable } = await reader.makeStream({ side: "read" });
        const target = writer.writeStream(name).getWriter();
        const written = target.write("hello").then(() => target.close());
        assert.equal((await bytesOf(readable)).toString(), "hello");
        await written;
    });

    await suite.test("a reader that stalls stalls its writer", async (t) => {
        const [writer, reader] = await two(t);
        const { name, writable } = await writer.makeStream();
        const target = writable.getWriter();
        let written = 0;
        const writing = (async () => {
            for (let count = 0; count < 40; count += 1) {
                await target.write(new Uint8Array(24_000));
                written += 1;
            }
            await target.close();
        })();
        const { streamBytes } = await reader.call("bridge.status");
        assert.ok(streamBytes <= 262_144);
        assert.ok(written < 40);
        assert.equal((await bytesOf(reader.readStream(name))).length, 960_000);
        await writing;
    });

    await suite.test("cancelling and aborting reach the other side with their reason", async (t) => {
        const [writer, reader] = await two(t);
        const { name, writable } = await writer.makeStream();
        await reader.readStream(name).cancel(new BridgeError("album.full", "the album is full"));
        const target = writable.getWriter();
        target.closed.catch(() => {});
        await assert.rejects((async () => {
            for (;;) await target.write("more");
        })(), (error) => error.code === "stream.closed" && error.data.error.code === "album.full");
        const second = await writer.makeStream();
        const readable = reader.readStream(second.name);
        await second.writable.abort(new Error("no paper"));
        await assert.rejects(bytesOf(readable), (error) => {
            assert.equal(error.code, "stream.closed");
            assert.match(error.data.error.message, /no paper/);
            return true;
        });
    });

    await suite.test("a source that fails, and a session that ends, leave no stream that looks complete", async (t) => {
        const [writer, reader] = await two(t);
        const failing = await writer.sendStream((function* fail() {
            yield "half";
            throw new Error("the disk is gone");
        })());
        await assert.rejects(bytesOf(reader.readStream(failing.name)), { code: "stream.closed" });
        await assert.rejects(failing.done, /the disk is gone/);
        const { name } = await writer.makeStream();
        const reading = bytesOf(reader.readStream(name));
        const rejected = assert.rejects(reading, { code: "stream.closed" });
        await reader.call("Echo");
        await writer.close();
        await rejected;
    });

    await suite.test("what is no bytes is refused, and a name that is none is not found", async (t) => {
        const [bridge] = await two(t);
        const { writable } = await bridge.makeStream();
        const target = writable.getWriter();
        target.closed.catch(() => {});
        await assert.rejects(target.write(5), { code: "options.invalid" });
        await assert.rejects(bytesOf(bridge.readStream("stream:x")), { code: "stream.not_found" });
    });
});
