// Cordova, as on iOS: webkit.messageHandlers.cordova.postMessage([id, service, action, args]) calls SERVICE.ACTION.
webkit.messageHandlers.cordova ??= {
    postMessage([id, service, action, args]) {
        const task = `${service}.${action}`;
        const [first] = args;
        const isObject = args.length === 1 && typeof first === "object" && first !== null && !Array.isArray(first);
        // Positional parameters become options according to the task's schema.
        const message = isObject || args.length === 0
            ? { task, options: first ?? {} }
            : { jsonrpc: "2.0", method: task, params: args };
        if (id === "INVALID") return shim.send(message);
        shim.call(message, (result, error) => {
            // Cordova's numbers for OK and ERROR.
            globalThis.cordova?.require?.("cordova/exec").nativeCallback(id, error ? 9 : 1, error ?? result, false);
        });
    },
};
