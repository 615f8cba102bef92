// The plain script in a page of a real web view, WebKitGTK's, whose container carries messages to a real daemon.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { startDaemon, temporaryDirectory, withoutDaemon } from "./support/daemon.mjs";
import { checkFindings, checkFindingsOfLoss, startPeer } from "./support/peer.mjs";
import { foundCommand, lastFirst, startProgram, within } from "./support/processes.mjs";

const container = fileURLToPath(new URL("./pages/container.py", import.meta.url));
const page = new URL("./pages/webView.html", import.meta.url).href;
const importing = "import gi; gi.require_version('WebKit2', '4.1'); from gi.repository import WebKit2";
// The first on the PATH may be one that has not got Debian's modules.
const python = foundCommand(["python3", "/usr/bin/python3"], ["-c", importing]);

function reasonToSkip() {
    if (withoutDaemon) return withoutDaemon;
    if (!python) return "there is no WebKitGTK 4.1 for Python (gir1.2-webkit2-4.1, python3-gi)";
    // It has no flag that only asks.
    return foundCommand(["sh"], ["-c", "command -v Xvfb"]) ? false : "there is no Xvfb";
}

/** A screen that nobody sees; resolves to its name. It chooses a number that is free. */
async function startScreen(t, environment) {
    const flags = ["-displayfd", "3", "-screen", "0", "640x480x24", "-nolisten", "tcp"];
    const screen = startProgram(t, "Xvfb", flags, {
        env: environment, stdio: ["ignore", "ignore", "pipe", "pipe"],
        // It removes its lock and its socket only then.
        ask: (child) => child.kill("SIGTERM"),
    });
    const [number] = await within(once(screen.stdio[3].setEncoding("utf8"), "data"), "Xvfb", () => screen.output);
    return `:${number.trim()}`;
}

test("a page in WebKitGTK", { skip: reasonToSkip() }, async (t) => {
    const ending = lastFirst(t);
    const daemon = await startDaemon(ending);
    const home = temporaryDirectory(ending);
    const environment = {
        ...process.env, HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home, XDG_CACHE_HOME: home, XDG_DATA_HOME: home,
        XDG_CONFIG_HOME: home, GDK_BACKEND: "x11", GSETTINGS_BACKEND: "memory", GIO_USE_VFS: "local", NO_AT_BRIDGE: "1",
        LIBGL_ALWAYS_SOFTWARE: "1",
    };
    const screen = await startScreen(ending, environment);
    const origin = "https://page.example";
    let program;
    const peer = await startPeer(ending, daemon.socket, () => program.stdin.write("drop\n"));
    program = startProgram(ending, python, [container, daemon.socket, page, origin], {
        env: { ...environment, DISPLAY: screen }, stdio: "pipe",
    });
    const failed = program.ended.then((code) => Promise.reject(new Error(`it ended: ${code}. ${program.output}`)));
    failed.catch(() => {});
    const report = (what) => within(Promise.race([peer.reports.take(), failed]), what, () => program.output);

    await t.test("calls, provides a task, listens", async () => {
        checkFindings(await report("what the page found"), { origin });
        assert.equal(peer.cancelled, 2);
    });
    await t.test("goes on over its container's next connection", async () => {
        checkFindingsOfLoss(await report("what the page found after the loss"), { origin });
    });
    await t.test("is closed by closeWeb", async () => {
        assert.equal(await within(program.ended, "the container's end", () => program.output), 0);
        assert.match(program.output, /^state: closed$/m);
    });
});
