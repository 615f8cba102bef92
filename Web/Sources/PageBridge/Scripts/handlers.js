// Handlers that clients add: webkit.messageHandlers.NAME.postMessage(value) calls a task. The handlers of the list
// exist from the beginning; the container sends the whole list again after each change.
{
    const own = webkit.messageHandlers;
    const added = new Map();
    const add = (name, task) => {
        // A value that a dialect or the page has under the name stays.
        if (Object.hasOwn(own, name)) return;
        const made = shim.handler(task);
        const descriptor = { value: made.handler, configurable: true, enumerable: true, writable: true };
        if (Reflect.defineProperty(own, name, descriptor)) added.set(name, { task, ...made });
    };
    const remove = (name, { handler, end }) => {
        added.delete(name);
        if (own[name] === handler) Reflect.deleteProperty(own, name);
        end();
    };
    const set = (list) => {
        const wanted = new Map(list.map(({ name, task }) => [name, task]));
        for (const [name, entry] of [...added]) if (wanted.get(name) !== entry.task) remove(name, entry);
        for (const [name, task] of wanted) if (!added.has(name)) add(name, task);
    };
    shim.notices.handlers = set;
    set(handlers);
}
