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

/**
 * A stand-in for `registerPlugin` of `@capacitor/core`, which is an npm package that is not needed otherwise: it looks
 * for a plugin in `PluginHeaders`, and calls each method by its `rtype`, as the package does. What it calls,
 * `nativePromise` and `nativeCallback`, is the real one of native-bridge.js.
 */
function registerPlugin(cap, plugin) {
    const header = cap.PluginHeaders?.find(({ name }) => name === plugin);
    const call = async (method, options, callback) => {
        const known = header?.methods.find(({ name }) => name === method);
        if (!known) throw new cap.Exception(`"${plugin}.${method}()" is not implemented`, "UNIMPLEMENTED");
        if (known.rtype === "promise") return cap.nativePromise(plugin, method, options);
        return cap.nativeCallback(plugin, method, options, callback);
    };
    const addListener = async (eventName, callback) => {
        const callbackId = await call("addListener", { eventName }, callback);
        return { remove: async () => void call("removeListener", { eventName, callbackId }, callback) };
    };
    return new Proxy({}, {
        get: (_, method) => (method === "addListener" ? addListener : (options) => call(method, options)),
    });
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

    test(`${platform}: registerPlugin finds the daemon's plugins, and their events`, { skip }, async (t) => {
        const daemon = await startDaemon(t);
        const { window, cap } = await openPage(t, daemon.socket, platform);
        vm.runInContext(generated(daemon.socket), window);
        const own = registerPlugin(cap, "Trestle");
        assert.deepEqual({ ...(await own.Echo({ a: 1 })) }, { a: 1 });
        await assert.rejects(own.Ecko({}), { code: "UNIMPLEMENTED" });
        await assert.rejects(registerPlugin(cap, "Camera").shoot({}), { code: "UNIMPLEMENTED" });

        const persistence = registerPlugin(cap, "persistence");
        assert.ok((await persistence.create({ table: "notes", record: { text: "milk" } })).key);
        const client = await openClient(t, daemon.socket);
        const publish = (data) => client.call("bridge.publish", { event: "persistence.tested", data });
        const heard = { first: [], second: [] };
        let next = promised();
        const first = await persistence.addListener("tested", ({ number }) => heard.first.push(number));
        await persistence.addListener("tested", ({ number }) => {
            heard.second.push(number);
            next.keep();
        });
        // What was sent before is done once this is answered.
        await own.Echo({});
        await publish({ number: 1 });
        await next;
        next = promised();
        await first.remove();
        await own.Echo({});
        await publish({ number: 2 });
        await next;
        assert.deepEqual(heard, { first: [1], second: [1, 2] });
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

test("plugins that a page has already stay beside the daemon's, which replace those of their name", {
    skip: withoutDaemon,
}, async (t) => {
    const daemon = await startDaemon(t);
    const text = generated(daemon.socket);
    const camera = { name: "Camera", methods: [{ name: "shoot", rtype: "promise" }] };
    const window = { Capacitor: { PluginHeaders: [camera, { name: "Trestle", methods: [] }] } };
    window.window = window;
    vm.createContext(window);
    // Once more changes nothing.
    for (let time = 0; time < 2; time += 1) {
        vm.runInContext(text, window);
        const headers = window.Capacitor.PluginHeaders;
        assert.equal(headers[0], camera);
        assert.equal(headers.filter(({ name }) => name === "Trestle").length, 1);
        assert.ok(headers.find(({ name }) => name === "Trestle").methods.some(({ name }) => name === "Echo"));
    }
    const bare = vm.createContext({ window: {} });
    vm.runInContext(text, bare);
    assert.ok(bare.window.Capacitor.PluginHeaders.some(({ name }) => name === "Trestle"));
});
