// One connection after the other: opens a carrier, introduces the client, and, where the carrier can be opened again,
// does so when it was lost, after a pause that grows. Everything that outlives a connection (calls, registrations,
// subscriptions) belongs to the bridge and is notified of it by the `session` callbacks.
//
// States: idle → connecting → open → (lost) → waiting → connecting …, and closed in the end.
//
// A carrier carries messages. Its interface:
//
//   open(events)      Begins. `events` has opened(), message(textOrValue), unreadable(id), drained(), problem(error),
//                     and closed(error?): the last one, called once.
//   write(text)       Takes one message in any case; false: wait for drained() before the next. Where there is gather,
//                     it takes several messages, a line each.
//   canWrite          Optional: false where it no longer takes anything, although closed() has not come yet.
//   gather(action)    Optional: runs the action later in this turn, so that one write takes what has come until then.
//   end()             Delivers what was written, then closes; closed() follows.
//   destroy()         Closes immediately. No further event comes.
//   keepAlive(keeps)  Whether it keeps a Node process alive.
//   canReopen         Whether another carrier of its kind may be opened after it.
//   awaitsHello       Whether calls wait for the answer to bridge.hello. Not where a container stands between, which
//                     may know no such task.

import { BridgeError, closedHere, connectionLost, unreachable } from "./errors.js";

/** How long a daemon may take to close its end after this end has, in milliseconds. */
const closeTimeout = 1000;
/** How long, in milliseconds, calls that a stopping daemon refused wait until the same connection is tried again. */
const resumeDelay = 1000;

export class Connection {
    state = "idle";
    /** What the daemon said of itself in answer to bridge.hello; undefined where it was not let ask. */
    hello = undefined;

    #makeCarrier;
    #settings;
    #timers;
    #backoff;
    #outbox;
    #session;
    #carrier = undefined;
    #sessionCount = 0;
    #openedAt = undefined;
    #limit = undefined;
    #retry = undefined;
    #resuming = undefined;
    #keepsAlive = true;
    /** Set when the next loss is the end: the session was closed on purpose, or this end closes. */
    #finalReason = undefined;
    #isClosing = false;
    /** The last error about no call in particular: where the connection ends now, it says why. */
    #lastProblem = undefined;
    #openWaiters = [];
    #closeWaiters = [];

    /**
     * @param session the callbacks: `introduce()` → promise of hello, `opened(hello)`, `learned(hello)`,
     *   `resumed()`, `message(message)`, `unreadable(id)`, `lost(error)`, `closed(error)`, `changed(change)`,
     *   `problem(error)`
     */
    constructor({ makeCarrier, settings, timers, backoff, outbox, session }) {
        this.#makeCarrier = makeCarrier;
        this.#settings = settings;
        this.#timers = timers;
        this.#backoff = backoff;
        this.#outbox = outbox;
        this.#session = session;
    }

    /** Begins to connect, unless it has. */
    start() {
        if (this.state === "idle") this.#attempt();
    }

