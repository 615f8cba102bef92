// Bodies of requests to packages. The engine terminates the container if the container reads the body of a blob or a
// file. Therefore fetch and XMLHttpRequest send these as buffers and mark each body. The container reads no body
// without the mark.
if (location.protocol === "trestle:") {
    const mark = "Trestle-Body";
    const { fetch, Request, Headers, Blob, FormData, URL } = globalThis;
    const isOwn = (address) => {
        try {
            return new URL(address, document.baseURI).protocol === "trestle:";
        } catch {
            return false;
        }
    };
    const hasBody = (method) => !/^(GET|HEAD)$/i.test(method);

    /** Encodes a form as a blob: the engine does not read forms that have files. */
    const encode = (form) => {
        const boundary = `----trestle${crypto.randomUUID()}`;
        const escape = (text) => text.replace(/\r?\n|\r/g, "%0D%0A").replaceAll('"', "%22");
        const parts = [];
        for (const [name, value] of form) {
            const isFile = value instanceof Blob;
            const file = isFile ? `; filename="${escape(value.name)}"` : "";
            const type = isFile ? `Content-Type: ${value.type || "application/octet-stream"}\r\n` : "";
            parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${escape(name)}"${file}\r\n${type}\r\n`);
            parts.push(isFile ? value : value.replace(/\r?\n|\r/g, "\r\n"), "\r\n");
        }
        return new Blob([...parts, `--${boundary}--\r\n`], { type: `multipart/form-data; boundary=${boundary}` });
    };

    globalThis.fetch = async function (input, init) {
        if (!isOwn(input instanceof Request ? input.url : input)) return fetch(input, init);
        const isForm = init?.body instanceof FormData;
        const request = new Request(input, isForm ? { ...init, body: encode(init.body) } : init);
        if (!hasBody(request.method)) return fetch(request);
        const headers = new Headers(request.headers);
        headers.set(mark, "whole");
        const { url, method, signal, redirect, cache, integrity } = request;
        const body = await request.arrayBuffer();
        return fetch(new Request(url, { method, headers, body, signal, redirect, cache, integrity }));
    };

    const methods = XMLHttpRequest.prototype;
    const { open, setRequestHeader, send, abort } = methods;
    const requests = new WeakMap();

    methods.open = function (method, address, isAsync = true, ...rest) {
        open.call(this, method, address, isAsync, ...rest);
        requests.set(this, { isMarked: isOwn(address) && hasBody(method), isAsync: Boolean(isAsync), hasType: false });
    };

    methods.setRequestHeader = function (name, value) {
        setRequestHeader.call(this, name, value);
        const request = requests.get(this);
        if (request && /^content-type$/i.test(name)) request.hasType = true;
    };

    methods.abort = function () {
        requests.delete(this);
        abort.call(this);
    };

    methods.send = function (body = null) {
        const request = requests.get(this);
        if (!request?.isMarked) return send.call(this, body);
        setRequestHeader.call(this, mark, "whole");
        if (!(body instanceof Blob || body instanceof FormData)) return send.call(this, body);
        if (!request.isAsync) throw new DOMException("a synchronous request sends no blob", "NotSupportedError");
        const whole = body instanceof FormData ? encode(body) : body;
        const { type } = whole;
        whole.arrayBuffer().then((buffer) => {
            if (requests.get(this) !== request) return;
            if (type && !request.hasType) setRequestHeader.call(this, "Content-Type", type);
            send.call(this, buffer);
        }, () => {
            for (const name of ["error", "loadend"]) this.dispatchEvent(new ProgressEvent(name));
        });
    };
}
