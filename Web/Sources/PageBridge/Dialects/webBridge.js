// WebBridge for pages that bring no client library. One that they load takes its place.
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
            // Where there is a callback, nobody has to look at the promise.
            if (callback) ended.catch(() => {});
            failed(Object.assign(new Error(error.message), error));
        });
        return ended;
    },
});
