// The reader's end of a stream of the daemon, as the underlying source of a ReadableStream.

import { decodeBase64 } from "./base64.js";
import { BridgeError } from "./errors.js";
import { endEarly } from "./streamEnd.js";

/** The reader's end of one stream. */
export class StreamReader {
    #call;
    #name;
    /** The call for which the end is taken. It is sent with the first use only. */
    #id;
    #controller;
    #count = 0;
    /** The answer to the next read. The read is sent while the previous bytes are processed. */
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
            // The pull that waits for the answer gets the error.
            this.#next.catch(() => {});
            const bytes = decodeBase64(answer.base64);
            this.#count += bytes.length;
            return this.#controller.enqueue(bytes);
        }
        this.#isOver = true;
        if (answer.bytes !== this.#count) {
            const reason = `${this.#count} of the ${answer.bytes} bytes of the stream were received`;
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
        await endEarly(this.#call, this.#name, "read", this.#id, reason);
    }

    /** Ends the stream before it is complete. Its reader gets the reason. Does nothing if it has ended. */
    end(reason) {
        if (this.#isOver) return;
        this.#controller.error(reason);
        this.cancel(reason).catch(() => {});
    }
}
