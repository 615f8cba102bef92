// The carrier of a page in a web view: messages go out through a handler of the container, and come in by the container
// calling `WebBridge.container.receive`.

/** The handler that a container offers under the name `bridge`; undefined where there is none. */
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
            // Some containers answer with a promise, which says nothing that the protocol does not.
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
