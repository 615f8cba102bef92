// The places where a schema declares a stream, and web streams at those places.

import { isObject } from "./errors.js";

const streamFormat = "trestle-stream";

/** Returns the path of member names to each stream: at the root of the schema, and in `properties` at any depth. */
export function streamPlaces(schema) {
    if (!isObject(schema)) return [];
    if (schema.format === streamFormat) return [[]];
    if (!isObject(schema.properties)) return [];
    return Object.entries(schema.properties)
        .flatMap(([name, member]) => streamPlaces(member).map((path) => [name, ...path]));
}

/**
 * Returns the value with streams in place of their names.
 * @param read makes a stream from a name
 */
export function withReadables(value, places, read) {
    return places.reduce((whole, path) => replaced(whole, path, read), value);
}

function replaced(value, [name, ...path], read) {
    if (name === undefined) return typeof value === "string" ? read(value) : value;
    if (!isObject(value) || !Object.prototype.hasOwnProperty.call(value, name)) return value;
    return { ...value, [name]: replaced(value[name], path, read) };
}
