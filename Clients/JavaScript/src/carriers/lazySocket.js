// A carrier of a Unix socket that loads its code when it is opened. Browsers never load that code.

import { unreachable } from "../errors.js";

export function lazySocketCarrier(options) {
    let carrier;
    let isDestroyed = false;
    let keepsAlive = true;
    return {
        canReopen: true,
        awaitsHello: true,
        open(events) {
            import("./socket.js").then(({ openSocket }) => {
                if (isDestroyed) return;
                carrier = openSocket(options, events);
                carrier.keepAlive(keepsAlive);
            }).catch((error) => events.closed(unreachable(String(error))));
        },
        get canWrite() {
            return carrier.canWrite;
        },
        gather: (action) => carrier.gather(action),
        write: (text) => carrier.write(text),
        end: () => carrier.end(),
        destroy() {
            isDestroyed = true;
            carrier?.destroy();
        },
        keepAlive(keeps) {
            keepsAlive = keeps;
            carrier?.keepAlive(keeps);
        },
    };
}
