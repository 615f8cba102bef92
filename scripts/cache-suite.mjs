#!/usr/bin/env node
// cache-suite.mjs [ID…]: runs the public suite cache-tests through http.fetch of a real daemon, as a private cache: all
// tests, or the given ones. It prints the tests that fail. The suite waits in real time, for a minute, and some tests
// fail on a loaded machine.
//
// TRESTLE_BIN is the folder with the daemon and its plugins (.build/debug), TRESTLE_SUITES the one with the suite
// (../shared/suites, then .build/suites; scripts/fetch-suites fetches it).

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folders = [process.env.TRESTLE_SUITES, join(root, "../shared/suites"), join(root, ".build/suites")];
const suite = folders.filter(Boolean).map((folder) => join(folder, "cache-tests")).find(existsSync);
if (!suite) throw new Error("there is no cache-tests: scripts/fetch-suites fetches it");
const binaries = process.env.TRESTLE_BIN ?? join(root, ".build/debug");
const { connect, BridgeError } = await import(join(root, "Clients/JavaScript/src/index.js"));
const { untilReady } = await import(join(root, "Clients/JavaScript/test/support/daemon.mjs"));
const { runTests, getResults } = await import(join(suite, "test-engine/client/runner.mjs"));
const { determineTestResult } = await import(join(suite, "test-engine/lib/results.mjs"));
const { default: tests } = await import(join(suite, "tests/index.mjs"));

const ids = process.argv.slice(2);
const chosen = tests.map((one) => ({
    ...one, tests: one.tests.filter((test) => ids.length === 0 || ids.includes(test.id)),
}));

const directory = mkdtempSync(join(tmpdir(), "cache-suite-"));
const children = [];
try {
    const base = await startServer();
    const bridge = await startDaemon();
    const straight = globalThis.fetch;
    globalThis.fetch = (url, init) => (url.startsWith(`${base}/test/`) ? load(bridge, url, init) : straight(url, init));
    await runTests(chosen, true, base, ids.length === 0 ? 25 : 5);
    report();
    await bridge.close();
} finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
}

/** Makes one request of the suite with http.fetch. */
async function load(bridge, url, { method, headers, body, cache, redirect, signal }) {
    const options = { url, method, headers, cache, redirect, as: "base64" };
    if (body !== undefined) options.body = { text: body };
    try {
        const result = await bridge.call("http.fetch", options, { signal });
        // Not a Response, which refuses the suite's status 999.
        const text = Buffer.from(result.body.base64, "base64").toString();
        return { status: result.status, headers: new Headers(result.headers), text: async () => text };
    } catch (error) {
        const isMiss = error instanceof BridgeError && error.code === "http.cache_miss";
        if (!isMiss) throw error;
        return { status: 504, headers: new Headers(), text: async () => "" };
    }
}

function report() {
    const results = getResults();
    const score = {};
    for (const test of chosen.flatMap((one) => one.tests)) {
        if (test.cdn_only || test.browser_skip) continue;
        const kind = test.kind ?? "required";
        const [, , mark] = determineTestResult(tests, test.id, results, ids.length === 0);
        const isPassed = mark === "✅" || mark === "Y";
        score[kind] ??= { passed: 0, all: 0 };
        score[kind].all += 1;
        if (isPassed) score[kind].passed += 1;
        else if (kind !== "check") console.log(`${kind} ${mark} ${test.id}: ${results[test.id]}`);
    }
    for (const [kind, { passed, all }] of Object.entries(score)) console.log(`${kind}: ${passed} of ${all}`);
}

async function startServer() {
    const port = await new Promise((done) => {
        const probe = net.createServer().listen(0, "127.0.0.1", () => {
            const { port } = probe.address();
            probe.close(() => done(port));
        });
    });
    const env = {
        ...process.env, npm_config_protocol: "http", npm_config_port: `${port}`,
        npm_config_pidfile: join(directory, "pid"),
    };
    const server = spawn("node", [join(suite, "test-engine/server/server.mjs")], { env, stdio: ["ignore", "pipe", 2] });
    children.push(server);
    await new Promise((done) => server.stdout.once("data", done));
    server.stdout.resume();
    return `http://localhost:${port}`;
}

async function startDaemon() {
    const settings = join(directory, "trestled.toml");
    writeFileSync(settings, '[plugins.fetch]\nprivate_networks = ["127.0.0.0/8", "::1/128"]\n');
    const socket = join(directory, "s.sock");
    const flags = ["--config", settings, "--socket", socket, "--state-dir", join(directory, "state")];
    const daemon = spawn(
        join(binaries, "trestled"), [...flags, "--plugin-dir", binaries], { stdio: ["ignore", "ignore", "pipe"] });
    children.push(daemon);
    await untilReady(daemon);
    return await connect({ socket });
}
