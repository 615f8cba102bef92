// Other programs of a test: each in a process group of its own, of which nothing is left when the test ends.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/** How long a test waits for something that a program shall do; nothing takes as long where all is well. */
export const testTimeoutMs = 120_000;

/** The first of these commands that there is; undefined where there is none. */
export function foundCommand(commands, check = ["--version"]) {
    return commands.find((command) => spawnSync(command, check, { stdio: "ignore" }).status === 0);
}

/**
 * What stands for the test where what was begun last is to be ended first; the test itself would end it last.
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
 * @param settings as those of `spawn`; `ask` has it end by itself, where it would leave something behind otherwise
 * @returns the child, with `ended`, a promise of its exit code, and `output`, what it wrote to its standard outputs, as
 *   far as they are pipes
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
            // Where it does not, it is ended all the same, and the test says so.
            await within(once(child, "exit"), `the end of ${command}`).finally(() => killGroup(child));
        }
        killGroup(child);
        await child.ended;
    });
    return child;
}

/** Ends a program and those that it started. */
function killGroup(child) {
    // It was never begun.
    if (child.pid === undefined) return;
    try {
        process.kill(-child.pid, "SIGKILL");
    } catch (error) {
        // No process is left.
        if (error.code !== "ESRCH") throw error;
    }
}

/** The promise's value, unless it is too late. `report` says more of what happened meanwhile. */
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
