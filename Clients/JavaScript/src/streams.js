// Streams of the daemon as streams of the web: bytes of any size, with back-pressure, complete or with an error.

import { decodeBase64, encodeBase64 } from "./base64.js";
import { BridgeError, describe } from "./errors.js";

/** What goes into one message: its line stays below 32 KiB, which the daemon handles in one piece. */
const pieceBytes = 24_000;
/** How many writes may be unanswered: half of what the daemon allows. */
const maxUnanswered = 32;

/** The streams of a bridge, or of a call that this end works on. */
export class Streams {
    #call;
    #id;

    /**
     * @param call calls a task of the daemon's: `(task, options, settings) => Promise`
     * @param id the call that this end works on; undefined: none
     */
    constructor(call, id) {
        this.#call = call;
        this.#id = id;
    }

    /** Makes a stream; resolves to `{ name, writable }`, or, with `side: "read"`, to `{ name, readable }`. */
    async make({ side = "write", type, totalBytes } = {}) {
        if (side === "read") {
            const made = await this.#call("bridge.stream.new", { side, type, bytes: totalBytes, call: this.#id });
            return { name: made.stream, readable: this.#readable(made.stream).readable };
        }
        const { name, writable } = await this.open({ type, totalBytes });
        return { name, writable };
    }

    /**
     * Makes a stream to write.
     * @param settings of the call of the daemon's
     * @returns also `abort(reason)`, which does not wait for a write that waits for the reader
     */
    async open({ type, totalBytes }, settings) {
        const options = { side: "write", type, bytes: totalBytes, call: this.#id };
        const { stream: name, room } = await this.#call("bridge.stream.new", options, settings);
        const writer = new StreamWriter(this.#call, name, undefined, room);
        return { name, writable: writableOf(writer), abort: (reason) => writer.abort(reason) };
    }

    /** Makes a stream, and writes all of a source to it: bytes, text, a Blob, a ReadableStream or what is iterated. */
    async send(source, settings) {
        const { name, writable } = await this.make(settings);
        const done = pump(source, writable);
        // The call that gets the name reports the failure as well.
        done.catch(() => {});
        return { name, done };
    }

    read(name) {
        return this.#readable(name, this.#id).readable;
    }

    /** The same, and `end(reason)`, which ends the stream also where somebody reads it. */
    openReader(name) {
        return this.#readable(name, this.#id);
    }

    write(name) {
        return writableOf(new StreamWriter(this.#call, name, this.#id, 0));
    }

    #readable(name, id) {
        const reader = new StreamReader(this.#call, name, id);
        const readable = new ReadableStream({
            start: (controller) => reader.start(controller),
            pull: () => reader.pull(),
            cancel: (reason) => reader.cancel(reason),
        }, { highWaterMark: 1 });
        return { readable, end: (reason) => reader.end(reason) };
    }
}

function writableOf(writer) {
    return new WritableStream({
        start: (controller) => writer.start(controller),
        write: (chunk) => writer.write(chunk),
        close: () => writer.close(),
        abort: (reason) => writer.abort(reason),
    });
}

/** Writes all of a source, and closes the stream. `signal` ends a ReadableStream that brings nothing. */
export async function pump(source, writable, signal) {
    if (typeof source?.stream === "function") return pump(source.stream(), writable, signal);
    if (typeof source?.pipeTo === "function") return source.pipeTo(writable, { signal });
    const writer = writable.getWriter();
    try {
        const chunks = typeof source === "string" || ArrayBuffer.isView(source) || source instanceof ArrayBuffer
            ? [source] : source;
        for await (const chunk of chunks) await writer.write(chunk);
    } catch (error) {
        await writer.abort(error).catch(() => {});
        throw error;
    }
    await writer.close();
}

/** The reader's end of one stream. */
class StreamReader {
    #call;
    #name;
    /** Says for which call the end is taken, with its first use. */
    #id;
    #controller;
    #count = 0;
    /** The answer to the next read: it is asked for while the last bytes are used. */
    #next;
    #isOver = false;

    constructor(call, name, id) {
        this.#call = call;
        this.#name = name;
        this.#id = id;
    }

    start(controller) {
        this.#controller = controller;
    }

    async pull() {
        const answer = await (this.#next ?? this.#ask());
        if (this.#isOver) return;
        if (answer.end !== true) {
            this.#next = this.#ask();
            // An error is that of the pull that waits for it.
            this.#next.catch(() => {});
            const bytes = decodeBase64(answer.base64);
            this.#count += bytes.length;
            return this.#controller.enqueue(bytes);
        }
        this.#isOver = true;
        if (answer.bytes !== this.#count) {
            const reason = `${this.#count} of the ${answer.bytes} bytes of the stream came`;
            throw new BridgeError("stream.invalid", reason);
        }
        this.#controller.close();
    }

    #ask() {
        const options = { stream: this.#name, call: this.#id };
        this.#id = undefined;
        return this.#call("bridge.stream.read", options);
    }

    async cancel(reason) {
        this.#isOver = true;
        await closeEarly(this.#call, this.#name, "read", this.#id, reason);
    }

    /** Ends the stream before it is complete, where it is not over. Who reads it gets the reason. */
    end(reason) {
        if (this.#isOver) return;
        this.#controller.error(reason);
        this.cancel(reason).catch(() => {});
    }
}

/** The writer's end of one stream. */
class StreamWriter {
    #call;
    #name;
    #id;
    #room;
    #controller;
    #count = 0;
    #unanswered = 0;
    #unansweredBytes = 0;
    #error;
    #aborted;
    /** Goes on when a write was answered. */
    #answered = () => {};

    constructor(call, name, id, room) {
        this.#call = call;
        this.#name = name;
        this.#id = id;
        this.#room = room;
    }

    start(controller) {
        this.#controller = controller;
        // Where the platform says it now: otherwise an abort comes behind a write that waits for the reader. Not within
        // the event, in which a stream cannot be ended.
        const { signal } = controller;
        const abort = () => this.abort(signal.reason).catch(() => {});
        signal?.addEventListener("abort", () => queueMicrotask(abort), { once: true });
    }

    async write(chunk) {
        const bytes = bytesOf(chunk);
        if (this.#room === 0) await this.#learnRoom();
        for (let at = 0; at < bytes.length;) {
            const size = await this.#roomFor(Math.min(pieceBytes, bytes.length - at));
            this.#send(bytes.subarray(at, at + size));
            at += size;
        }
    }

    /** Who did not make the stream does not know its room before the first answer. */
    async #learnRoom() {
        const { room } = await this.#call("bridge.stream.write", { stream: this.#name, call: this.#id, base64: "" });
        this.#id = undefined;
        this.#room = room;
    }

    /** Waits until some bytes may be sent: as many as are wanted, unless nothing else is on its way. */
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
        const options = { stream: this.#name, call: this.#id, base64: encodeBase64(bytes) };
        this.#id = undefined;
        this.#call("bridge.stream.write", options).then(({ room }) => {
            this.#room = room;
        }, (error) => {
            // The daemon has ended the stream: the writer gets the error at once.
            this.#error ??= error;
            this.#controller.error(this.#error);
        }).finally(() => {
            this.#unanswered -= 1;
            this.#unansweredBytes -= bytes.length;
            this.#answered();
        });
    }

    /** Resolves when the reader has all. */
    async close() {
        if (this.#error) throw this.#error;
        const options = { stream: this.#name, side: "write", call: this.#id, bytes: this.#count };
        const { complete, by, bytes, error } = await this.#call("bridge.stream.close", options);
        if (complete) return;
        const reason = `the ${by} ended the stream after ${bytes} bytes, before it was complete`;
        throw new BridgeError("stream.closed", error ? `${reason}: ${error.message}` : reason, {
            data: { by, bytes, error }, transient: error?.transient === true,
        });
    }

    /** Ends the stream before it is complete, once. A write that waits for room fails at once. */
    async abort(reason) {
        if (!this.#error) {
            this.#error = reason ?? new BridgeError("call.cancelled", "the writer ended the stream");
            this.#aborted = closeEarly(this.#call, this.#name, "write", this.#id, reason);
            this.#controller.error(this.#error);
            this.#answered();
        }
        await this.#aborted;
    }
}

/** Ends a stream before it is complete. The other side gets the reason, where there is one. */
async function closeEarly(call, stream, side, id, reason) {
    let error;
    if (reason instanceof BridgeError) error = { code: reason.code, message: reason.message };
    else if (reason !== undefined) error = { code: "call.cancelled", message: describe(reason) };
    try {
        await call("bridge.stream.close", { stream, side, call: id, error });
    } catch (failure) {
        // It is over already.
        if (failure.code !== "stream.not_found" && failure.code !== "session.closed") throw failure;
    }
}

function bytesOf(chunk) {
    if (typeof chunk === "string") return new TextEncoder().encode(chunk);
    if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
    if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    throw new BridgeError("options.invalid", "a stream takes bytes (an ArrayBuffer or a view of one) or text");
}
