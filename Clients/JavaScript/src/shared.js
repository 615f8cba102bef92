// The one bridge of a page, under the global name by which its container calls it.

import { Bridge } from "./bridge.js";

/** The page's bridge; made, where the page has not loaded the library already. */
export function sharedBridge() {
    // Two bridges would number their calls alike, and only one of them would hear the container.
    if (typeof globalThis.WebBridge?.receive !== "function") globalThis.WebBridge = new Bridge();
    return globalThis.WebBridge;
}
