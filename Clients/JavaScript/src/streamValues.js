// Streams that stand in options and in results: a ReadableStream, or what `stream` makes.

import { notBegun } from "./errors.js";

/** What `stream` makes. */
class StreamValue {
    constructor(source, type, totalBytes) {
        this.source = source;
        this.type = type;
        this.totalBytes = totalBytes;
    }
}

/** Sources that can be read once, and were. */
const usedSources = new WeakSet();

/** Bytes of any size in the options of a call, or in the result of a task. The types describe it. */
export function stream(source, { type, totalBytes } = {}) {
    return new StreamValue(source, type, totalBytes);
}

function isStream(value) {
    return value instanceof StreamValue || typeof value?.pipeTo === "function";
}

/** Whether JSON has members to look at; a value that makes its JSON itself is left to it. */
function hasMembers(value) {
    return typeof value === "object" && value !== null && typeof value.toJSON !== "function";
}

/**
 * The streams in a value, in their order; one that stands in two places twice.
 * @param above what it is in: a value that contains itself has no JSON, and is not searched for ever
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

/** A copy of the value with these names in the places of its streams. */
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

/** Whether each source can be sent again: text, bytes, a Blob, an array of them. */
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
 * What a stream of the daemon is made of: `source`, `type`, `totalBytes`.
 * @throws {BridgeError} where there is nothing left to read
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
