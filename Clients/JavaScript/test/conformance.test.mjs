// The conformance vectors of Trestle, and samples that test the runner: one test for each vector with client steps.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { connect } from "../src/index.js";
import { startDaemon, withoutDaemon } from "./support/daemon.mjs";
import { mismatch, run } from "./support/vectors.mjs";

const folders = ["./vectors/", "../../../Tests/Conformance/"].map((path) => new URL(path, import.meta.url));

const vectors = folders.filter(existsSync).flatMap((folder) => readdirSync(folder)
    .filter((name) => name.endsWith(".json")).sort()
    .map((name) => ({ name, ...JSON.parse(readFileSync(fileURLToPath(new URL(name, folder)), "utf8")) }))
    .filter(({ client }) => client !== undefined));

// Each vector has its own daemon, and mostly waits for it.
test("conformance", { skip: withoutDaemon, concurrency: 4 }, async (suite) => {
    await Promise.all(vectors.map(({ name, rule, needs = [], client }) => {
        return suite.test(`${rule} (${name})`, async (t) => {
            const daemon = await startDaemon(t);
            const bridge = await connect({ socket: daemon.socket });
            t.after(() => bridge.close());
            const { tasks } = await bridge.call("bridge.tasks");
            const missing = needs.filter((task) => !tasks.some((each) => each.name === task));
            if (missing.length > 0) return t.skip(`the daemon has no ${missing.join(", ")}`);
            await run(client, bridge);
        });
    }));
});

test("a pattern fits what it describes and nothing else", () => {
    const fits = (pattern, value) => mismatch(pattern, value, new Map()) === undefined;
    const right = [
        [1, 1], ["a", "a"], [null, null], ["<any>", { a: 1 }], [["<a>", "<a>"], [[1], [1]]],
        [{ a: 1, "…": "…" }, { a: 1, b: 2 }], [[1, "…"], [1, 2]], [[1, "…"], [1]], [["…"], []], [{ "…": "…" }, {}],
    ];
    const wrong = [
        [1, 2], [1, "1"], [null, {}], [["<a>", "<a>"], [1, 2]], [{ a: 1 }, { a: 1, b: 2 }],
        [{ a: 1, "…": "…" }, { b: 2 }],
        [[1, "…"], []], [[1], [1, 2]], [{}, []], [[], {}], [{ a: "<a>" }, {}],
    ];
    for (const [pattern, value] of right) assert.ok(fits(pattern, value), JSON.stringify([pattern, value]));
    for (const [pattern, value] of wrong) assert.ok(!fits(pattern, value), JSON.stringify([pattern, value]));
});
