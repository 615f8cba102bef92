// Other programs of a test: each in its own process group, which is killed when the test ends.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/** The time after which a test fails that waits for a program, in milliseconds. A normal run never takes as long. */
export const testTimeoutMs = 120_000;

/** Returns the first of these commands that exists; undefined if there is none. */
export function foundCommand(commands, check = ["--version"]) {
    return commands.find((command) => spawnSync(command, check, { stdio: "ignore" }).status === 0);
}

/**
 * Returns a replacement for the test `t` that runs its `after` actions in reverse order. The test runs them in order.
 */
export function lastFirst(t) {
    const actions = [];
    t.after(async () => {
        for (const action of actions.reverse()) await action();
    });
    return { after: (action) => void actions.push(action) };
}

/**
 * Starts a program.
 * @param settings the settings of `spawn`; `ask` asks the program to end by itself, if a kill would leave something
 *   behind
 * @returns the child, with `ended`, a promise of its exit code, and `output`, the text from those of its standard
 *   outputs that are pipes
 */
export function startProgram(t, command, flags, { ask, ...settings }) {
    const child = spawn(command, flags, { ...settings, detached: true });
    child.output = "";
    for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding("utf8").on("data", (text) => {
            child.output += text;
        });
    }
    child.ended = new Promise((done) => {
        child.once("error", (error) => done(error));
        child.once("close", (code, signal) => done(code ?? signal));
    });
    t.after(async () => {
        if (ask && child.exitCode === null && child.signalCode === null) {
            ask(child);
            // If it does not end, it is killed, and the test fails.
            await within(once(child, "exit"), `the end of ${command}`).finally(() => killGroup(child));
        }
        killGroup(child);
        await child.ended;
    });
    return child;
}

/** Kills a program and the programs that it started. */
function killGroup(child) {
    // It was never started.
    if (child.pid === undefined) return;
    try {
        process.kill(-child.pid, "SIGKILL");
    } catch (error) {
        // No process is left.
        if (error.code !== "ESRCH") throw error;
    }
}

/** Resolves to the promise's value, or rejects after the timeout. `report` adds details to that error. */
export async function within(promise, what, report = () => "") {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} did not come in time. ${report()}`)), testTimeoutMs);
    });
    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}
