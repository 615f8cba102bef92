// Objects and functions of the profile: window.NAME.METHOD(…) and window.NAME(…) call tasks and return promises.
{
    const described = new Map();
    /** Whether a task has named options, so that arguments can be assigned to them by position. */
    const hasNames = (task) => {
        if (!described.has(task)) {
            described.set(task, new Promise((done) => {
                shim.call({ task: "bridge.describe", options: { task } }, (result) => {
                    done(Object.keys(result?.options?.properties ?? {}).length > 0);
                });
            }));
        }
        return described.get(task);
    };
    const exported = (task) => async (...values) => {
        const callback = shim.named(values.at(-1));
        if (callback) values.pop();
        const message = values.length > 0 && await hasNames(task)
            ? { jsonrpc: "2.0", method: task, params: values }
            : { task, options: { arguments: values } };
        return new Promise((done, failed) => {
            shim.call(message, (result, error) => {
                if (error) return failed(Object.assign(new Error(error.message), error));
                callback?.(result);
                done(result);
            });
        });
    };
    for (const { name, task, methods } of exports) {
        const object = Object.fromEntries(Object.entries(methods ?? {}).map(([key, value]) => [key, exported(value)]));
        shim.define(name, task ? Object.assign(exported(task), object) : object);
    }
}
