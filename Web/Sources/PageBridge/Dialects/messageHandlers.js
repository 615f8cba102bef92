// webkit.messageHandlers.NAME.postMessage(value): a call of the task NAME, and a promise of its result.
{
    const handlers = new Map();
    const make = (task) => ({
        postMessage(value) {
            const ended = new Promise((done, failed) => {
                shim.call({ task, options: value ?? {} }, (result, error) => {
                    if (error) failed(Object.assign(new Error(error.message), error));
                    else done(result);
                });
            });
            // Most pages do not look at it.
            ended.catch(() => {});
            return ended;
        },
    });
    webkit.messageHandlers = new Proxy(webkit.messageHandlers, {
        get(own, name) {
            if (typeof name !== "string" || name in own) return own[name];
            if (!handlers.has(name)) handlers.set(name, make(name));
            return handlers.get(name);
        },
    });
}
