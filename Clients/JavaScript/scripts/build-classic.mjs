// Builds dist/trestle-bridge.js, the library as one plain script: the modules that a page needs, one after the other in
// one function, each after the modules that it imports. The modules share that function's scope, so their top-level
// names must differ, and they use named imports and exports of declarations only; anything else fails here.
//
//   node scripts/build-classic.mjs

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const output = resolve(root, "dist/trestle-bridge.js");
const importLine = /^import \{[^}]*\} from "(\.[^"]*)";\n/gm;

/** The text of the script. */
export function classicScript() {
    const bodies = new Map();
    collect(resolve(root, "src/classic.js"), bodies);
    const text = [
        "// The client library of the Trestle bridge, as a plain script. Built by scripts/build-classic.mjs from src.",
        "// SPDX-License-Identifier: Apache-2.0",
        "(function () {",
        "\"use strict\";",
        "",
        ...[...bodies.values()],
        "})();",
        "",
    ].join("\n");
    // Finds names that two modules share, and imports that were not understood.
    new Script(text);
    return text;
}

/** Writes the script, and returns its path. */
export function buildClassicScript() {
    mkdirSync(dirname(output), { recursive: true });
    // Other processes may read it, or build it too, at the same time.
    const unfinished = `${output}.${process.pid}`;
    writeFileSync(unfinished, classicScript());
    renameSync(unfinished, output);
    return output;
}

function collect(path, bodies) {
    if (bodies.has(path)) return;
    const source = readFileSync(path, "utf8");
    // A module follows the modules that it imports. A cycle of imports ends here.
    bodies.set(path, "");
    for (const [, imported] of source.matchAll(importLine)) collect(resolve(dirname(path), imported), bodies);
    bodies.delete(path);
    const body = source.replace(importLine, "").replace(/^export (?=(async )?(class|function|const|let) )/gm, "");
    if (/^\s*(import|export)\b|\bimport\(/m.test(body)) throw new Error(`${path}: an import or export of another form`);
    bodies.set(path, body.trim() + "\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildClassicScript();
