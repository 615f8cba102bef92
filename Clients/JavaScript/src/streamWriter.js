// The writer's end of a stream of the daemon, as the underlying sink of a WritableStream.

import { encodeBase64 } from "./base64.js";
import { BridgeError } from "./errors.js";
import { JSONText } from "./messages.js";
import { endEarly } from "./streamEnd.js";

/** The maximum number of bytes in one message. Its line stays below 32 KiB, which the daemon handles as a unit. */
const maxPieceBytes = 24_000;
/** An upper bound for the rest of the message around the bytes. */
const aroundBytes = 256;
/** The maximum number of unanswered writes: half of the daemon's limit. */
const maxUnanswered = 32;

/** The writer's end of one stream. */
export class StreamWriter {
    #call;
    #messageBytes;
    #name;
    #id;
    #room;
    #controller;
    #count = 0;
    #unanswered = 0;
    #unansweredBytes = 0;
    #error;
    #aborted;
    /** Resumes the write that waits for an answer. */
    #answered = () => {};

    /** @param room the number of bytes that may be unanswered; 0 if unknown: the first answer contains it */
    constructor(call, messageBytes, name, id, room) {
        this.#call = call;
        this.#messageBytes = messageBytes;
        this.#name = name;
        this.#id = id;
        this.#room = room;
    }

    start(controller) {
        this.#controller = controller;
        // With the controller's signal, an abort takes effect immediately. Otherwise it would wait for a write that
        // waits for the reader. The microtask is needed because a stream cannot be ended during this event.
        const { signal } = controller;
        const abort = () => this.abort(signal.reason).catch(() => {});
        signal?.addEventListener("abort", () => queueMicrotask(abort), { once: true });
    }

    async write(chunk) {
        const bytes = bytesOf(chunk);
        if (this.#room === 0) await this.#learnRoom();
        for (let at = 0; at < bytes.length;) {
            const size = await this.#roomFor(Math.min(this.#pieceBytes, bytes.length - at));
            this.#send(bytes.subarray(at, at + size));
            at += size;
        }
    }

    /** The number of bytes that fit into one message to the daemon. */
    get #pieceBytes() {
        return Math.max(1, Math.min(maxPieceBytes, Math.floor((this.#messageBytes() - aroundBytes) / 4) * 3));
    }

    /** Requests the room with an empty write. A writer that did not make the stream does not have it yet. */
    async #learnRoom() {
        const { room } = await this.#call("bridge.stream.write", { stream: this.#name, call: this.#id, base64: "" });
        this.#id = undefined;
        this.#room = room;
    }

    /** Waits until `wanted` bytes may be sent and returns that number; may return less if no write is unanswered. */
    async #roomFor(wanted) {
        for (;;) {
            if (this.#error) throw this.#error;
            const room = this.#room - this.#unansweredBytes;
            if (this.#unanswered < maxUnanswered && room >= wanted) return wanted;
            if (this.#unanswered === 0) return room;
            await new Promise((resolve) => { this.#answered = resolve; });
        }
    }

    #send(bytes) {
        this.#count += bytes.length;
        this.#unanswered += 1;
        this.#unansweredBytes += bytes.length;
        const options = this.#optionsOf(bytes);
        this.#id = undefined;
        this.#call("bridge.stream.write", options).then(({ room }) => {
            this.#room = room;
        }, (error) => {
            this.#failed(error);
        }).finally(() => {
            this.#unanswered -= 1;
            this.#unansweredBytes -= bytes.length;
            this.#answered();
        });
    }

    /** Returns the options as JSON. Base64 text needs no search and no escapes. */
    #optionsOf(bytes) {
        const call = this.#id === undefined ? "" : `,"call":${JSON.stringify(this.#id)}`;
        return new JSONText(`{"stream":${JSON.stringify(this.#name)}${call},"base64":"${encodeBase64(bytes)}"}`);
    }

    /** Reports the error to the writer immediately. If the call was not sent to the daemon, ends the stream there. */
    #failed(error) {
        if (!this.#error && error.started === false) this.#end(error);
        this.#error ??= error;
        this.#controller.error(this.#error);
    }

    /** Completes the stream. Resolves when the reader has every byte. */
    async close() {
        if (this.#error) throw this.#error;
        const options = { stream: this.#name, side: "write", call: this.#id, bytes: this.#count };
        const { complete, by, bytes, error } = await this.#call("bridge.stream.close", options).catch((failure) => {
            this.#failed(failure);
            throw failure;
        });
        if (complete) return;
        const reason = `the ${by} ended the stream after ${bytes} bytes, before it was complete`;
        throw new BridgeError("stream.closed", error ? `${reason}: ${error.message}` : reason, {
            data: { by, bytes, error }, transient: error?.transient === true,
        });
    }

    /** Ends the stream before it is complete, once. A write that waits for room fails immediately. */
    async abort(reason) {
        if (!this.#error) {
            this.#error = reason ?? new BridgeError("call.cancelled", "the writer ended the stream");
            this.#end(reason);
            this.#controller.error(this.#error);
            this.#answered();
        }
        await this.#aborted;
    }

    #end(reason) {
        this.#aborted = endEarly(this.#call, this.#name, "write", this.#id, reason);
        // `abort` waits for this promise. Otherwise its error is ignored: the stream has ended with its first error.
        this.#aborted.catch(() => {});
    }
}

function bytesOf(chunk) {
    if (typeof chunk === "string") return new TextEncoder().encode(chunk);
    if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
    if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    throw new BridgeError("options.invalid", "a stream takes bytes (an ArrayBuffer or a view of one) or text");
}
