// The code of the README works unchanged.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";

import { classicScript } from "../scripts/build-classic.mjs";
import { startDaemon, temporaryDirectory, withoutDaemon } from "./support/daemon.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

/** Returns the code blocks of one language, with the heading above each. */
function blocks(language) {
    const found = [];
    let heading = "";
    for (const [, title, kind, code] of readme.matchAll(/^#+ (.*)$|^```(\w+)\n([^]*?)^```$/gm)) {
        if (title) heading = title;
        else if (kind === language) found.push({ heading, code });
    }
    return found;
}

const programs = blocks("js").filter(({ code }) => code.includes("import "));

/** The output of each program. */
const outputs = {
    "trestle-bridge": "{ hello: 'world' }\n",
    "Calls": "1.5\n2\n",
    "Progress, deadlines, aborting": "1\n2\n3\ncounted\n",
    "Providing tasks": "local\n4006381333931\n",
    "Streams": "17 bytes\nhello from a file\n",
    "Events": "door.opened { floor: 2 }\n1\n",
};

test("programs of the README", { skip: withoutDaemon }, async (suite) => {
    assert.deepEqual(programs.map(({ heading }) => heading), Object.keys(outputs));
    for (const { heading, code } of programs) {
        await suite.test(`“${heading}” runs to its end and writes what it should`, async (t) => {
            const daemon = await startDaemon(t);
            const folder = temporaryDirectory(t);
            // Like npm, which links a package from a folder.
            mkdirSync(join(folder, "node_modules"));
            symlinkSync(root, join(folder, "node_modules", "trestle-bridge"));
            writeFileSync(join(folder, "program.mjs"), code);
            const [error, output, complaints] = await new Promise((done) => {
                const environment = { ...process.env, TRESTLE_SOCKET: daemon.socket, NO_COLOR: "1" };
                const settings = { cwd: folder, env: environment, timeout: 120_000 };
                execFile(process.execPath, ["program.mjs"], settings, (...values) => done(values));
            });
            assert.deepEqual([error?.code ?? 0, complaints, output], [0, "", outputs[heading]]);
        });
    }
});

test("the page of the README calls through its container, which answers as the README says", async () => {
    const [{ code }] = blocks("html");
    const sent = [];
    const heard = [];
    const page = createContext({
        AbortController, TextEncoder, performance, setTimeout, clearTimeout,
        console: { log: (value) => heard.push(value), error: (value) => heard.push(value) },
        webkit: { messageHandlers: { bridge: { postMessage: (text) => void sent.push(JSON.parse(text)) } } },
    });
    runInContext(classicScript(), page);
    for (const [, script] of code.matchAll(/<script>([^]*?)<\/script>/g)) runInContext(script, page);
    const { callbackId, options } = sent.find(({ task }) => task === "Alert");
    page.WebBridge.container.receive(JSON.stringify({ callbackId, result: { ...options, button: "Fine", index: 0 } }));
    const container = blocks("js").find(({ code: text }) => !text.includes("import ")).code;
    runInContext(container, page);
    await new Promise(setImmediate);
    assert.deepEqual(heard, ["Fine"]);
});