    /** Resolves when the connection is open; rejects with what the next attempt fails with. */
    opened() {
        this.start();
        if (this.state === "open") return Promise.resolve(this.hello);
        if (this.state === "closed") return Promise.reject(this.#finalReason ?? closedHere());
        return new Promise((resolve, reject) => this.#openWaiters.push({ resolve, reject }));
    }

    #attempt() {
        this.#lastProblem = undefined;
        this.#change("connecting");
        // A listener may have closed the bridge.
        if (this.state === "closed") return;
        let carrier;
        // Events of a carrier that is no longer the current one are ignored.
        const current = (action) => (...values) => (carrier === this.#carrier ? action(...values) : undefined);
        try {
            carrier = this.#makeCarrier();
            this.#carrier = carrier;
            this.#limit = this.#timers.after(this.#settings.connectTimeout, () => {
                this.#lost(unreachable("it takes connections but does not answer"));
            });
            carrier.keepAlive(this.#keepsAlive);
            carrier.open({
                opened: current(() => this.#carrierOpened()),
                message: current((message) => this.receive(message)),
                unreadable: current((id) => this.#session.unreadable(id)),
                drained: current(() => this.#drained()),
                problem: current((error) => this.#session.problem(error)),
                closed: current((error) => this.#lost(error ?? connectionLost("it was closed"))),
            });
        } catch (error) {
            // Without a carrier there is nothing to try again.
            this.#finalReason = error instanceof BridgeError ? error : unreachable(String(error));
            this.#carrier = carrier;
            this.#lost(this.#finalReason);
        }
    }

    #carrierOpened() {
        this.#outbox.attach(this.#carrier);
        this.#beginSession();
    }

    #beginSession() {
        const carrier = this.#carrier;
        const sessionCount = ++this.#sessionCount;
        const isCurrent = () => carrier === this.#carrier && sessionCount === this.#sessionCount && !this.#isClosing;
        this.#session.introduce().then(
            (hello) => isCurrent() && this.#introduced(hello),
            (error) => isCurrent() && this.#introductionFailed(error));
        if (!carrier.awaitsHello) this.#open();
    }

    #introduced(hello) {
        this.hello = hello;
        if (this.state === "open") this.#session.learned(hello);
        else this.#open();
    }

    #introductionFailed(error) {
        // Who may not ask may still call what the daemon's rules let it call; but not under another origin than it
        // wants.
        const mayGoOn = ["permission.denied", "task.not_found"].includes(error.code) && !this.#settings.hello.origin;
        if (mayGoOn) return this.#introduced(undefined);
        if (this.state === "open") return this.#session.problem(error);
        if (error.code === "options.invalid" || error.code === "permission.denied") this.#finalReason = error;
        this.#lost(error);
    }

    #open() {
        this.#limit?.cancel();
        this.#openedAt = this.#timers.now();
        this.#lastProblem = undefined;
        this.state = "open";
        this.#session.opened(this.hello);
        this.#outbox.isHeld = false;
        this.#outbox.flush();
        for (const waiter of this.#openWaiters.splice(0)) waiter.resolve(this.hello);
        this.#change("open", { hello: this.hello });
    }

    /** One message, or an array of them, as text or as a value. */
    receive(message) {
        let value = message;
        if (typeof message === "string") {
            try {
                value = JSON.parse(message);
            } catch (error) {
                return this.#session.problem(new BridgeError("message.invalid", `no JSON came: ${error.message}`));
            }
        }
        for (const item of Array.isArray(value) ? value : [value]) {
            if (this.state === "closed") return;
            const problem = item?.callbackId === null ? BridgeError.from(item.error) : undefined;
            // Before the connection is open it can only be about that, and is the reason of the end that follows.
            if (problem && this.state !== "open") this.#lastProblem = problem;
            else this.#session.message(item);
        }
    }

    /**
     * Whether calls that the daemon refuses because it stops may wait for the next one; if so, they are held from now
     * on.
     */
    drain() {
        if (!this.#carrier?.canReopen || this.#finalReason || this.#isClosing) return false;
        this.#outbox.isHeld = true;
        // A daemon that hands its sessions on to the next one keeps the connection, and says nothing when it goes on.
        this.#resuming ??= this.#timers.after(resumeDelay, () => this.#resume());
        return true;
    }

    #resume() {
        this.#resuming = undefined;
        this.#session.resumed();
        this.#outbox.isHeld = false;
        this.#outbox.flush();
    }

    /** The session is being closed on purpose: there shall be no next one. */
    endsOnPurpose(reason) {
        this.#finalReason ??= reason;
        // Behind a container no end of a connection is seen.
        if (this.#carrier && !this.#carrier.awaitsHello) this.#lost(reason);
    }

    /** A container has lost the session and has begun a new one over the same carrier. */
    renew() {
        if (this.state !== "open") return;
        this.#outbox.detach();
        this.#session.lost(connectionLost("the container's connection ended"));
        this.#outbox.attach(this.#carrier);
        this.hello = undefined;
        this.#change("connecting");
        if (this.#carrier) this.#beginSession();
    }

    #lost(error) {
        const carrier = this.#carrier;
        this.#carrier = undefined;
        this.#limit?.cancel();
        this.#resuming?.cancel();
        this.#resuming = undefined;
        this.#outbox.detach();
        carrier?.destroy();
        if (this.#isClosing) return this.#finish(this.#finalReason);
        if (this.state === "open") this.#backoff.connectedFor(this.#timers.now() - this.#openedAt);
        // What was never open was not lost.
        const wasRefused = this.state === "connecting" && error.code === "session.closed";
        const reason = this.#finalReason ?? this.#lastProblem ?? (wasRefused ? unreachable(error.message) : error);
        this.hello = undefined;
        this.#session.lost(reason);
        // The queue of new connections being full says nothing about the daemon but that it is busy.
        if (reason.cause?.code !== "EAGAIN") {
            for (const waiter of this.#openWaiters.splice(0)) waiter.reject(reason);
        }
        // A listener may have closed the bridge meanwhile.
        if (this.#isClosing) return this.#finish(this.#finalReason);
        if (this.#finalReason || !carrier?.canReopen) return this.#finish(reason);
        const delay = this.#backoff.next();
        this.#retry = this.#timers.after(delay, () => this.#attempt());
        this.#change("waiting", { error: reason, delay });
    }

    // The end.

    /** Delivers what has been written to the outbox, and ends. Resolves when it has; a second at the latest. */
    close() {
        if (this.state === "closed") return Promise.resolve();
        const done = new Promise((resolve) => this.#closeWaiters.push(resolve));
        if (this.#isClosing) return done;
        this.#isClosing = true;
        this.#finalReason = closedHere();
        this.#retry?.cancel();
        if (this.state !== "open") {
            this.#lost(this.#finalReason);
            return done;
        }
        this.#limit = this.#timers.after(closeTimeout, () => this.#lost(this.#finalReason));
        this.#outbox.write();
        this.#endWhenWritten();
        return done;
    }

    #drained() {
        this.#outbox.drained();
        if (this.#isClosing) this.#endWhenWritten();
    }

    #endWhenWritten() {
        if (this.#outbox.isEmpty || this.#outbox.isHeld) this.#carrier?.end();
    }

    #finish(reason) {
        if (this.state === "closed") return;
        this.#finalReason = reason;
        this.#limit?.cancel();
        this.#retry?.cancel();
        this.#session.closed(reason);
        this.#change("closed", { error: reason });
        for (const waiter of this.#openWaiters.splice(0)) waiter.reject(reason);
        for (const resolve of this.#closeWaiters.splice(0)) resolve();
    }

    keepAlive(keeps) {
        this.#keepsAlive = keeps;
        this.#carrier?.keepAlive(keeps);
    }

    #change(state, details = {}) {
        this.state = state;
        this.#session.changed({ state, ...details });
    }
}
