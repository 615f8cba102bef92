// Tests of the page in real engines, beside another page that consists of the logic only.

import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";

import { chromium, startPage } from "../../../Clients/JavaScript/test/support/chromium.mjs";
import { startDaemon, temporaryDirectory, withoutDaemon } from "../../../Clients/JavaScript/test/support/daemon.mjs";
import { lastFirst, testTimeoutMs } from "../../../Clients/JavaScript/test/support/processes.mjs";
import { prepareContainer, reasonWithoutWebView } from "../../../Clients/JavaScript/test/support/webView.mjs";
import { connect } from "../../../Clients/JavaScript/src/index.js";
import { Notes } from "../notes.js";
import { serve } from "../serve.mjs";
import { assert, show } from "./pages.mjs";

const scripts = { "/driver.js": "test/driver.js" };

/** Starts a daemon, and the page at an address of its own. In addition to the public tasks the test operates the page
   by a task. */
async function startPlace(ending) {
    const port = await freePort();
    const rules = `[[rule]]\nallow = ["call", "register"]\nnames = "page.do"\norigin = "http://127.0.0.1:${port}"\n`;
    const daemon = await startDaemon(ending, { rules });
    const server = await serve({ socket: daemon.socket, port, scripts });
    ending.after(() => server.close());
    return { daemon, server };
}

async function freePort() {
    const server = http.createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address();
    server.close();
    await once(server, "close");
    return port;
}

/** Opens a page of the same origin that consists of the logic only, with functions to operate the page in the engine.
   */
async function startOther(t, daemon, origin) {
    const bridge = await connect({ socket: daemon.socket, hello: { origin }, backoff: { first: 10, max: 50 } });
    t.after(() => bridge.close());
    const notes = new Notes(bridge);
    t.after(() => notes.close());
    notes.open();
    // A page that is still loading does not have the task yet, and a page that reconnects does not have it any more.
    const page = async (...action) => {
        const end = Date.now() + testTimeoutMs;
        for (;;) {
            try {
                return await bridge.call("page.do", action);
            } catch (error) {
                if (!["task.not_found", "provider.closed"].includes(error.code) || Date.now() > end) throw error;
                await new Promise((done) => setTimeout(done, 20));
            }
        }
    };
    /** Inspects the page until the condition holds. */
    const sees = async (isSo) => {
        const end = Date.now() + testTimeoutMs;
        for (;;) {
            const seen = await page("look");
            if (isSo(seen)) return seen;
            assert.ok(Date.now() < end, `${isSo}: ${JSON.stringify(seen)}`);
            await new Promise((done) => setTimeout(done, 10));
        }
    };
    return { bridge, notes, page, sees };
}

/** Tests the page in one engine. `lose` breaks the page's connection. */
async function tryPage(t, other, lose) {
    const { notes, page, sees } = other;
    const seesTexts = (...texts) => sees((seen) => JSON.stringify(seen.notes.map(({ text }) => text)) === JSON.stringify(texts));

    await t.test("what is written here is seen there, and the other way round", async () => {
        await sees(({ state, isEmpty }) => state === "live" && isEmpty);
        await page("add", "milk & <b>bread</b>");
        await show([other], ["milk & <b>bread</b>"]);
        const { buttonHeights } = await sees(({ isEmpty }) => !isEmpty);
        // Large enough for a finger, and not stretched to the height of the text beside.
        assert.ok(buttonHeights.length >= 2 && buttonHeights.every((height) => height >= 40 && height <= 48), `${buttonHeights}`);
        await notes.add("of the other");
        await seesTexts("milk & <b>bread</b>", "of the other");
        await page("type", 0, "oat milk");
        await page("pause", 0);
        await show([other], ["oat milk", "of the other"]);
        await page("press", 1, "Delete");
        await show([other], ["oat milk"]);
        await seesTexts("oat milk");
    });

    await t.test("what is being typed is not overwritten; of two changes the person chooses", async () => {
        for (const label of ["Keep mine", "Take theirs"]) {
            const [mine, theirs] = [`${label}: mine`, `${label}: theirs`];
            const [note] = notes.list();
            await page("type", 0, mine);
            await notes.edit(note.key, theirs, note.version);
            await page("leave", 0);
            const seen = await sees((now) => now.notes[0].conflict !== undefined);
            assert.deepEqual([seen.notes[0].text, seen.notes[0].isUnsaved], [mine, true]);
            assert.ok(seen.notes[0].conflict.endsWith(`There it says: ${theirs}`));
            await page("press", 0, label);
            const chosen = label === "Keep mine" ? mine : theirs;
            await seesTexts(chosen);
            await show([other], [chosen]);
        }
    });

    await t.test("a note that was deleted there, while it was changed here, can be kept", async () => {
        const [note] = notes.list();
        await page("type", 0, "kept");
        await notes.remove(note.key, note.version);
        await page("leave", 0);
        await sees((now) => now.notes[0]?.conflict);
        await page("press", 0, "Keep mine");
        await show([other], ["kept"]);
        await sees((now) => !now.notes[0].isUnsaved);
    });

    await t.test("after its connection was lost it has what was changed meanwhile", async () => {
        await lose(async () => {
            const [note] = notes.list();
            await notes.edit(note.key, "changed meanwhile", note.version);
        });
        await sees(({ state }) => state === "live");
        await seesTexts("changed meanwhile");
        await page("add", "again");
        await show([other], ["changed meanwhile", "again"]);
    });
}

