// Encodes messages. It detects values that the daemon would refuse, so that the program gets an error. This matters
// most for answers of provided tasks: the daemon drops an answer that it cannot read.

import { BridgeError, describe } from "./errors.js";

/** The maximum nesting depth of a message, including its own braces. */
const maxNesting = 128;

const encoder = new TextEncoder();

/** Returns the length of a text in UTF-8. Node computes it without a copy. */
export function byteLength(text) {
    return globalThis.Buffer?.byteLength?.(text) ?? encoder.encode(text).length;
}

/** Whether a text has more than `bytes` bytes in UTF-8. Counts them only if the text length does not decide it. */
export function isLonger(text, bytes) {
    return text.length * 3 > bytes && (text.length > bytes || byteLength(text) > bytes);
}

/** JSON that is already encoded, in ASCII, and nested no deeper than a message may be. */
export class JSONText {
    constructor(text) {
        this.text = text;
    }
}

/**
 * Returns the JSON of a value that becomes a member of a message.
 * @throws {BridgeError} with `code` if the value has no JSON, or if the daemon would not accept it.
 */
export function encodeValue(value, code, what) {
    if (value instanceof JSONText) return value.text;
    const refuse = (reason) => {
        throw new BridgeError(code, `${what} cannot be sent as JSON: ${reason}`);
    };
    let text;
    try {
        text = JSON.stringify(value);
    } catch (error) {
        refuse(describe(error));
    }
    if (text === undefined) refuse(`it is of the type ${typeof value}`);
    if (hasLoneSurrogate(text)) refuse("there is half a surrogate pair in a string");
    if (nestingOf(text) >= maxNesting) refuse(`more than ${maxNesting - 1} levels are nested`);
    return text;
}

/** Whether a JSON text has an unpaired surrogate. JSON.stringify escapes a surrogate only if it is unpaired. */
function hasLoneSurrogate(text) {
    return text.includes("\\ud") && /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/.test(text);
}

function nestingOf(text) {
    // Each level takes two characters.
    if (text.length < 2 * maxNesting) return 0;
    let depth = 0;
    let deepest = 0;
    for (let index = 0; index < text.length; index += 1) {
        const unit = text.charCodeAt(index);
        if (unit === 0x22) index = endOfString(text, index);
        else if (unit === 0x7b || unit === 0x5b) {
            depth += 1;
            if (depth > deepest) deepest = depth;
        } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
    }
    return deepest;
}

/** Returns the index of the closing quote of the string at `start`. An even number of backslashes precedes it. */
function endOfString(text, start) {
    for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
        let before = end - 1;
        while (text.charCodeAt(before) === 0x5c) before -= 1;
        if ((end - before) % 2 === 1) return end;
    }
}

/**
 * Returns the text of a call. The id precedes the options: in a too long line, the daemon looks for the id only near
 * the beginning.
 */
export function callText({ task, id, timeout, wantsProgress, session, optionsText }) {
    let text = `{"task":${JSON.stringify(task)}`;
    if (id !== undefined) text += `,"callbackId":${id}`;
    if (timeout !== undefined) text += `,"timeout":${timeout}`;
    if (wantsProgress) text += `,"progress":true`;
    if (session !== undefined) text += `,"session":${session}`;
    if (optionsText !== undefined) text += `,"options":${optionsText}`;
    return text + "}";
}

export function cancelText(id) {
    return `{"cancel":${id}}`;
}

export function resultText(id, valueText) {
    return `{"callbackId":${JSON.stringify(id)},"result":${valueText}}`;
}

export function errorText(id, error) {
    return `{"callbackId":${JSON.stringify(id)},"error":${encodeValue(error, "internal", "the error")}}`;
}

export function progressText(id, valueText, sequence) {
    return `{"callbackId":${JSON.stringify(id)},"progress":${valueText},"sequence":${sequence}}`;
}
