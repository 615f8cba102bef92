// Clients of a daemon for a test.

import { connect } from "../../src/index.js";

/** Connects clients, which are closed when the test ends; `bridge` is the first one, `other` the second. */
export async function openClients(t, daemon, count, options) {
    const bridges = [];
    for (let index = 0; index < count; index += 1) {
        const bridge = await connect({ socket: daemon.socket, ...options });
        t.after(() => bridge.close());
        bridges.push(bridge);
    }
    return { bridge: bridges[0], other: bridges[1] };
}

/** Resolves to the next change to the given state. */
export function changed(bridge, state) {
    return new Promise((done) => {
        const stop = bridge.onState((change) => {
            if (change.state !== state) return;
            stop();
            done(change);
        });
    });
}
