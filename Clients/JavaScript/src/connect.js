// Opening a bridge and knowing that it is open.

import { Bridge } from "./bridge.js";
import { webViewHandler } from "./carriers/webView.js";
import { sharedBridge } from "./shared.js";

/**
 * Opens a bridge; rejects where the first attempt fails, and leaves nothing behind then. With `waitForDaemon` further
 * attempts follow while the reason is transient. In a web view, where no carrier is named, it is the page's bridge: the
 * container knows only that one.
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
