// The carrier of a page in a web view. The page sends messages through a handler of the container. The container calls
// `WebBridge.container.receive` for incoming messages.

/** Returns the handler that a container offers under the name `bridge`; `undefined` if there is none. */
export function webViewHandler() {
    const handler = globalThis.webkit?.messageHandlers?.bridge;
    return typeof handler?.postMessage === "function" ? handler : undefined;
}

/** @param handler an object with `postMessage(text)` */
export function webViewCarrier(handler) {
    let events;
    return {
        canReopen: false,
        awaitsHello: false,
        open(listener) {
            events = listener;
            events.opened();
        },
        write(text) {
            // Some containers return a promise. Its value adds nothing to the protocol.
            handler.postMessage(text)?.catch?.((error) => events.problem(error));
            return true;
        },
        end() {
            events.closed();
        },
        destroy() {},
        keepAlive() {},
    };
}
