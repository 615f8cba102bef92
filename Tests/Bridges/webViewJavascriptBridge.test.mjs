// The JavaScript of WebViewJavascriptBridge, as it has been since 2016.

import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";

import { openClient, openLine, promised, startDaemon, suiteFile, withoutDaemon, withoutSuite } from "./support.mjs";

const source = suiteFile("wvjb/WebViewJavascriptBridge/WebViewJavascriptBridge_JS.m");
const skip = withoutDaemon || withoutSuite(source, "wvjb");

/** The script, which stands in its file as the argument of a macro. */
function script() {
    const [, after] = source.split("// BEGIN preprocessorJSCode");
    const [body] = after.split("// END preprocessorJSCode");
    return body.slice(body.indexOf("__wvjb_js_func__(") + "__wvjb_js_func__(".length, body.lastIndexOf(");"));
}

/** A page with the bridge in it, whose messages go to the daemon as the page's app would fetch them. */
async function openPage(t, socket) {
    const iframe = { style: {} };
    const window = vm.createContext({ WVJBCallbacks: [], console, setTimeout });
    window.window = window;
    const page = { bridge: undefined };
    const line = await openLine(t, socket, (message) =>
        window.WebViewJavascriptBridge._handleMessageFromObjC(JSON.stringify(message)),
    );
    // Each time the page points its frame at the queue, the app fetches what waits in it.
    Object.defineProperty(iframe, "src", {
        set() {
            setImmediate(() => {
                const queue = window.WebViewJavascriptBridge._fetchQueue();
                if (queue !== "[]") line.send(queue);
            });
        },
    });
    window.document = { createElement: () => iframe, documentElement: { appendChild() {} } };
    const ready = new Promise((done) => window.WVJBCallbacks.push(done));
    vm.runInContext(script(), window);
    page.bridge = await ready;
    page.call = (name, ...data) => new Promise((done) => page.bridge.callHandler(name, ...data, done));
    return page;
}

test("a page calls tasks, and gets their results and errors", { skip }, async (t) => {
    const daemon = await startDaemon(t);
    const page = await openPage(t, daemon.socket);
    assert.deepEqual({ ...(await page.call("Echo", { hello: "world" })) }, { hello: "world" });
    // Without data the bridge sends null.
    assert.ok((await page.call("bridge.ping")) !== undefined);
    const { error } = await page.call("no.such", {});
    assert.equal(error.code, "task.not_found");
    const several = await Promise.all([1, 2, 3].map((number) => page.call("Echo", { number })));
    assert.deepEqual(
        several.map(({ number }) => number),
        [1, 2, 3],
    );
});

test("a page's handlers are tasks that others call", { skip }, async (t) => {
    const daemon = await startDaemon(t);
    const page = await openPage(t, daemon.socket);
    page.bridge.registerHandler("page.color", (data, respond) => respond({ color: "red", for: data.what }));
    page.bridge.registerHandler("page.nothing", (data, respond) => respond());
    await page.call("bridge.register", { tasks: ["page.color", "page.nothing"] });
    const client = await openClient(t, daemon.socket);
    const answer = await client.call("page.color", { what: "door" });
    assert.deepEqual(answer.result, { color: "red", for: "door" });
    assert.equal((await client.call("page.nothing")).result, null);
});

test("a page's handlers hear events", { skip }, async (t) => {
    const daemon = await startDaemon(t);
    const page = await openPage(t, daemon.socket);
    const heard = promised();
    page.bridge.registerHandler("door.opened", heard.keep);
    await page.call("bridge.subscribe", { events: ["door.opened"] });
    const client = await openClient(t, daemon.socket);
    await client.call("bridge.publish", { event: "door.opened", data: { floor: 2 } });
    assert.deepEqual({ ...(await heard) }, { floor: 2 });
});
