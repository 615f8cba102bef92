// Converts bytes to base64 text and back: with the platform's functions of Uint8Array, with Node's Buffer, or with
// loops. `btoa` and `atob` need strings with one character per byte, and in Node they are many times slower than the
// loops.

const digits = Uint8Array.from(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", (digit) => digit.charCodeAt(0));
const padding = "=".charCodeAt(0);
/** The number of characters that one function call gets as arguments. More are slower. */
const argumentCount = 0x800;

/** The value of each base64 character, by its character code. */
const values = new Uint8Array(128);
digits.forEach((digit, value) => {
    values[digit] = value;
});

/** Node's Buffer; `undefined` on other platforms. */
const NodeBytes = typeof globalThis.Buffer?.from === "function" ? globalThis.Buffer : undefined;

/** Returns the base64 text of bytes, with padding. */
export const encodeBase64 = typeof Uint8Array.prototype.toBase64 === "function" ? (bytes) => bytes.toBase64()
    : NodeBytes ? (bytes) => NodeBytes.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")
        : encodeInLoop;

/** Returns the bytes of a base64 text from the daemon. */
export const decodeBase64 = typeof Uint8Array.fromBase64 === "function" ? (text) => Uint8Array.fromBase64(text)
    : NodeBytes ? decodeByNode : decodeInLoop;

function decodeByNode(text) {
    const { buffer, byteOffset, length } = NodeBytes.from(text, "base64");
    return new Uint8Array(buffer, byteOffset, length);
}

/** Does the same as encodeBase64, on every platform. */
export function encodeInLoop(bytes) {
    const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
    let at = 0;
    for (let index = 0; index < bytes.length; index += 3) {
        // An index past the end gives undefined, which counts as 0.
        const group = (bytes[index] << 16) | (bytes[index + 1] << 8) | bytes[index + 2];
        text[at++] = digits[group >> 18];
        text[at++] = digits[(group >> 12) & 63];
        text[at++] = digits[(group >> 6) & 63];
        text[at++] = digits[group & 63];
    }
    const missing = (3 - (bytes.length % 3)) % 3;
    text.fill(padding, text.length - missing);
    return string(text);
}

/** Returns the text of these characters. Not every page has a TextDecoder. */
function string(characters) {
    let text = "";
    for (let at = 0; at < characters.length; at += argumentCount) {
        text += String.fromCharCode.apply(null, characters.subarray(at, at + argumentCount));
    }
    return text;
}

/** Does the same as decodeBase64, on every platform. */
export function decodeInLoop(text) {
    const missing = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
    const bytes = new Uint8Array((text.length / 4) * 3 - missing);
    let at = 0;
    for (let index = 0; index < text.length; index += 4) {
        const group =
            (values[text.charCodeAt(index)] << 18) | (values[text.charCodeAt(index + 1)] << 12)
            | (values[text.charCodeAt(index + 2)] << 6) | values[text.charCodeAt(index + 3)];
        // A typed array ignores writes past its end.
        bytes[at++] = group >> 16;
        bytes[at++] = group >> 8;
        bytes[at++] = group;
    }
    return bytes;
}
