// Streams of the daemon as web streams: bytes of any length, with back-pressure, complete or with an error.

import { StreamReader } from "./streamReader.js";
import { StreamWriter } from "./streamWriter.js";

/** The streams of a bridge, or of an incoming call. */
export class Streams {
    #call;
    #messageBytes;
    #id;

    /**
     * @param call calls a task of the daemon: `(task, options, settings) => Promise`
     * @param messageBytes returns the maximum length of a message to the daemon
     * @param id the id of the incoming call; undefined for a bridge
     */
    constructor(call, messageBytes, id) {
        this.#call = call;
        this.#messageBytes = messageBytes;
        this.#id = id;
    }

    /** Makes a stream. Resolves to `{ name, writable }`, or to `{ name, readable }` with `side: "read"`. */
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
     * @param settings the settings of the call to the daemon
     * @returns `name`, `writable` and `abort(reason)`, which does not wait for a write that waits for the reader
     */
    async open({ type, totalBytes }, settings) {
        const options = { side: "write", type, bytes: totalBytes, call: this.#id };
        const { stream: name, room } = await this.#call("bridge.stream.new", options, settings);
        const writer = this.#writer(name, undefined, room);
        return { name, writable: writableOf(writer), abort: (reason) => writer.abort(reason) };
    }

    /** Makes a stream and writes the whole source to it: bytes, text, a Blob, a ReadableStream or an iterable. */
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

    /** Returns `readable` and `end(reason)`, which ends the stream even if its readable is locked to a reader. */
    openReader(name) {
        return this.#readable(name, this.#id);
    }

    write(name) {
        return writableOf(this.#writer(name, this.#id, 0));
    }

    #writer(name, id, room) {
        return new StreamWriter(this.#call, this.#messageBytes, name, id, room);
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

/** Writes the whole source and closes the stream. `signal` can end a ReadableStream that delivers no data. */
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
