// Capacitor's own JavaScript, in its forms for Android and for iOS.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import vm from "node:vm";

import { daemonFolder, openClient, openLine, promised, startDaemon, suiteFile, withoutDaemon, withoutSuite } from "./support.mjs";

const platforms = {
    android: suiteFile("capacitor/android/capacitor/src/main/assets/native-bridge.js"),
    ios: suiteFile("capacitor/ios/Capacitor/Capacitor/assets/native-bridge.js"),
};

/** What `trestle generate` writes for the daemon. */
function generated(socket) {
    const command = join(daemonFolder(), "trestle");
    return execFileSync(command, ["generate", "--language", "capacitor", "--socket", socket], { encoding: "utf8" });
}

/** A page with the bridge in it, whose messages go to the daemon as they are. */
async function openPage(t, socket, platform) {
    const sent = [];
    const line = await openLine(t, socket, (message) => {
        if (platform === "android") window.androidBridge.onmessage({ data: JSON.stringify(message) });
        else window.Capacitor.fromNative(message);
    });
    const post = (text) => {
        sent.push(JSON.parse(text));
        line.send(text);
    };
    const silent = Object.fromEntries(
        ["debug", "error", "info", "log", "trace", "warn"].map((name) => [name, () => {}]),
    );
    class Document {}
    Object.defineProperty(Document.prototype, "cookie", { get: () => "", configurable: true });
    class XMLHttpRequest {}
    for (const name of ["abort", "getAllResponseHeaders", "getResponseHeader", "open", "send", "setRequestHeader"]) {
        XMLHttpRequest.prototype[name] = () => {};
    }
    const window = {
        console: { ...silent },
        document: Object.assign(new Document(), { addEventListener() {} }),
        Capacitor: { DEBUG: true },
        Document,
        HTMLDocument: Document,
        XMLHttpRequest,
        fetch() {},
        prompt: () => "false",
    };
    if (platform === "android") window.androidBridge = { postMessage: post };
    else {
        const bridge = { postMessage: (message) => post(JSON.stringify(message)) };
        window.webkit = { messageHandlers: { bridge } };
    }
    window.window = window;
    vm.runInNewContext(platforms[platform], vm.createContext(window));
    return { window, cap: window.Capacitor, sent };
}

for (const platform of Object.keys(platforms)) {
    const skip = withoutDaemon || withoutSuite(platforms[platform], "capacitor");

    test(`${platform}: a page calls tasks by plugin and method, and those without a dot by Trestle`, { skip }, async (t) => {
        const daemon = await startDaemon(t);
        const { cap } = await openPage(t, daemon.socket, platform);
        assert.equal(cap.getPlatform(), platform);
        assert.deepEqual({ ...(await cap.nativePromise("Trestle", "Echo", { a: 1 })) }, { a: 1 });
        assert.ok((await cap.nativePromise("bridge", "ping", {})) !== undefined);
    });

    test(`${platform}: the plugins of trestle generate are those that a page can call`, { skip }, async (t) => {
        const daemon = await startDaemon(t);
        const { window, cap } = await openPage(t, daemon.socket, platform);
        vm.runInContext(generated(daemon.socket), window);
        const plugin = cap.PluginHeaders.find(({ name }) => name === "Trestle");
        const method = plugin.methods.find(({ name }) => name === "Echo");
        assert.equal(method.rtype, "promise");
        assert.deepEqual({ ...(await cap.nativePromise(plugin.name, method.name, { a: 1 })) }, { a: 1 });
        const names = cap.PluginHeaders.map(({ name }) => name);
        assert.ok(names.includes("persistence") && names.includes("bridge"), names.join());
        for (const { methods } of cap.PluginHeaders) {
            assert.ok(methods.some(({ name, rtype }) => name === "addListener" && rtype === "callback"));
        }
    });

    test(`${platform}: a method that there is not is UNIMPLEMENTED`, { skip }, async (t) => {
        const daemon = await startDaemon(t);
        const { cap } = await openPage(t, daemon.socket, platform);
        await assert.rejects(cap.nativePromise("Camera", "shoot", {}), (error) => {
            assert.ok(error instanceof cap.Exception);
            assert.equal(error.code, "UNIMPLEMENTED");
            assert.equal(error.data.code, "task.not_found");
            return true;
        });
    });

    test(`${platform}: a page's listeners hear events until they are removed, and nothing else`, { skip }, async (t) => {
        const daemon = await startDaemon(t);
        const { cap } = await openPage(t, daemon.socket, platform);
        const client = await openClient(t, daemon.socket);
        const publish = (data) => client.call("bridge.publish", { event: "App.resume", data });
        const heard = { first: [], second: [] };
        let next = promised();
        const first = cap.addListener("App", "resume", (...values) => heard.first.push(values));
        cap.addListener("App", "resume", (...values) => {
            heard.second.push(values);
            next.keep();
        });
        // What was sent before is done once this is answered.
        await cap.nativePromise("bridge", "ping", {});
        await publish({ number: 1 });
        await next;
        next = promised();
        await first.remove();
        await cap.nativePromise("bridge", "ping", {});
        await publish({ number: 2 });
        await next;
        const numbers = (values) => values.map((value) => value.map((data) => data.number));
        assert.deepEqual(numbers(heard.first), [[1]]);
        assert.deepEqual(numbers(heard.second), [[1], [2]]);
    });

    test(`${platform}: an error that nobody caught is a call of js.error`, { skip }, async (t) => {
        const daemon = await startDaemon(t);
        const client = await openClient(t, daemon.socket);
        const reported = promised();
        await client.provide("js.error", (error) => reported.keep(error));
        const { window } = await openPage(t, daemon.socket, platform);
        window.onerror("x is not defined", "https://localhost/app.js", 3, 7, new Error("x is not defined"));
        const error = await reported;
        assert.equal(error.message, "x is not defined");
        assert.equal(error.line, 3);
    });

    test(`${platform}: what a page writes to its console costs no answer`, { skip }, async (t) => {
        const daemon = await startDaemon(t);
        const { window, cap, sent } = await openPage(t, daemon.socket, platform);
        window.console.log("hello", { a: 1 });
        await cap.nativePromise("bridge", "ping", {});
        const lines = sent.filter(({ pluginId }) => pluginId === "Console");
        assert.equal(lines.length, platform === "ios" ? 1 : 0);
    });
}
