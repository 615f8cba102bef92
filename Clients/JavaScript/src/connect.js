// Makes a bridge and waits until it is open.

import { Bridge } from "./bridge.js";
import { webViewHandler } from "./carriers/webView.js";
import { sharedBridge } from "./shared.js";

/**
 * Opens a bridge. Rejects if the first attempt fails, and closes the bridge in that case. With `waitForDaemon` further
 * attempts follow while the error is transient and the bridge is not closed. In a web view, if the options name no
 * carrier, it returns the page's bridge, because the container calls only that one.
 */
export async function connect(options = {}) {
    const isNamed = ["handler", "port", "window", "socket", "makeCarrier"].some((name) => options[name] !== undefined);
    const bridge = !isNamed && webViewHandler() ? sharedBridge() : new Bridge(options);
    for (;;) {
        try {
            await bridge.open();
            return bridge;
        } catch (error) {
            if (options.waitForDaemon && error.transient && bridge.state !== "closed") continue;
            await bridge.close();
            throw error;
        }
    }
}
