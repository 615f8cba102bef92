// WebViewJavascriptBridge. As in its own containers, it exists only after the document has been parsed: pages access
// their elements in the callbacks that they put into WVJBCallbacks.
{
    const handlers = new Map();
    const responses = new Map();
    let lastResponse = 0;
    const request = (handlerName, data, callback) => {
        const message = { handlerName, data };
        if (callback) {
            lastResponse += 1;
            message.callbackId = `wvjb:${lastResponse}`;
            responses.set(message.callbackId, callback);
        }
        shim.send(message);
    };
    const bridge = {
        registerHandler(name, handler) {
            handlers.set(name, handler);
            request("bridge.register", { tasks: [name] }, () => {});
        },
        callHandler(name, data, callback) {
            if (typeof data === "function" && callback === undefined) [data, callback] = [null, data];
            request(name, data, callback);
        },
        disableJavscriptAlertBoxSafetyTimeout() {},
        init() {},
    };
    const respond = (message) => {
        const callback = responses.get(message.responseId);
        if (!callback || "progress" in message) return callback !== undefined;
        responses.delete(message.responseId);
        callback(message.responseData);
        return true;
    };
    shim.takers.push((message) => {
        if ("responseId" in message) return respond(message);
        if (!("handlerName" in message)) return false;
        const answer = (responseData) => {
            if (message.callbackId !== undefined) shim.send({ responseId: message.callbackId, responseData });
        };
        handlers.get(message.handlerName)?.(message.data, answer);
        return true;
    });
    const install = () => {
        shim.define("WebViewJavascriptBridge", bridge);
        const callbacks = globalThis.WVJBCallbacks ?? [];
        delete globalThis.WVJBCallbacks;
        for (const callback of callbacks) {
            try {
                callback(bridge);
            } catch (error) {
                reportError(error);
            }
        }
        document.dispatchEvent(Object.assign(new Event("WebViewJavascriptBridgeReady"), { bridge }));
    };
    document.addEventListener("DOMContentLoaded", install, { once: true });
}
