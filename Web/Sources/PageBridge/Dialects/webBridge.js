// WebBridge for pages without a client library. A library that they load replaces it.
shim.define("WebBridge", {
    call(task, options, callback) {
        if (typeof options === "function") [options, callback] = [{}, options];
        let done;
        let failed;
        const ended = new Promise((resolve, reject) => {
            done = resolve;
            failed = reject;
        });
        shim.call({ task, options: options ?? {} }, (result, error) => {
            callback?.(result ?? null, error ?? null);
            if (!error) return done(result);
            // With a callback, the promise may be ignored.
            if (callback) ended.catch(() => {});
            failed(Object.assign(new Error(error.message), error));
        });
        return ended;
    },
});
