// Selects the carrier of a bridge: the one that its options name, else the one that the environment offers.

import { BridgeError, unreachable } from "../errors.js";
import { portCarrier, windowCarrier } from "./port.js";
import { webViewCarrier, webViewHandler } from "./webView.js";

/** Makes socket carriers. Set only by the ES module entry point. */
let socketCarriers;

/** Adds Unix sockets. This file must not import modules that browsers do not have. */
export function offerSockets(makeCarrier) {
    socketCarriers = makeCarrier;
}

export function chooseCarrier(options) {
    const { handler, port, window, origin, socket } = options;
    if (handler) return webViewCarrier(handler);
    if (port) return portCarrier(port);
    if (window) return windowCarrier(window, origin);
    if (socket !== undefined) return socketCarrier(options);
    const found = webViewHandler();
    if (found) return webViewCarrier(found);
    if (isNode()) return socketCarrier(options);
    if (isWorker()) return portCarrier(globalThis);
    throw unreachable("there is no web view's container, no Unix socket and no port here; name one in the options");
}

function socketCarrier(options) {
    if (!socketCarriers) throw new BridgeError("daemon.unreachable", "there are no Unix sockets here");
    return socketCarriers(options);
}

export function isNode() {
    return typeof globalThis.process?.versions?.node === "string";
}

function isWorker() {
    const Scope = globalThis.WorkerGlobalScope;
    return typeof Scope === "function" && globalThis instanceof Scope && typeof globalThis.postMessage === "function";
}
