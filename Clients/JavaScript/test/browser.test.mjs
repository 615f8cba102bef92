// Pages, frames and workers of a real browser, Chromium. Their messages are sent through objects with postMessage.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import net from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { buildClassicScript } from "../scripts/build-classic.mjs";
import { LineSplitter } from "../src/carriers/lineSplitter.js";
import { chromium, startPage } from "./support/chromium.mjs";
import { startDaemon, temporaryDirectory, withoutDaemon } from "./support/daemon.mjs";
import { checkFindings, startPeer } from "./support/peer.mjs";
import { lastFirst, within } from "./support/processes.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const reasonToSkip = withoutDaemon || (chromium ? false : "there is no Chromium");
const carriers = {
    port: "a page over a MessageChannel",
    handler: "a page over an object with postMessage",
    worker: "a worker over the page that started it",
    moduleWorker: "a worker that loads the library as a module",
    frame: "a frame of another origin over its parent",
};

/** Serves the files of this package, because workers and modules do not load from files. Resolves to its address. */
async function startServer(t) {
    const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8" };
    const server = createServer(async ({ url }, response) => {
        const { pathname } = new URL(url, "http://localhost");
        const type = types[/\.\w+$/.exec(pathname)?.[0]];
        const text = type && await readFile(join(root, pathname)).catch(() => undefined);
        response.writeHead(text ? 200 : 404, {
            "content-type": type ?? "text/plain",
            // A worker made from a Blob may have an opaque origin.
            "access-control-allow-origin": "*",
        });
        response.end(text);
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    t.after(() => {
        server.close();
        server.closeAllConnections?.();
    });
    return `http://127.0.0.1:${server.address().port}`;
}

test("in Chromium", { skip: reasonToSkip }, async (t) => {
    buildClassicScript();
    const ending = lastFirst(t);
    const daemon = await startDaemon(ending);
    const address = await startServer(ending);
    const peer = await startPeer(ending, daemon.socket);
    const connections = new Map();
    let page;

    /** Returns the connection of a page to the daemon. It is made with the page's first message. */
    const connection = (name) => {
        if (connections.has(name)) return connections.get(name);
        const socket = net.connect({ path: daemon.socket });
        const lines = new LineSplitter(64 << 20, (line) => {
            page.evaluate(`fromDaemon(${JSON.stringify(name)}, ${JSON.stringify(line)})`);
        }, () => {});
        socket.on("data", (piece) => lines.push(piece));
        ending.after(() => socket.destroy());
        connections.set(name, socket);
        return socket;
    };
    page = await startPage(ending, {
        home: temporaryDirectory(ending), url: `${address}/test/pages/carriers.html`, binding: "toDaemon",
        onText: (text) => {
            const [name, message] = JSON.parse(text);
            connection(name).write(`${message}\n`);
        },
    });

    for (const [name, title] of Object.entries(carriers)) {
        await t.test(`${title}: calls, provides a task, listens`, async () => {
            page.evaluate(`begin(${JSON.stringify(name)})`);
            peer.cancelled = 0;
            checkFindings(await within(Promise.race([peer.reports.take(), page.ended]), "what it found", page.report));
            assert.equal(peer.cancelled, 2);
            // The next page provides tasks with the same names.
            const socket = connections.get(name);
            socket.end();
            if (!socket.closed) await within(once(socket, "close"), "the end of its session");
        });
    }
});
