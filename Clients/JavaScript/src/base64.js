// Bytes as text in base 64, and back, with what pages and Node both have.

/** As many bytes as one call of a function takes as its arguments. */
const argumentBytes = 0x8000;

/** The text of bytes, with padding. */
export function encodeBase64(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; at += argumentBytes) {
        text += String.fromCharCode(...bytes.subarray(at, at + argumentBytes));
    }
    return btoa(text);
}

/** The bytes of a text that the daemon sent. */
export function decodeBase64(text) {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
    return bytes;
}
