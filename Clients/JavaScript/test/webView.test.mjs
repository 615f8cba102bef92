// The plain script in a page of a real web view (WebKitGTK), whose container forwards messages to a real daemon.

import assert from "node:assert/strict";
import { test } from "node:test";

import { buildClassicScript } from "../scripts/build-classic.mjs";
import { startDaemon } from "./support/daemon.mjs";
import { checkFindings, checkFindingsOfLoss, startPeer } from "./support/peer.mjs";
import { lastFirst, within } from "./support/processes.mjs";
import { prepareContainer, reasonWithoutWebView } from "./support/webView.mjs";

const page = new URL("./pages/webView.html", import.meta.url).href;

test("a page in WebKitGTK", { skip: reasonWithoutWebView() }, async (t) => {
    buildClassicScript();
    const ending = lastFirst(t);
    const origin = "https://page.example";
    // A page does not have the permissions of its user, and gets no calls of the user's programs without "serve".
    const rules = `[[rule]]\nallow = ["call", "register", "serve", "publish", "subscribe"]\norigin = "${origin}"\n`;
    const daemon = await startDaemon(ending, { rules });
    const startContainer = await prepareContainer(ending);
    let program;
    const peer = await startPeer(ending, daemon.socket, () => program.stdin.write("drop\n"));
    program = startContainer(daemon.socket, page, origin);
    const report = (what) => within(Promise.race([peer.reports.take(), program.failed]), what, () => program.output);

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
