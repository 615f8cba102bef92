// Runs a conformance vector on a client: patterns, and the steps one by one.
//
// A pattern is JSON. A string "<name>" matches any value; the same name always means the same value, also in later
// options. A member "…": "…" permits further members in an object, a last item "…" further items in an array.
// Everything else must be equal.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

import { BridgeError } from "../../src/index.js";

/** The default time limit of a step. */
const testTimeoutMs = 120_000;

/** Returns the place and the reason if the value does not match, else undefined. Binds names in `names`. */
export function mismatch(pattern, value, names, path = "$") {
    if (typeof pattern === "string" && /^<[^<>]+>$/.test(pattern)) {
        if (!names.has(pattern)) names.set(pattern, value);
        return isDeepStrictEqual(names.get(pattern), value) ? undefined : `${path}: not the ${pattern} of before`;
    }
    if (Array.isArray(pattern)) return arrayMismatch(pattern, value, names, path);
    if (typeof pattern === "object" && pattern !== null) return objectMismatch(pattern, value, names, path);
    return pattern === value ? undefined : `${path}: expected ${JSON.stringify(pattern)}, got ${JSON.stringify(value)}`;
}

function arrayMismatch(pattern, value, names, path) {
    if (!Array.isArray(value)) return `${path}: expected an array, got ${JSON.stringify(value)}`;
    const isOpen = pattern.at(-1) === "…";
    const items = isOpen ? pattern.slice(0, -1) : pattern;
    if (value.length < items.length || (!isOpen && value.length > items.length)) {
        return `${path}: expected ${items.length} items, got ${value.length}`;
    }
    return first(items.map((item, index) => () => mismatch(item, value[index], names, `${path}[${index}]`)));
}

function objectMismatch(pattern, value, names, path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return `${path}: expected an object, got ${JSON.stringify(value)}`;
    }
    const { "…": rest, ...members } = pattern;
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(members, name));
    if (rest === undefined && unknown !== undefined) return `${path}: did not expect ${unknown}`;
    return first(Object.entries(members).map(([name, member]) => () => (Object.hasOwn(value, name)
        ? mismatch(member, value[name], names, `${path}.${name}`) : `${path}: expected ${name}`)));
}

function first(checks) {
    for (const check of checks) {
        const found = check();
        if (found !== undefined) return found;
    }
    return undefined;
}

/** Returns the value in which names are replaced by their values. */
export function substituted(value, names) {
    if (typeof value === "string") return names.has(value) ? names.get(value) : value;
    if (Array.isArray(value)) return value.map((item) => substituted(item, names));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, substituted(member, names)]));
}

/** Runs the steps on a separate client. */
export async function run(steps, bridge) {
    const names = new Map();
    const events = [];
    const context = { bridge, names, events, registrations: new Map(), place: "" };
    for (const [index, step] of steps.entries()) {
        context.place = `step ${index + 1}, ${JSON.stringify(step)}`;
        await carryOut(step, context);
    }
}

async function carryOut(step, context) {
    const { bridge, names, place } = context;
    if (step.call !== undefined) return call(step, context);
    if (step.subscribe !== undefined) {
        const patterns = substituted(step.subscribe, names);
        const stream = bridge.subscribe(patterns);
        await stream.ready;
        context.events.push({ stream, pending: undefined });
    } else if (step.event !== undefined) {
        fits(step.event, await nextEvent(context), names, place);
    } else if (step.register !== undefined) {
        context.registrations.set(step.register, await bridge.register(step.register, handler(step.answer)));
    } else if (step.unregister !== undefined) {
        await context.registrations.get(step.unregister).unregister();
    } else assert.fail(`${place}: no such step`);
}

async function call(step, { bridge, names, place }) {
    const progress = [];
    const options = step.options === undefined ? undefined : substituted(step.options, names);
    const settings = { timeout: step.timeoutMs };
    if (step.progress) settings.onProgress = (value) => progress.push(value);
    const outcome = await bridge.call(step.call, options, settings).then(
        (result) => ({ result }), (error) => ({ error: JSON.parse(JSON.stringify(error)) }));
    if (step.progress) fits(step.progress, progress, names, `${place}: progress`);
    const expected = step.error === undefined ? { result: step.result } : { error: step.error };
    fits(expected, outcome, names, place);
}

/** Returns the next event of any of the subscriptions. */
async function nextEvent(context) {
    assert.ok(context.events.length > 0, `${context.place}: nothing was subscribed to`);
    for (const source of context.events) {
        source.pending ??= source.stream.next().then(({ value }) => ({ source, value }));
    }
    let timer;
    const late = new Promise((done, failed) => {
        timer = setTimeout(() => failed(new Error(`${context.place}: no event came`)), testTimeoutMs);
    });
    try {
        const { source, value } = await Promise.race([...context.events.map(({ pending }) => pending), late]);
        source.pending = undefined;
        return value;
    } finally {
        clearTimeout(timer);
    }
}

function handler(answer) {
    return (options, call) => {
        if (answer.echo) return options;
        if (answer.never) return new Promise(() => {});
        if (answer.error) throw new BridgeError(answer.error.code, answer.error.message, answer.error);
        for (const value of answer.progress ?? []) call.reportProgress(value);
        return answer.result;
    };
}

function fits(pattern, value, names, place) {
    const problem = mismatch(pattern, value, names);
    assert.equal(problem, undefined, `${place}: ${problem}; it was ${JSON.stringify(value)}`);
}
