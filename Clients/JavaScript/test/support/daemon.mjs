// A daemon for a test: started with its own socket, stopped when the test ends.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The folder with the daemon and its plugins; undefined if it was not built. */
export function daemonFolder() {
    const candidates = [process.env.TRESTLE_BIN, join(root, "../../.build/release"), join(root, "../../.build/debug")];
    return candidates.find((folder) => folder && existsSync(join(folder, "trestled")));
}

/** The reason to skip tests if there is no daemon; false if there is one. */
export const withoutDaemon = daemonFolder() ? false : "no daemon was built; TRESTLE_BIN names its folder";

/** Makes a directory, which is removed when the test ends. */
export function temporaryDirectory(t) {
    const directory = mkdtempSync(join(tmpdir(), "trestle-js-"));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    return directory;
}

/**
 * Starts a daemon. `stop(signal)` resolves when it has ended; `start()` starts another one with the same socket.
 * @param rules the content of its policy.d, as TOML
 * @param configuration its settings, as TOML
 */
export async function startDaemon(t, { rules, configuration = "" } = {}) {
    const directory = temporaryDirectory(t);
    const folder = daemonFolder();
    const daemon = { socket: join(directory, "s.sock"), state: join(directory, "state"), start, stop };
    const env = { ...process.env };
    const settings = join(directory, "trestled.toml");
    writeFileSync(settings, configuration);
    if (rules !== undefined) {
        env.CONFIGURATION_DIRECTORY = directory;
        mkdirSync(join(directory, "policy.d"));
        writeFileSync(join(directory, "policy.d", "50-test.toml"), rules);
    }
    let child;
    let ended;
    t.after(() => stop("SIGKILL"));
    await start();
    return daemon;

    async function start() {
        const flags = ["--config", settings, "--socket", daemon.socket, "--state-dir", daemon.state];
        child = spawn(
            join(folder, "trestled"), [...flags, "--plugin-dir", folder], { env, stdio: ["ignore", "ignore", "pipe"] });
        ended = new Promise((done) => child.once("exit", done));
        await untilReady(child);
    }

    async function stop(signal = "SIGTERM") {
        child.kill(signal);
        await ended;
    }
}

/**
 * Resolves when a daemon has logged that it is ready. Reads its standard error to the end.
 * @throws {Error} with the log, if the daemon ends before
 */
export async function untilReady(child) {
    let log = "";
    child.stderr.setEncoding("utf8");
    await new Promise((done, failed) => {
        child.stderr.on("data", function look(text) {
            log += text;
            if (!log.includes(" ready: ")) return;
            child.stderr.off("data", look);
            child.stderr.resume();
            done();
        });
        child.stderr.once("end", () => failed(new Error(`the daemon ended before it was ready:\n${log}`)));
    });
}
