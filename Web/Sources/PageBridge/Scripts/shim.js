// The shim: what a page finds of the bridge, in the page's own world and before its scripts.
"use strict";
(() => {
    const port = document.createElement("i");
    const send = port.dispatchEvent.bind(port);
    const Message = InputEvent;

    function receive(line) {
        const container = globalThis.WebBridge?.container;
        if (line === "!lost") container?.sessionLost?.();
        else if (line !== "") container?.receive(line);
    }

    port.addEventListener("in", (event) => {
        for (const line of event.data.split("\n")) {
            try {
                receive(line);
            } catch (error) {
                reportError(error);
            }
        }
    });

    const bridge = {
        postMessage(value) {
            send(new Message("out", { data: typeof value === "string" ? value : JSON.stringify(value) }));
        },
    };
    const webkit = globalThis.webkit ?? {};
    webkit.messageHandlers ??= {};
    webkit.messageHandlers.bridge ??= bridge;
    Object.defineProperty(globalThis, "webkit", { value: webkit, configurable: true, writable: true });

    const offer = () => document.dispatchEvent(new MouseEvent("trestle-shim", { relatedTarget: port }));
    document.addEventListener("trestle-porter", offer, { once: true });
    offer();
})();
