// The one bridge of a page, under the global name by which its container calls it.

import { Bridge } from "./bridge.js";

/** The page's bridge; made, where the page has not loaded the library already. */
export function sharedBridge() {
    // Two bridges would number their calls alike, and the container would reach only one of them.
    if (globalThis.WebBridge?.container === undefined) globalThis.WebBridge = new Bridge();
    return globalThis.WebBridge;
}
