// webkit.messageHandlers.NAME.postMessage(value): calls the task NAME and returns a promise of its result.
{
    const handlers = new Map();
    webkit.messageHandlers = new Proxy(webkit.messageHandlers, {
        get(own, name) {
            if (typeof name !== "string" || name in own) return own[name];
            if (!handlers.has(name)) handlers.set(name, shim.handler(name).handler);
            return handlers.get(name);
        },
    });
}
