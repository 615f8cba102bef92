// The tasks that this client provides, and their running calls. Each call is answered exactly once, in the session in
// which it arrived. An answer for an ended session is dropped, because another session may use the same id.

import { addDisposal } from "./disposal.js";
import { BridgeError, cancelledHere, describe, goesAsStream } from "./errors.js";
import { byteLength, encodeValue, errorText, isLonger, progressText, resultText } from "./messages.js";
import { SentStreams } from "./sentStreams.js";
import { streamPlaces, withReadables } from "./streamPlaces.js";
import { Streams } from "./streams.js";
import { streamsIn } from "./streamValues.js";

/** The maximum number of calls that run in parallel. Further callers get `busy`. */
const maxRunning = 1024;

export class Provider {
    #calls;
    #outbox;
    #timers;
    #repeat;
    #onProblem;
    #tasks = new Map();
    #running = new Map();
    #oneWay = new Set();

    /** @param repeat calls a task of the daemon until it is answered, over new connections if one is lost */
    constructor(calls, outbox, timers, repeat, onProblem) {
        this.#calls = calls;
        this.#outbox = outbox;
        this.#timers = timers;
        this.#repeat = repeat;
        this.#onProblem = onProblem;
    }

    /** Provides a task. Resolves to its registration when the daemon has accepted it. */
    async register(task, handler, { scope = "any", description, signal } = {}) {
        if (typeof handler !== "function") throw new BridgeError("options.invalid", "a task needs a handler");
        if (signal?.aborted) throw cancelledHere("bridge.register", false, signal.reason);
        const options = { tasks: [task], scope, descriptions: description && { [task]: description } };
        const entry = { handler, options, places: streamPlaces(description?.options), isConfirmed: false };
        const earlier = this.#tasks.get(task);
        // Added before the request: the first call may arrive together with the callback.
        this.#tasks.set(task, entry);
        try {
            await this.#repeat("bridge.register", options);
            entry.isConfirmed = true;
        } catch (error) {
            if (this.#tasks.get(task) === entry) earlier ? this.#tasks.set(task, earlier) : this.#tasks.delete(task);
            throw error;
        }
        const registration = this.#registration(task, entry, signal);
        if (!signal?.aborted) return registration;
        await registration.unregister();
        throw cancelledHere("bridge.register", true, signal.reason);
    }

    /** Returns the handle that ends the registration, once. */
    #registration(task, entry, signal) {
        let ending;
        const unregister = () => {
            signal?.removeEventListener("abort", onAbort);
            ending ??= this.#unregister(task, entry);
            return ending;
        };
        const onAbort = () => unregister().catch((error) => this.#onProblem(error));
        signal?.addEventListener("abort", onAbort, { once: true });
        const registration = { task, unregister };
        addDisposal(registration, "asyncDispose", unregister);
        return registration;
    }

    async #unregister(task, entry) {
        // If the task has been registered again, it belongs to the later registration.
        if (this.#tasks.get(task) !== entry) return;
        entry.isConfirmed = false;
        try {
            await this.#repeat("bridge.unregister", { tasks: [task] });
        } catch (error) {
            // A closed bridge provides no tasks.
            if (!this.#calls.hasEnded) throw error;
        }
        if (this.#tasks.get(task) === entry) this.#tasks.delete(task);
    }

    /** Registers the tasks again in a new session. */
    restore() {
        for (const { options, isConfirmed } of this.#tasks.values()) {
            if (!isConfirmed) continue;
            this.#calls.begin("bridge.register", options, { isInSession: true }).promise.catch((error) => {
                // After a lost connection, the next session restores the tasks.
                if (error.code !== "session.closed") this.#onProblem(error);
            });
        }
    }

    // Incoming calls.

    receive(message) {
        const id = message.callbackId;
        const call = {
            id, task: message.task, wantsProgress: message.progress === true && id !== undefined,
            sequence: 0, hasEnded: false, abort: new AbortController(),
        };
        if (this.#running.has(id)) {
            return this.#onProblem(new BridgeError("call.duplicate", `the call ${id} was received twice`));
        }
        const entry = this.#tasks.get(message.task);
        if (!entry) {
            const reason = `this client provides no task ${message.task}`;
            return this.#answer(call, new BridgeError("task.not_found", reason));
        }
        if (this.#running.size + this.#oneWay.size >= maxRunning) {
            return this.#answer(call, new BridgeError(
                "busy", `this client works on ${maxRunning} calls, its maximum at a time`,
                { transient: true, retryAfter: 1000 }));
        }
        if (id === undefined) this.#oneWay.add(call);
        else this.#running.set(id, call);
        this.#run(call, entry, message);
    }

    #run(call, { handler, places }, message) {
        const begin = (task, given) => this.#calls.begin(task, given, { isInSession: true }).promise;
        const streams = new Streams(begin, () => this.#calls.messageBytes, call.id);
        const readers = [];
        const options = withReadables(message.options === undefined ? {} : message.options, places, (name) => {
            readers.push(streams.openReader(name));
            return readers[readers.length - 1].readable;
        });
        const context = this.#incoming(call, message, streams);
        // Turns a synchronous exception of the handler into a rejection.
        new Promise((resolve) => resolve(handler(options, context)))
            .then((result) => this.#answerWith(call, streams, result))
            .catch((thrown) => {
                const error = this.#errorOf(call, thrown);
                for (const reader of readers) reader.end(error);
                this.#answer(call, error);
            });
    }

    /** Answers with a result. Makes the streams in it for this call and writes them. */
    async #answerWith(call, streams, result) {
        if (streamsIn(result).length === 0) return this.#answer(call, undefined, result);
        const sent = new SentStreams(streams, result);
        if (call.id === undefined) {
            // No caller receives the names.
            sent.discard();
            return this.#answer(call);
        }
        this.#answer(call, undefined, await sent.make());
        sent.start();
    }

    /** Returns the call object for the handler. */
    #incoming(call, { caller, timeout }, streams) {
        const timers = this.#timers;
        const deadline = timeout === undefined ? undefined : timers.now() + timeout;
        return {
            task: call.task,
            caller,
            get timeRemaining() {
                return deadline === undefined ? undefined : Math.max(0, deadline - timers.now());
            },
            wantsProgress: call.wantsProgress,
            isOneWay: call.id === undefined,
            signal: call.abort.signal,
            reportProgress: (value) => this.#report(call, value),
            makeStream: (settings) => streams.make(settings),
            sendStream: (source, settings) => streams.send(source, settings),
            readStream: (name) => streams.read(name),
            writeStream: (name) => streams.write(name),
        };
    }

    #errorOf(call, thrown) {
        if (thrown instanceof BridgeError) return thrown;
        if (call.abort.signal.aborted && (thrown === call.abort.signal.reason || thrown?.name === "AbortError")) {
            return new BridgeError("call.cancelled", "the call was cancelled", { data: { started: true } });
        }
        return new BridgeError("internal", `${call.task} failed: ${describe(thrown)}`);
    }

    #report(call, value) {
        if (!call.wantsProgress || call.hasEnded) return false;
        const text = progressText(call.id, encodeValue(value, "internal", "the progress"), call.sequence);
        // Intermediate results may be omitted.
        if (isLonger(text, this.#calls.messageBytes) || !this.#outbox.hasRoom(byteLength(text))) return false;
        call.sequence += 1;
        this.#send(text);
        return true;
    }

    /** The only place where a call is answered. */
    #answer(call, error, result) {
        if (call.hasEnded) return;
        call.hasEnded = true;
        if (call.id === undefined) {
            this.#oneWay.delete(call);
            if (error) this.#onProblem(error);
            return;
        }
        if (this.#running.get(call.id) === call) this.#running.delete(call.id);
        this.#send(this.#answerText(call, error, result));
    }

    #answerText(call, error, result) {
        try {
            const text = error ? errorText(call.id, error) : resultText(call.id, this.#resultText(call, result));
            if (!isLonger(text, this.#calls.messageBytes)) return text;
            const reason = `the answer of ${call.task} is longer than a message may be: ${goesAsStream}`;
            return errorText(call.id, new BridgeError("result.too_large", reason));
        } catch (problem) {
            return errorText(call.id, new BridgeError("reply.invalid", problem.message));
        }
    }

    #resultText(call, result) {
        return encodeValue(result === undefined ? null : result, "reply.invalid", `the result of ${call.task}`);
    }

    #send(text) {
        this.#outbox.sendInSession({ bytes: byteLength(text), take: () => text });
    }

    /** Handles that the caller no longer waits. The call is still answered once; the daemon drops the answer. */
    cancel(id) {
        this.#running.get(id)?.abort.abort();
    }

    /** Handles the end of the session of these calls: aborts their signals and drops their answers. */
    sessionLost() {
        const calls = [...this.#running.values()];
        this.#running.clear();
        for (const call of calls) {
            call.hasEnded = true;
            call.abort.abort();
        }
    }
}
