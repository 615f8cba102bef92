// The shared bridge of a page, under the global name that its container uses.

import { Bridge } from "./bridge.js";

/** Returns the page's bridge. Makes it unless a copy of the library has already made one. */
export function sharedBridge() {
    // Two bridges would use the same call ids, and the container would reach only one of them.
    if (globalThis.WebBridge?.container === undefined) globalThis.WebBridge = new Bridge();
    return globalThis.WebBridge;
}
