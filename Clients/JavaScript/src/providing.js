// The tasks that this end provides, and the calls of them that run. Each call is answered exactly once, in the session
// in which it came: an answer for a session that is gone is dropped, because another session may use the same id.

import { BridgeError, describe } from "./errors.js";
import { byteLength, encodeValue, errorText, isLonger, progressText, resultText } from "./messages.js";

/** Calls that run at once; beyond, callers are told to come back. */
const mostRunning = 1024;

export class Provider {
    #calls;
    #outbox;
    #repeat;
    #onProblem;
    #tasks = new Map();
    #running = new Map();
    #oneWay = new Set();

    /** @param repeat calls a task of the daemon's until it is answered, whatever happens to connections meanwhile */
    constructor(calls, outbox, repeat, onProblem) {
        this.#calls = calls;
        this.#outbox = outbox;
        this.#repeat = repeat;
        this.#onProblem = onProblem;
    }

    async register(task, handler, { scope = "any" } = {}) {
        if (typeof handler !== "function") throw new BridgeError("options.invalid", "a task needs a handler");
        const entry = { handler, scope, isConfirmed: false };
        const earlier = this.#tasks.get(task);
        // Before the daemon knows: the first call may come with the callback.
        this.#tasks.set(task, entry);
        try {
            await this.#repeat("bridge.register", { tasks: [task], scope });
            entry.isConfirmed = true;
        } catch (error) {
            if (this.#tasks.get(task) === entry) earlier ? this.#tasks.set(task, earlier) : this.#tasks.delete(task);
            throw error;
        }
    }

    async unregister(task) {
        const entry = this.#tasks.get(task);
        if (entry) entry.isConfirmed = false;
        await this.#repeat("bridge.unregister", { tasks: [task] });
        if (this.#tasks.get(task) === entry) this.#tasks.delete(task);
    }

    /** A new session knows nothing of the tasks. */
    restore() {
        for (const [task, entry] of this.#tasks) {
            if (!entry.isConfirmed) continue;
            const options = { tasks: [task], scope: entry.scope };
            this.#calls.begin("bridge.register", options, { isInSession: true }).promise.catch((error) => {
                // A lost connection is restored anew.
                if (error.code !== "session.closed") this.#onProblem(error);
            });
        }
    }

    // Calls that come.

    receive(message) {
        const id = message.callbackId;
        const call = {
            id, task: message.task, wantsProgress: message.progress === true && id !== undefined,
            sequence: 0, hasEnded: false, abort: new AbortController(),
        };
        if (this.#running.has(id)) {
            return this.#onProblem(new BridgeError("call.duplicate", `the call ${id} came twice`));
        }
        const entry = this.#tasks.get(message.task);
        if (!entry) {
            const reason = `this client provides no task ${message.task}`;
            return this.#answer(call, new BridgeError("task.not_found", reason));
        }
        if (this.#running.size + this.#oneWay.size >= mostRunning) {
            return this.#answer(call, new BridgeError(
                "busy", `this client works on ${mostRunning} calls, as many as it does at once`,
                { transient: true, retryAfter: 1000 }));
        }
        if (id === undefined) this.#oneWay.add(call);
        else this.#running.set(id, call);
        this.#run(call, entry.handler, message);
    }

    #run(call, handler, message) {
        const context = {
            task: call.task,
            caller: message.caller,
            timeoutMs: message.timeout,
            wantsProgress: call.wantsProgress,
            isOneWay: call.id === undefined,
            signal: call.abort.signal,
            progress: (value) => this.#report(call, value),
        };
        const options = message.options === undefined ? {} : message.options;
        // A handler that throws at once is a handler that rejects.
        new Promise((resolve) => resolve(handler(options, context))).then(
            (result) => this.#answer(call, undefined, result),
            (thrown) => this.#answer(call, this.#errorOf(call, thrown)));
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
        // Intermediate results may be missing; nobody has to wait for them.
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
            const reason = `the answer of ${call.task} is longer than a message may be`;
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

    /** The caller waits no more. The call still gets its one answer, which the daemon drops. */
    cancel(id) {
        this.#running.get(id)?.abort.abort();
    }

    /** The session in which calls came is gone: handlers are told, and their answers go nowhere. */
    sessionLost() {
        const calls = [...this.#running.values()];
        this.#running.clear();
        for (const call of calls) {
            call.hasEnded = true;
            call.abort.abort();
        }
    }
}
