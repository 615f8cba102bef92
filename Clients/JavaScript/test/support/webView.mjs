// A page in a real web view (WebKitGTK), in a container that forwards its messages to a daemon, on a virtual screen.

import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { temporaryDirectory, withoutDaemon } from "./daemon.mjs";
import { foundCommand, startProgram, within } from "./processes.mjs";

const container = fileURLToPath(new URL("../pages/container.py", import.meta.url));
const importing = "import gi; gi.require_version('WebKit2', '4.1'); from gi.repository import WebKit2";
// The first Python on the PATH may not have Debian's modules.
const python = foundCommand(["python3", "/usr/bin/python3"], ["-c", importing]);

/** The reason to skip tests if there is no web view or no daemon; false if there are both. */
export function reasonWithoutWebView() {
    if (withoutDaemon) return withoutDaemon;
    if (!python) return "there is no WebKitGTK 4.1 for Python (gir1.2-webkit2-4.1, python3-gi)";
    // Xvfb has no flag that only prints its version.
    return foundCommand(["sh"], ["-c", "command -v Xvfb"]) ? false : "there is no Xvfb";
}

/** Starts a virtual screen. Resolves to its name. It chooses a free number. */
async function startScreen(t, environment) {
    const flags = ["-displayfd", "3", "-screen", "0", "640x480x24", "-nolisten", "tcp"];
    const screen = startProgram(t, "Xvfb", flags, {
        env: environment, stdio: ["ignore", "ignore", "pipe", "pipe"],
        // Xvfb removes its lock and its socket only if it ends by this signal.
        ask: (child) => child.kill("SIGTERM"),
    });
    const [number] = await within(once(screen.stdio[3].setEncoding("utf8"), "data"), "Xvfb", () => screen.output);
    return `:${number.trim()}`;
}

/**
 * Prepares everything that a container needs.
 * @returns a function that starts it with a page, and returns the program. Its promise `failed` rejects at its end.
 */
export async function prepareContainer(t) {
    const home = temporaryDirectory(t);
    const environment = {
        ...process.env, HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home, XDG_CACHE_HOME: home, XDG_DATA_HOME: home,
        XDG_CONFIG_HOME: home, GDK_BACKEND: "x11", GSETTINGS_BACKEND: "memory", GIO_USE_VFS: "local", NO_AT_BRIDGE: "1",
        LIBGL_ALWAYS_SOFTWARE: "1",
    };
    const screen = await startScreen(t, environment);
    return (socket, page, origin) => {
        const program = startProgram(t, python, [container, socket, page, origin], {
            env: { ...environment, DISPLAY: screen }, stdio: "pipe",
        });
        program.failed = program.ended.then((code) => Promise.reject(new Error(`it ended: ${code}. ${program.output}`)));
        program.failed.catch(() => {});
        return program;
    };
}
