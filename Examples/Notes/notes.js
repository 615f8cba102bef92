// The notes of a page, kept by the tasks of Persistence: what is shown, what is written, and how it stays the same as
// what other pages have. It knows no document and no carrier, only a bridge: in Node as in a page.

const events = ["record.changed", "cursor.expired", "bridge.events_dropped"];
/** For calls that do no harm when they are made twice: those below are made so that none does. */
const again = { retry: "transient" };
/** How long after the notes could not be read it is tried again. */
const retryMs = 1000;

/** Another program changed the note first. `theirs` is what it is now; undefined: it was deleted. */
export class NoteConflict extends Error {
    constructor(theirs) {
        super(theirs ? "The note was changed elsewhere meanwhile." : "The note was deleted elsewhere meanwhile.");
        this.theirs = theirs;
    }
}

export class Notes {
    #bridge;
    #table;
    /** Key → version and record; without a record: deleted, as of that version. */
    #known = new Map();
    /** All changes up to this version of the store are known; undefined: none are. */
    #cursor = undefined;
    #isLive = false;
    /** What has to be done, one after the other: so changes are taken in the order in which they were made. */
    #steps = Promise.resolve();
    /** A change was missed: those after it are passed over until it has been caught up with. */
    #isBehind = true;
    #isCatchingUp = false;
    #changeListeners = new Set();
    #problemListeners = new Set();
    #endings = [];
    #retry = undefined;

    /** @param bridge `WebBridge` in a page, or what `connect` resolved to */
    constructor(bridge, { table = "notes" } = {}) {
        this.#bridge = bridge;
        this.#table = table;
    }

    /** Begins to follow the table. It goes on over every connection that the bridge makes. */
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

    /** All notes, the oldest first: `{ key, version, text, created }`. */
    list() {
        return [...this.#known.keys()].map((key) => this.get(key)).filter((note) => note !== undefined)
            .sort((one, other) => one.created - other.created || (one.key < other.key ? -1 : 1));
    }

    get(key) {
        const { version, record } = this.#known.get(key) ?? {};
        return record && { key, version, text: String(record.text ?? ""), created: Number(record.created) || 0 };
    }

    /** Whether what others change is known immediately. */
    get isLive() {
        return this.#isLive;
    }

    /** Reports each change of the list, or of `isLive`. Returns the function that ends it. */
    onChange(listener) {
        this.#changeListeners.add(listener);
        return () => this.#changeListeners.delete(listener);
    }

    /** Reports why the notes cannot be followed. */
    onProblem(listener) {
        this.#problemListeners.add(listener);
        return () => this.#problemListeners.delete(listener);
    }

    // Writing. Each resolves when the change is on disk.

    /** Makes a note. Where another was deleted that is wanted all the same, it may have its key. */
    async add(text, key = newKey(), created = Date.now()) {
        const record = { text, created };
        // The key is chosen here: where an answer was lost, and the call is made again, there are not two notes.
        const { version } = await this.#call("create", { key, record }, again).catch((error) => {
            if (error.code !== "record.exists") throw error;
            return error.data;
        });
        this.#learn(key, version, record);
        return this.get(key);
    }

    /** Changes the text of a note of which this version was seen. Throws NoteConflict where it has another by now. */
    async edit(key, text, ifVersion) {
        const record = { ...this.#known.get(key)?.record, text };
        try {
            const { version } = await this.#call("update", { key, patch: { text }, ifVersion }, again);
            this.#learn(key, version, record);
        } catch (error) {
            const theirs = await this.#afterConflict(key, error);
            // It was this very change, whose answer was lost.
            if (theirs?.text !== text) throw new NoteConflict(theirs);
        }
        return this.get(key);
    }

    /** Deletes a note of which this version was seen. Throws NoteConflict where it has another by now. */
    async remove(key, ifVersion) {
        try {
            const { version } = await this.#call("delete", { key, ifVersion }, again);
            this.#learn(key, version);
        } catch (error) {
            const theirs = await this.#afterConflict(key, error);
            if (theirs) throw new NoteConflict(theirs);
        }
    }

    /** What a note is by now, where this error says that it is not what it was. */
    async #afterConflict(key, error) {
        if (error.code !== "record.conflict" && error.code !== "record.not_found") throw error;
        await this.#read(key);
        return this.get(key);
    }

    // Following.

    #heard({ event, data }) {
        if (event === "bridge.events_dropped") {
            // Without a count it is about a new session, which goes on from the last change that was taken.
            if (data.count !== null) this.#readAnew();
        } else if (data.table !== this.#table) return;
        else if (event === "cursor.expired") this.#readAnew();
        // Those that come after one that was missed come again.
        else this.#then(() => this.#isBehind || this.#changed(data));
    }

    /** The store was replaced by another, or this end was too slow and events were not sent. */
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

    /** Reads a note. One that no longer exists has an event of its own. */
    async #read(key) {
        try {
            const { version, record } = await this.#call("read", { key }, again);
            this.#learn(key, version, record);
        } catch (error) {
            if (error.code !== "record.not_found") throw error;
            this.#learn(key, this.#versionOf(key));
        }
    }

    /** Once what came before is done. */
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

    /** Asks for the changes after the last one taken: they come as events, in order. False: the daemon does not know them. */
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

    /** Reads the whole table. It is watched before: what is changed meanwhile comes as events, which wait their turn. */
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

    /** Does something after what is to be done already. */
    #then(step) {
        this.#steps = this.#steps.then(step).catch((error) => {
            this.#isBehind = true;
            this.#setLive(false);
            // The next connection goes on from the last change that was taken.
            if (error.code === "session.closed" && this.#bridge.state !== "open") return;
            this.#cursor = undefined;
            clearTimeout(this.#retry);
            if (this.#endings.length > 0) this.#retry = setTimeout(() => this.#catchUp(), retryMs);
            inform(this.#problemListeners, error);
        });
    }

    // What is known.

    #versionOf(key) {
        return this.#known.get(key)?.version ?? 0;
    }

    /** Answers and events overtake each other: of each note the newest version counts. */
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

/** What is wrong with a listener does not concern the others. */
function inform(listeners, ...values) {
    for (const listener of listeners) {
        try {
            listener(...values);
        } catch (error) {
            console.error(error);
        }
    }
}

/** It need not be secret, only no other's. */
function newKey() {
    return Array.from({ length: 2 }, () => Math.random().toString(36).slice(2).padEnd(11, "0")).join("");
}
