// The shim: the bridge as a page sees it, in the page's own world and before its scripts. The container replaces the
// comment below with the dialects of the profile.
"use strict";
(() => {
    const port = document.createTextNode("");
    const announce = port.dispatchEvent.bind(port);
    const departure = new Event("out");
    // The message handlers of the dialects: each returns true if the message is its own.
    const takers = [];
    // The callbacks of the shim's own calls, by their ids.
    const waiting = new Map();
    const prefix = "trestle-shim:";
    let lastId = 0;

    const shim = {
        takers,
        // The handlers of the container's own lines, `!NAME JSON`, by name.
        notices: {},
        /** Sends a message, an object or a line. */
        send(value) {
            port.data = typeof value === "string" ? value : JSON.stringify(value);
            announce(departure);
        },
        /** Sends a call and sets its id in the message; `callback(result, error)` receives the outcome. */
        call(message, callback) {
            lastId += 1;
            const id = prefix + lastId;
            waiting.set(id, callback);
            // No copy: a copy for each call made calls a tenth slower.
            if (message.jsonrpc) message.id = id;
            else message.callbackId = id;
            shim.send(message);
            return id;
        },
        /** Ends such a call with an error, here and at the daemon; the daemon's answer is dropped. */
        cancel(id, error) {
            const callback = waiting.get(id);
            if (!callback) return;
            waiting.set(id, () => {});
            shim.send({ cancel: id });
            callback(undefined, error);
        },
        /** Returns an object whose `postMessage` calls a task and returns a promise; `end` disables it. */
        handler(task) {
            const calls = new Set();
            let isRemoved = false;
            const post = (value, done, failed) => {
                if (isRemoved) return failed({ code: "handler.not_found", message: "the handler has been removed" });
                const id = shim.call({ task, options: value ?? {} }, (result, error) => {
                    calls.delete(id);
                    if (error) failed(error);
                    else done(result);
                });
                calls.add(id);
            };
            const postMessage = (value) => {
                const ended = new Promise((done, failed) => {
                    post(value, done, (error) => failed(Object.assign(new Error(error.message), error)));
                });
                // Most pages ignore the promise.
                ended.catch(() => {});
                return ended;
            };
            const end = () => {
                isRemoved = true;
                const error = { code: "call.cancelled", message: "the handler was removed" };
                for (const id of [...calls]) shim.cancel(id, error);
            };
            return { handler: { postMessage }, end };
        },
        /** Returns the page's function of a name such as `app.onScan`; undefined if there is none. */
        named(name) {
            if (typeof name !== "string" || name === "") return undefined;
            let owner;
            let value = globalThis;
            for (const part of name.split(".")) {
                owner = value;
                value = owner?.[part];
            }
            return typeof value === "function" ? value.bind(owner) : undefined;
        },
        /** Defines a global value for the page, unless the name is already in use. */
        define(name, value) {
            if (name in globalThis) return;
            Object.defineProperty(globalThis, name, { value, configurable: true, writable: true, enumerable: true });
        },
    };

    /** Ends a call of the shim's own. Returns whether the message belongs to one. */
    function end(message) {
        const id = message.callbackId ?? message.id;
        const callback = waiting.get(id);
        if (!callback || "progress" in message) return callback !== undefined;
        waiting.delete(id);
        const { error } = message;
        // In JSON-RPC the daemon's own code is in the error's data.
        callback(message.result, message.jsonrpc && error ? { message: error.message, ...error.data } : error);
        return true;
    }

    function lose() {
        const error = { code: "session.closed", message: "the document's session was lost" };
        const lost = [...waiting.values()];
        waiting.clear();
        for (const callback of lost) callback(undefined, error);
        globalThis.WebBridge?.container?.sessionLost?.();
    }

    shim.notices.lost = lose;

    function receive(line) {
        if (line === "") return;
        if (line.startsWith("!")) {
            const [name] = line.slice(1).split(" ", 1);
            return shim.notices[name]?.(JSON.parse(line.slice(name.length + 1) || "null"));
        }
        if (waiting.size === 0 && takers.length === 0) return void globalThis.WebBridge?.container?.receive(line);
        const message = JSON.parse(line);
        if (end(message) || takers.some((take) => take(message))) return;
        globalThis.WebBridge?.container?.receive(line);
    }

    port.addEventListener("in", () => {
        const { data } = port;
        // No split(): an answer usually arrives alone.
        for (let start = 0, end; start < data.length; start = end + 1) {
            const found = data.indexOf("\n", start);
            end = found < 0 ? data.length : found;
            try {
                receive(data.slice(start, end));
            } catch (error) {
                reportError(error);
            }
        }
    });

    const webkit = globalThis.webkit ?? {};
    webkit.messageHandlers ??= {};
    webkit.messageHandlers.bridge ??= { postMessage: shim.send };
    // The engine's own object cannot be redefined; it exists if the page's world has handlers of the engine.
    if (!globalThis.webkit) {
        Object.defineProperty(globalThis, "webkit", { value: webkit, configurable: true, writable: true });
    }

    /* dialects */

    const offer = () => document.dispatchEvent(new MouseEvent("trestle-shim", { relatedTarget: port }));
    document.addEventListener("trestle-porter", offer, { once: true });
    offer();
})();
