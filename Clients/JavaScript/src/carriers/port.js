// The carrier of anything that has `postMessage` and `message` events: a MessagePort, a Worker, the inside of a worker,
// another window. Each message is the text of one message; values are taken as well. The port stays its owner's: it is
// not closed with the bridge.

import { BridgeError, connectionLost } from "../errors.js";

/** A MessagePort, a Worker, a worker's own scope; in Node also what has `on` in place of `addEventListener`. */
export function portCarrier(port) {
    return carrier({
        target: port,
        post: (text) => port.postMessage(text),
        accepts: () => true,
    });
}

/**
 * Another window, such as the frame's parent.
 * @param origin whom messages are for, and from whom they are taken; there is no default, because a message sent to any
 *   origin can be read by any
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
            // Emitters of Node's workers hand over the value itself.
            const isEvent = typeof target.addEventListener === "function";
            if (isEvent && !accepts(event)) return;
            events.message(isEvent ? event.data : event);
        },
        messageerror() {
            events.problem(new BridgeError("message.invalid", "a message came that cannot be read"));
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
            // A MessagePort is silent until it is started.
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
