// The notes of a page, stored by the tasks of Persistence: reads, writes, and keeps them the same as on other pages. It
// uses neither a document nor a carrier, only a bridge, so it runs in Node and in a page.

const events = ["record.changed", "cursor.expired", "bridge.events_dropped"];
/** For calls that may be repeated without harm, as all calls below. */
const again = { retry: "transient" };
/** The time until the next attempt after the notes could not be read. */
const retryMs = 1000;

/** Another program changed the note first. `theirs` is the note now; undefined if it was deleted. */
export class NoteConflict extends Error {
    constructor(theirs) {
        super(theirs ? "The note was changed elsewhere meanwhile." : "The note was deleted elsewhere meanwhile.");
        this.theirs = theirs;
    }
}

export class Notes {
    #bridge;
    #table;
    /** Key → version and record; without a record if the note was deleted as of that version. */
    #known = new Map();
    /** All changes up to this version of the store have been received; undefined if there is no such version. */
    #cursor = undefined;
    #isLive = false;
    /** The pending steps, one after the other, so that changes are applied in their order. */
    #steps = Promise.resolve();
    /** A change was missed: later changes are ignored until the notes have been read again. */
    #isBehind = true;
    #isCatchingUp = false;
    #changeListeners = new Set();
    #problemListeners = new Set();
    #endings = [];
    #retry = undefined;

    /** @param bridge `WebBridge` in a page, or the bridge that `connect` resolved to */
    constructor(bridge, { table = "notes" } = {}) {
        this.#bridge = bridge;
        this.#table = table;
    }

