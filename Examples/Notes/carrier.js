// The carrier that the container of a web view would provide, `window.webkit.messageHandlers.bridge`: here for a plain
// browser, over serve.mjs. Messages are sent as requests, one after the other, and received as server-sent events.

(() => {
    // A real container provides its own.
    if (globalThis.webkit?.messageHandlers?.bridge) return;
    const token = location.hash.slice(1);
    const pauseMs = 500;
    let connection;
    let waiting = [];
    let isSending = false;

    async function send() {
        if (isSending) return;
        isSending = true;
        while (connection && waiting.length > 0) {
            const to = connection;
            const body = waiting.splice(0).join("\n");
            const settings = { method: "POST", body, headers: { authorization: `Bearer ${token}` } };
            const isTaken = await fetch(`/send?connection=${to}`, settings).then(({ ok }) => ok, () => false);
            // The events of a closed connection end, too.
            if (!isTaken) break;
        }
        isSending = false;
        if (connection && waiting.length > 0) send();
    }

    function open() {
        const events = new EventSource(`/events?token=${token}`);
        events.addEventListener("connection", ({ data }) => {
            connection = data;
            send();
        });
        events.onmessage = ({ data }) => globalThis.WebBridge.container.receive(data);
        events.onerror = () => {
            events.close();
            setTimeout(open, pauseMs);
            if (!connection) return;
            connection = undefined;
            // Messages that were not sent are reported as lost. Messages that the bridge posts from here on are for the
            // next connection.
            waiting = [];
            globalThis.WebBridge.container.sessionLost();
        };
    }

    globalThis.webkit = {
        messageHandlers: {
            bridge: {
                postMessage(text) {
                    waiting.push(text);
                    send();
                },
            },
        },
    };
    open();
})();
