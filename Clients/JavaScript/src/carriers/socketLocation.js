// Where the daemon's socket is, if the program does not name it: as the command line of Trestle looks for it.

import { existsSync, lstatSync } from "node:fs";

const systemSocket = "/run/trestle/bridge.sock";

/** What of this process and its file system decides; a test gives others. */
const surroundings = {
    variable: (name) => process.env[name],
    exists: existsSync,
    uid: () => process.geteuid?.() ?? 0,
    owner: (path) => {
        try {
            return lstatSync(path).uid;
        } catch {
            return undefined;
        }
    },
};

/** The one that TRESTLE_SOCKET names, else this user's own where there is one, else the system's where there is one. */
export function socketPath({ variable, exists, uid, owner } = surroundings) {
    const given = variable("TRESTLE_SOCKET");
    if (given) return given;
    const own = ownSocket({ variable, uid, owner });
    if (uid() === 0 || own === undefined) return systemSocket;
    return exists(own) || !exists(systemSocket) ? own : systemSocket;
}

function ownSocket({ variable, uid, owner }) {
    const directory = variable("XDG_RUNTIME_DIR");
    if (directory) return `${directory}/trestle/bridge.sock`;
    // Any user may make a directory in /tmp: one that is not this user's is a trap set by another user.
    const temporary = `/tmp/trestle-${uid()}`;
    return owner(temporary) === uid() ? `${temporary}/bridge.sock` : undefined;
}
