// The types, checked by the TypeScript compiler if it is installed.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as library from "../src/index.js";

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const withoutCompiler = spawnSync("tsc", ["--version"]).status === 0 ? false : "there is no tsc";

test("programs compile against the types as they should", { skip: withoutCompiler }, async () => {
    const flags = ["--noEmit", "--strict", "--target", "es2020", "--skipDefaultLibCheck"];
    const output = await new Promise((done) => {
        execFile("tsc", [...flags, file("./types/usage.ts")], (error, text) => done(error ? text : ""));
    });
    assert.equal(output, "");
});

test("the types name what the library exports, and each public method", () => {
    const texts = readdirSync(file("../types")).map((name) => readFileSync(file(`../types/${name}`), "utf8"));
    const types = texts.join("\n");
    for (const name of Object.keys(library)) {
        assert.match(types, new RegExp(`^export (class|function|const) ${name}\\b`, "m"));
    }
    for (const name of Object.getOwnPropertyNames(library.Bridge.prototype)) {
        assert.match(types, new RegExp(`^    (readonly )?${name}\\b`, "m"));
    }
});