test("in Chromium, over serve.mjs", { skip: withoutDaemon || (chromium ? false : "there is no Chromium") }, async (t) => {
    const ending = lastFirst(t);
    const { daemon, server } = await startPlace(ending);
    const other = await startOther(ending, daemon, server.address);
    const icon = await fetch(new URL("/icon.svg", server.url));
    assert.deepEqual([icon.status, icon.headers.get("content-type")], [200, "image/svg+xml; charset=utf-8"]);
    await startPage(ending, { home: temporaryDirectory(ending), url: server.url, binding: "unused", onText: () => {} });
    await tryPage(t, other, async (change) => {
        await change();
        await daemon.stop("SIGKILL");
        await daemon.start();
    });
});

test("in WebKitGTK, in a container", { skip: reasonWithoutWebView() }, async (t) => {
    const ending = lastFirst(t);
    const { daemon, server } = await startPlace(ending);
    const other = await startOther(ending, daemon, server.address);
    const startContainer = await prepareContainer(ending);
    const container = startContainer(daemon.socket, `${server.address}/`, server.address);
    await tryPage(t, other, async (change) => {
        container.stdin.write("drop\n");
        await change();
    });
});

test("serve.mjs connects nobody without the token to the daemon, and serves nothing but the page", { skip: withoutDaemon },
    async (t) => {
        const ending = lastFirst(t);
        const daemon = await startDaemon(ending);
        const { address, url, close } = await serve({ socket: daemon.socket, port: 0 });
        ending.after(close);
        const token = new URL(url).hash.slice(1);
        const ask = async (path, { headers = {}, method = "GET" } = {}) => {
            const request = http.request(`${address}`, { path, method, headers }).end();
            const [response] = await once(request, "response");
            response.destroy();
            return response.statusCode;
        };
        assert.equal(await ask("/"), 200);
        assert.equal(await ask(`/events?token=${token}`), 200);
        for (const path of ["/events", "/events?token=", `/events?token=${token}x`]) assert.equal(await ask(path), 403);
        assert.equal(await ask("/send?connection=x", { method: "POST" }), 403);
        const authorization = `Bearer ${token}`;
        assert.equal(await ask("/send?connection=x", { method: "POST", headers: { authorization } }), 410);
        assert.equal(await ask(`/events?token=${token}`, { headers: { host: "evil.example" } }), 403);
        for (const path of ["/serve.mjs", "/../../LICENSE", "/..%2f..%2fLICENSE", "/test/driver.js"]) {
            assert.equal(await ask(path), 404, path);
        }
        assert.equal(await ask("//"), 400);
        await daemon.stop();
        assert.equal(await ask(`/events?token=${token}`), 503);
    });
