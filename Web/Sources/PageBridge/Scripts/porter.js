// The porter: passes lines between the shim in the page's world and the container. It runs in a world of its own, in
// the top frame, before any script of the page, and has the only handler with which a page can post to the container.
//
// It posts a letter, the document's id and a text: "h" and the origin, "l" and a line, or "p" alone. The container
// answers each post with the next lines for the page, or with nothing: an answer can reach no other document. "p" is
// posted if no other post waits.
"use strict";
(() => {
    const handler = globalThis.webkit?.messageHandlers?.trestle;
    if (!handler) return;
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const document_ = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    // Lines that arrive before the shim exists. The page has made no calls by then, so they are few.
    const early = [];
    // Both worlds share a text node. A line is its data, and an event reports it: this costs half as much as an event
    // with data. The listener reads the data first.
    const arrival = new Event("in");
    let port;
    let round = 0;
    let waiting = 0;

    // The container takes another document for the view's document.
    const ignore = () => {};

    // Not an async function: its promises would be a third of the cost of parallel calls.
    function post(kind, text) {
        const number = round;
        waiting += 1;
        handler.postMessage(kind + document_ + text).then((lines) => {
            if (number !== round) return;
            waiting -= 1;
            if (lines !== "") deliver(lines);
            if (waiting === 0) post("p", "");
        }, ignore);
    }

    function deliver(lines) {
        if (!port) return void early.push(lines);
        port.data = lines;
        // An event cannot be dispatched again before it has ended, for example if a debugger holds the page.
        port.dispatchEvent(arrival.eventPhase === Event.NONE ? arrival : new Event("in"));
    }

    function begin() {
        round += 1;
        waiting = 0;
        // Not `location.origin`: a sandboxed document could report another one there.
        post("h", self.origin);
    }

    function take(node) {
        port = node;
        port.addEventListener("out", () => {
            post("l", port.data);
        });
        for (const lines of early.splice(0)) deliver(lines);
    }

    // Shim and porter start in either order: each calls the other. The node is in no tree, so that only they have it.
    /* dialects */
    document.addEventListener("trestle-shim", (event) => {
        if (!port && event.relatedTarget) take(event.relatedTarget);
    });
    document.dispatchEvent(new Event("trestle-porter"));
    addEventListener("pageshow", (event) => {
        // The document was left and is shown again: its session has ended meanwhile.
        if (!event.persisted) return;
        deliver("!lost");
        begin();
    });
    begin();
})();
