// Bytes as text in base 64, and back, in pages and in Node.

/** As many bytes as one call of a function takes as its arguments. */
const argumentBytes = 0x8000;

/** The text of bytes, with padding. */
export function encodeBase64(bytes) {
    if (globalThis.Buffer) {
        return globalThis.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
    }
    let text = "";
    for (let at = 0; at < bytes.length; at += argumentBytes) {
        text += String.fromCharCode(...bytes.subarray(at, at + argumentBytes));
    }
    return btoa(text);
}

/** The bytes of a text that the daemon sent. */
export function decodeBase64(text) {
    // A copy: a small Buffer shares its memory with others.
    if (globalThis.Buffer) return new Uint8Array(globalThis.Buffer.from(text, "base64"));
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
