// The page: shows the notes, and passes on the typed text. All use of the bridge is in notes.js.

import { NoteConflict, Notes } from "./notes.js";

/** The pause in typing after which a note is saved. */
const pauseMs = 500;

const notes = new Notes(globalThis.WebBridge);
const list = document.querySelector("#notes");
const empty = document.querySelector("#empty");
const problem = document.querySelector("#problem");
const items = new Map();
let wasLive = false;

/** One note on the page. Typed text stays until it is saved, whatever arrives meanwhile. */
class Item {
    #key;
    /** The note on which the typing is based. */
    #seen;
    #isSaving = false;
    #timer = undefined;
    #text = element("textarea", { rows: 2, ariaLabel: "Note" });
    #conflict = element("div", { className: "conflict", hidden: true });

    constructor(note) {
        this.#key = note.key;
        this.element = element("li", {}, this.#text,
            element("button", { textContent: "Delete", onclick: () => this.#remove() }), this.#conflict);
        this.#text.addEventListener("input", () => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.save(), pauseMs);
            this.#mark();
        });
        this.#text.addEventListener("change", () => this.save());
        this.#show(note);
    }

    get isUnsaved() {
        return this.#text.value !== this.#seen.text || !this.#conflict.hidden;
    }

    /** Updates the note; undefined if it was deleted. Returns whether the item must still be shown. */
    update(note) {
        if (!this.isUnsaved && note) this.#show(note);
        return note !== undefined || this.isUnsaved;
    }

    async save() {
        clearTimeout(this.#timer);
        if (this.#isSaving || !this.#conflict.hidden || !this.isUnsaved) return;
        this.#isSaving = true;
        const text = this.#text.value;
        await this.#attempt(async () => this.#saved(await notes.edit(this.#key, text, this.#seen.version)));
        this.#isSaving = false;
        // The text was changed meanwhile.
        if (this.#text.value !== text) this.save();
    }

    async #remove() {
        await this.#attempt(async () => {
            await notes.remove(this.#key, this.#seen.version);
            this.#discard();
        }, (conflict) => {
            this.#show(conflict.theirs);
            showProblem(`Not deleted: ${conflict.message} Look at it, and delete it again.`);
        });
    }

    async #attempt(action, settle = (conflict) => this.#ask(conflict)) {
        try {
            await action();
            showProblem("");
        } catch (error) {
            if (error instanceof NoteConflict) settle(error);
            else showProblem(`Not saved: ${error.message}`);
        }
        show();
    }

    /** Discards the typed text. */
    #discard() {
        this.#show({ ...this.#seen, text: this.#text.value });
    }

    /** Asks the user which of the two versions to keep. */
    #ask({ message, theirs }) {
        const choose = (action) => async () => {
            this.#conflict.hidden = true;
            await this.#attempt(action);
        };
        const keep = async () => {
            const text = this.#text.value;
            this.#saved(await (theirs ? notes.edit(this.#key, text, theirs.version)
                : notes.add(text, this.#key, this.#seen.created)));
        };
        this.#conflict.replaceChildren(
            element("p", { textContent: theirs ? `${message} There it says: ${theirs.text}` : message }),
            element("button", { textContent: "Keep mine", onclick: choose(keep) }),
            element("button", {
                textContent: "Take theirs",
                onclick: choose(() => (theirs ? this.#show(theirs) : this.#discard())),
            }));
        this.#conflict.hidden = false;
        this.#mark();
    }

    #show(note) {
        this.#seen = note;
        // If the text is the same already, the cursor keeps its position.
        if (this.#text.value !== note.text) this.#text.value = note.text;
        this.#mark();
    }

    #saved(note) {
        this.#seen = note;
        this.#mark();
    }

    #mark() {
        this.#text.classList.toggle("unsaved", this.isUnsaved);
    }
}

function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

function showProblem(message) {
    problem.textContent = message;
    problem.hidden = message === "";
}

/** Updates the page to the stored notes. */
function show() {
    document.querySelector("#state").textContent = notes.isLive ? "live" : "not connected";
    for (const note of notes.list()) {
        if (!items.has(note.key)) items.set(note.key, new Item(note));
    }
    for (const [key, item] of items) {
        if (item.update(notes.get(key))) continue;
        items.delete(key);
        item.element.remove();
    }
    // Items at their place are not moved: moving one would remove the focus. The page shows that there are no notes
    // only once the table has been read.
    empty.hidden = !notes.isLive || items.size > 0;
    const order = notes.list().map(({ key }) => items.get(key).element);
    order.forEach((child, index) => {
        if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null);
    });
    if (notes.isLive && !wasLive) for (const item of items.values()) item.save();
    wasLive = notes.isLive;
}

document.querySelector("#new").addEventListener("submit", async (event) => {
    event.preventDefault();
    const input = event.target.elements.text;
    const text = input.value;
    input.value = "";
    try {
        await notes.add(text);
        showProblem("");
    } catch (error) {
        input.value ||= text;
        showProblem(`Not saved: ${error.message}`);
    }
});
notes.onChange(show);
notes.onProblem((error) => showProblem(`The notes cannot be read: ${error.message}`));
notes.open();
