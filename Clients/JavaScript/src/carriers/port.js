// The carrier for an object with `postMessage` and `message` events: a MessagePort, a Worker, the global scope of a
// worker, or another window. It posts one message of the protocol as text; it receives texts and values. The port is
// not closed with the bridge.

import { BridgeError, connectionLost } from "../errors.js";

/** Returns a carrier for a MessagePort, a Worker or a worker's global scope. In Node, `on` is used if needed. */
export function portCarrier(port) {
    return carrier({
        target: port,
        post: (text) => port.postMessage(text),
        accepts: () => true,
    });
}

/**
 * Returns a carrier for another window, such as the frame's parent.
 * @param origin the only origin that messages are sent to and accepted from. There is no default, because every origin
 *   can read a message that is sent to any origin.
 */
export function windowCarrier(window, origin) {
    if (typeof origin !== "string" || origin === "" || origin === "*") {
        throw new BridgeError("options.invalid", "a bridge to another window needs that window's origin");
    }
    return carrier({
        target: globalThis,
        post: (text) => window.postMessage(text, origin),
        accepts: (event) => event.source === window && event.origin === origin,
    });
}

function carrier({ target, post, accepts }) {
    let events;
    const listeners = {
        message(event) {
            // Emitters of Node's workers pass the value itself.
            const isEvent = typeof target.addEventListener === "function";
            if (isEvent && !accepts(event)) return;
            events.message(isEvent ? event.data : event);
        },
        messageerror() {
            events.problem(new BridgeError("message.invalid", "received a message that cannot be read"));
        },
        close() {
            finish("the port was closed");
        },
        exit() {
            finish("the worker ended");
        },
    };
    const [add, remove] = typeof target.addEventListener === "function"
        ? ["addEventListener", "removeEventListener"] : ["on", "off"];

    function finish(reason) {
        detach();
        events.closed(connectionLost(reason));
    }

    function detach() {
        for (const [name, listener] of Object.entries(listeners)) target[remove](name, listener);
    }

    return {
        canReopen: false,
        awaitsHello: false,
        open(listener) {
            events = listener;
            for (const [name, listening] of Object.entries(listeners)) target[add](name, listening);
            // A MessagePort delivers no messages until it is started.
            target.start?.();
            events.opened();
        },
        write(text) {
            post(text);
            return true;
        },
        end() {
            finish("it was closed here");
        },
        destroy: detach,
        keepAlive(keeps) {
            keeps ? target.ref?.() : target.unref?.();
        },
    };
}