    /** Begins to follow the table, over every connection that the bridge makes. */
    open() {
        this.#endings.push(
            this.#bridge.subscribe(events, (event) => this.#heard(event)),
            this.#bridge.onState(({ state }) => {
                this.#setLive(false);
                if (state === "open") this.#catchUp();
            }));
        this.#catchUp();
    }

    close() {
        clearTimeout(this.#retry);
        for (const end of this.#endings.splice(0)) end();
    }

    /** Returns all notes, the oldest first: `{ key, version, text, created }`. */
    list() {
        return [...this.#known.keys()].map((key) => this.get(key)).filter((note) => note !== undefined)
            .sort((one, other) => one.created - other.created || (one.key < other.key ? -1 : 1));
    }

    get(key) {
        const { version, record } = this.#known.get(key) ?? {};
        return record && { key, version, text: String(record.text ?? ""), created: Number(record.created) || 0 };
    }

    /** Whether changes by others are received immediately. */
    get isLive() {
        return this.#isLive;
    }

    /** Calls the listener at each change of the list or of `isLive`. Returns the function that removes it. */
    onChange(listener) {
        this.#changeListeners.add(listener);
        return () => this.#changeListeners.delete(listener);
    }

    /** Calls the listener with each error that prevents following the notes. */
    onProblem(listener) {
        this.#problemListeners.add(listener);
        return () => this.#problemListeners.delete(listener);
    }

    // Writing. Each function resolves when the change is on disk.

    /** Creates a note. A note that is kept after another page deleted it may use the same key again. */
    async add(text, key = newKey(), created = Date.now()) {
        const record = { text, created };
        // The page chooses the key: if an answer was lost and the call is repeated, there is still one note.
        const { version } = await this.#call("create", { key, record }, again).catch((error) => {
            if (error.code !== "record.exists") throw error;
            return error.data;
        });
        this.#learn(key, version, record);
        return this.get(key);
    }

    /** Changes the text of a note whose version was seen. Throws NoteConflict if it has another version now. */
    async edit(key, text, ifVersion) {
        const record = { ...this.#known.get(key)?.record, text };
        try {
            const { version } = await this.#call("update", { key, patch: { text }, ifVersion }, again);
            this.#learn(key, version, record);
        } catch (error) {
            const theirs = await this.#afterConflict(key, error);
            // If the text is the same, the conflict is this very change, whose answer was lost.
            if (theirs?.text !== text) throw new NoteConflict(theirs);
        }
        return this.get(key);
    }

    /** Deletes a note whose version was seen. Throws NoteConflict if it has another version now. */
    async remove(key, ifVersion) {
        try {
            const { version } = await this.#call("delete", { key, ifVersion }, again);
            this.#learn(key, version);
        } catch (error) {
            const theirs = await this.#afterConflict(key, error);
            if (theirs) throw new NoteConflict(theirs);
        }
    }

    /** Reads the note again if the error reports that it has changed. Returns the note now. */
    async #afterConflict(key, error) {
        if (error.code !== "record.conflict" && error.code !== "record.not_found") throw error;
        await this.#read(key);
        return this.get(key);
    }

    // Following.

    #heard({ event, data }) {
        if (event === "bridge.events_dropped") {
            // Without a count the event is about a new session, which continues after the last change that was applied.
            if (data.count !== null) this.#readAnew();
        } else if (data.table !== this.#table) return;
        else if (event === "cursor.expired") this.#readAnew();
        // Changes after a missed one are received again.
        else this.#then(() => this.#isBehind || this.#changed(data));
    }

    /** The store was replaced by another, or this client was too slow and events were dropped. */
    #readAnew() {
        this.#then(() => {
            this.#isBehind = true;
            this.#cursor = undefined;
            this.#catchUp();
        });
    }

    async #changed({ key, version, change }) {
        if (change === "delete") this.#learn(key, version);
        else if (version > this.#versionOf(key)) await this.#read(key);
        this.#cursor = Math.max(this.#cursor, version);
    }

    /** Reads a note. The deletion of a note is reported by an event. */
    async #read(key) {
        try {
            const { version, record } = await this.#call("read", { key }, again);
            this.#learn(key, version, record);
        } catch (error) {
            if (error.code !== "record.not_found") throw error;
            this.#learn(key, this.#versionOf(key));
        }
    }

    /** Catches up after the pending steps. */
    #catchUp() {
        if (this.#isCatchingUp) return;
        this.#isCatchingUp = true;
        this.#then(async () => {
            this.#isCatchingUp = false;
            this.#isBehind = true;
            if (!await this.#resume()) await this.#load();
            this.#isBehind = false;
            this.#setLive(true);
        });
    }

    /** Requests the changes after the last one applied: they arrive as events, in order. False if the daemon does not
       have them. */
    async #resume() {
        if (this.#cursor === undefined) return false;
        try {
            await this.#call("watch", { since: this.#cursor }, again);
            return true;
        } catch (error) {
            if (error.code === "cursor.expired") return false;
            throw error;
        }
    }

    /** Reads the whole table. It is watched first: changes meanwhile arrive as events, which wait their turn. */
    async #load() {
        const { version } = await this.#call("watch", {}, again);
        const found = new Map();
        let cursor;
        do {
            const page = await this.#call("query", { cursor }, again);
            for (const { key, ...note } of page.records) found.set(key, note);
            cursor = page.cursor;
        } while (cursor !== undefined);
        this.#known = found;
        this.#cursor = version;
        this.#notify();
    }

    /** Adds a step after the pending ones. */
    #then(step) {
        this.#steps = this.#steps.then(step).catch((error) => {
            this.#isBehind = true;
            this.#setLive(false);
            // The next connection continues after the last change that was applied.
            if (error.code === "session.closed" && this.#bridge.state !== "open") return;
            this.#cursor = undefined;
            clearTimeout(this.#retry);
            if (this.#endings.length > 0) this.#retry = setTimeout(() => this.#catchUp(), retryMs);
            inform(this.#problemListeners, error);
        });
    }

    // The stored notes.

    #versionOf(key) {
        return this.#known.get(key)?.version ?? 0;
    }

    /** Stores a note. Answers and events overtake each other, so the newest version of each note counts. */
    #learn(key, version, record) {
        const known = this.#versionOf(key);
        if (version < known || (version === known && record)) return;
        this.#known.set(key, { version, record });
        this.#notify();
    }

    #setLive(isLive) {
        if (isLive === this.#isLive) return;
        this.#isLive = isLive;
        this.#notify();
    }

    #notify() {
        inform(this.#changeListeners);
    }

    #call(task, options, settings) {
        return this.#bridge.call(`persistence.${task}`, { table: this.#table, ...options }, settings);
    }
}

/** An error in a listener does not affect the others. */
function inform(listeners, ...values) {
    for (const listener of listeners) {
        try {
            listener(...values);
        } catch (error) {
            console.error(error);
        }
    }
}

/** The key need not be secret, only unique. */
function newKey() {
    return Array.from({ length: 2 }, () => Math.random().toString(36).slice(2).padEnd(11, "0")).join("");
}
