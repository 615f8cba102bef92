// The location of the daemon's socket if the program does not name it. Trestle's command line uses the same rules.

import { existsSync, lstatSync } from "node:fs";

const systemSocket = "/run/trestle/bridge.sock";

/** The properties of the process and its file system that determine the location. Tests replace them. */
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

/**
 * Returns the path in TRESTLE_SOCKET, else the user's own socket, else the system's. If neither socket exists, it is
 * the user's own. Root has no socket of its own.
 */
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
    // Any user can create this directory in /tmp. One with another owner may be an attack, so it is not used.
    const temporary = `/tmp/trestle-${uid()}`;
    return owner(temporary) === uid() ? `${temporary}/bridge.sock` : undefined;
}
