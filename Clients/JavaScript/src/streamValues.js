// Streams in options and in results: a ReadableStream, or a value of `stream`.

import { notBegun } from "./errors.js";

/** The value that `stream` returns. */
class StreamValue {
    constructor(source, type, totalBytes) {
        this.source = source;
        this.type = type;
        this.totalBytes = totalBytes;
    }
}

/** The sources that can be read only once and were already used. */
const usedSources = new WeakSet();

/** Marks a source as a stream in the options of a call or in the result of a task; see types/streams.d.ts. */
export function stream(source, { type, totalBytes } = {}) {
    return new StreamValue(source, type, totalBytes);
}

function isStream(value) {
    return value instanceof StreamValue || typeof value?.pipeTo === "function";
}

/** Whether a value may contain streams in its members. A value with `toJSON` is not searched. */
function hasMembers(value) {
    return typeof value === "object" && value !== null && typeof value.toJSON !== "function";
}

/**
 * Returns the streams in a value, in order. A stream at two places is returned twice.
 * @param above the values that contain this value. A value that contains itself has no JSON; this stops the search.
 */
export function streamsIn(value, above = []) {
    if (isStream(value)) return [value];
    if (!hasMembers(value) || above.includes(value)) return [];
    above.push(value);
    const found = [];
    for (const member of Object.values(value)) {
        // Most members are text or numbers.
        if (typeof member === "object" && member !== null) found.push(...streamsIn(member, above));
    }
    above.pop();
    return found;
}

/** Returns a copy of the value with these names in place of its streams. */
export function withNames(value, names) {
    const left = [...names];
    const copied = (item) => {
        if (isStream(item)) return left.shift();
        if (!hasMembers(item)) return item;
        if (Array.isArray(item)) return item.map(copied);
        return Object.fromEntries(Object.entries(item).map(([name, member]) => [name, copied(member)]));
    };
    return copied(value);
}

/** Whether every source can be sent again: text, bytes, a Blob, or an array of them. */
export function maySendAgain(streams) {
    return streams.every((each) => !isReadOnce(sourceOf(each)));
}

function sourceOf(value) {
    return value instanceof StreamValue ? value.source : value;
}

function isReadOnce(source) {
    return typeof source === "object" && source !== null && !Array.isArray(source) && !ArrayBuffer.isView(source)
        && !(source instanceof ArrayBuffer) && typeof source.stream !== "function";
}

/**
 * Takes the `source`, `type` and `totalBytes` for a stream of the daemon.
 * @throws {BridgeError} if the source was already used or is locked
 */
export function takeStream(value) {
    const source = sourceOf(value);
    if (isReadOnce(source)) {
        if (usedSources.has(source) || source.locked === true) {
            const reason = "this stream was sent or read before, and its source can be read once: make another one";
            throw notBegun("options.invalid", reason);
        }
        usedSources.add(source);
    }
    return { source, type: value.type, totalBytes: value.totalBytes };
}
