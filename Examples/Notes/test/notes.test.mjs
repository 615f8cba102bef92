// Tests of the notes of several pages in parallel, with a real daemon.

import { readFileSync, rmSync } from "node:fs";
import { test } from "node:test";

import { startDaemon, withoutDaemon } from "../../../Clients/JavaScript/test/support/daemon.mjs";
import { connect } from "../../../Clients/JavaScript/src/index.js";
import { lastFirst } from "../../../Clients/JavaScript/test/support/processes.mjs";
import { NoteConflict, Notes } from "../notes.js";
import { assert, openPages, origin, show, texts, until } from "./pages.mjs";

/** Declares a test of pages that begin with an empty store. */
function testOfPages(name, body, count = 2) {
    test(name, { skip: withoutDaemon }, async (t) => {
        const ending = lastFirst(t);
        const daemon = await startDaemon(ending);
        await body(await openPages(ending, daemon, count), daemon, ending);
    });
}

testOfPages("what one page writes, changes and deletes, the other shows", async ([one, other]) => {
    const milk = await one.notes.add("milk", undefined, 1);
    await one.notes.add("bread", undefined, 2);
    await show([one, other], ["milk", "bread"]);
    await other.notes.edit(milk.key, "oat milk", milk.version);
    await show([one, other], ["oat milk", "bread"]);
    await one.notes.remove(milk.key, one.notes.get(milk.key).version);
    await show([one, other], ["bread"]);
    assert.equal(one.notes.get(milk.key), undefined);
});

testOfPages("of two changes of the same version the second is a conflict, and nothing is overwritten", async ([one, other]) => {
    const { key, version } = await one.notes.add("draft");
    await show([other], ["draft"]);
    await one.notes.edit(key, "of one", version);
    const conflict = await other.notes.edit(key, "of the other", version).catch((error) => error);
    assert.ok(conflict instanceof NoteConflict);
    assert.equal(conflict.theirs.text, "of one");
    await assert.rejects(other.notes.remove(key, version), NoteConflict);
    await show([one, other], ["of one"]);
    // A page that has seen the conflict may overwrite the note.
    await other.notes.edit(key, "of the other", conflict.theirs.version);
    await show([one, other], ["of the other"]);
});

testOfPages("a note that was deleted while it was changed can be had again", async ([one, other]) => {
    const { key, version, created } = await one.notes.add("draft");
    await show([other], ["draft"]);
    await one.notes.remove(key, version);
    const conflict = await other.notes.edit(key, "changed", version).catch((error) => error);
    assert.ok(conflict instanceof NoteConflict);
    assert.equal(conflict.theirs, undefined);
    await other.notes.remove(key, version);
    await other.notes.add("changed", key, created);
    await show([one, other], ["changed"]);
});

testOfPages("a page that was away asks for what it missed, and reads nothing else", async ([one, other]) => {
    const gone = await one.notes.add("gone", undefined, 1);
    const kept = await one.notes.add("kept", undefined, 2);
    await show([other], ["gone", "kept"]);
    other.container.cut();
    await one.notes.remove(gone.key, gone.version);
    await one.notes.edit(kept.key, "changed", kept.version);
    await one.notes.add("new", undefined, 3);
    assert.deepEqual(texts(other), ["gone", "kept"]);
    other.tasks.length = 0;
    await other.container.reconnect();
    await show([other], ["changed", "new"]);
    assert.deepEqual(other.tasks.filter((task) => task.startsWith("persistence.")),
        ["persistence.watch", "persistence.read", "persistence.read"]);
});

testOfPages("pages go on after the daemon was killed and started again, and what was acknowledged is there", async (
    [one, other], daemon,
) => {
    const { key, version } = await one.notes.add("before", undefined, 1);
    await show([other], ["before"]);
    await daemon.stop("SIGKILL");
    const states = [];
    one.notes.onChange(() => states.push(one.notes.isLive));
    const added = one.notes.add("meanwhile", undefined, 2);
    await daemon.start();
    for (const { container } of [one, other]) await container.reconnect();
    await added;
    await show([one, other], ["before", "meanwhile"]);
    assert.ok(states.includes(false) && states.at(-1));
    await other.notes.edit(key, "after", version);
    await show([one, other], ["after", "meanwhile"]);
});

test("over sockets, too, a note that is written while no daemon runs waits for the next", { skip: withoutDaemon }, async (t) => {
    const ending = lastFirst(t);
    const daemon = await startDaemon(ending);
    const bridge = await connect({ socket: daemon.socket });
    ending.after(() => bridge.close());
    const page = { notes: new Notes(bridge) };
    ending.after(() => page.notes.close());
    page.notes.open();
    await until(page, () => page.notes.isLive);
    await daemon.stop();
    await until(page, () => !page.notes.isLive);
    const added = page.notes.add("later");
    await daemon.start();
    await added;
    await until(page, () => page.notes.isLive);
    await show([page], ["later"]);
});

testOfPages("a note whose answer was lost is not written twice", async ([one, other]) => {
    const { container, notes } = one;
    const lose = async (write, expected) => {
        container.hears = () => false;
        const written = write();
        // The daemon has made the change, and the client does not receive the answer.
        await show([other], expected);
        await container.reconnect();
        await written;
        await show([one, other], expected);
        return notes.list()[0];
    };
    let note = await lose(() => notes.add("once"), ["once"]);
    note = await lose(() => notes.edit(note.key, "changed once", note.version), ["changed once"]);
    await lose(() => notes.remove(note.key, note.version), []);
});

testOfPages("an answer that comes behind a newer change does not undo it", async ([one, other]) => {
    const { key, version } = await one.notes.add("draft");
    let answer;
    one.container.hears = (message) => {
        // The answer of the change, and not that of a read.
        if (answer || message.result?.key !== key || message.result.version === version || message.result.record) return true;
        answer = message;
        return false;
    };
    const edited = one.notes.edit(key, "older", version);
    await show([other], ["older"]);
    await other.notes.edit(key, "newer", other.notes.get(key).version);
    await show([one, other], ["newer"]);
    one.container.bridge.container.receive(answer);
    await edited;
    assert.deepEqual(texts(one), ["newer"]);
});

testOfPages("where the store is another than before, the page shows that one and nothing else", async ([one, other], daemon) => {
    for (const text of ["a", "b", "c"]) await one.notes.add(text, undefined, text.charCodeAt());
    await show([one, other], ["a", "b", "c"]);
    const problems = [];
    other.notes.onProblem((error) => problems.push(error));
    await daemon.stop();
    rmSync(daemon.state, { recursive: true });
    await daemon.start();
    await one.container.reconnect();
    await one.notes.add("d");
    await other.container.reconnect();
    await show([one, other], ["d"]);
    assert.deepEqual(problems, []);
});

testOfPages("a page from which events were kept, because it was slow, reads the table again", async ([one, other]) => {
    const { bridge } = one.container;
    one.container.hears = ({ event }) => event !== "record.changed";
    const { key, version } = await other.notes.add("unheard", undefined, 1);
    await other.notes.remove(key, version);
    await other.notes.add("unheard as well", undefined, 2);
    // The answer arrives after the events that the test drops.
    await bridge.call("bridge.ping");
    assert.deepEqual(texts(one), []);
    one.container.hears = () => true;
    bridge.container.receive({ event: "bridge.events_dropped", data: { count: 3 } });
    await show([one], ["unheard as well"]);
    await other.notes.add("heard", undefined, 3);
    await show([one], ["unheard as well", "heard"]);
});

testOfPages("pages show the store that was restored under them, and follow it", async ([one, other], daemon, t) => {
    await one.notes.add("kept", undefined, 1);
    const operator = await connect({ socket: daemon.socket });
    t.after(() => operator.close());
    const backup = await operator.call("persistence.backup");
    const bytes = await new Response(operator.readStream(backup.stream)).arrayBuffer();
    await one.notes.add("gone", undefined, 2);
    await show([one, other], ["kept", "gone"]);
    const { name, done } = await operator.sendStream(new Blob([bytes]));
    await operator.call("persistence.restore", { stream: name });
    await done;
    await show([one, other], ["kept"]);
    await other.notes.add("new", undefined, 3);
    await show([one, other], ["kept", "new"]);
});

testOfPages("more notes than a page of a query are all there, and changes during the reading are not lost", async (
    [one], daemon, t,
) => {
    const operations = Array.from({ length: 350 }, (_, index) => (
        { create: { table: "notes", key: `k${index}`, record: { text: String(index), created: index } } }));
    await one.container.bridge.call("persistence.transaction", { operations });
    // While the next page reads, notes that it has already read are changed and deleted, and one is created.
    const opening = openPages(t, { socket: daemon.socket }, 1);
    const changes = [one.notes.add("new", undefined, 1000)];
    for (let index = 0; index < 350; index += 5) {
        changes.push(one.container.bridge.call("persistence.delete", { table: "notes", key: `k${index}` }));
        changes.push(one.container.bridge.call("persistence.update",
            { table: "notes", key: `k${index + 1}`, patch: { text: "changed" } }));
    }
    const [late] = await opening;
    await Promise.all(changes);
    const expected = Array.from({ length: 350 }, (_, index) => (index % 5 === 1 ? "changed" : String(index)))
        .filter((_, index) => index % 5 !== 0);
    await show([one, late], [...expected, "new"]);
}, 1);

testOfPages("a page whose notes cannot be read says why, and tries again", async ([one]) => {
    const { container, notes } = one;
    const problems = [];
    notes.onProblem((error) => problems.push(error.code));
    let refusals = 1;
    container.inspect = ({ task, callbackId }) => {
        if (task !== "persistence.watch" || refusals === 0) return true;
        refusals -= 1;
        queueMicrotask(() => container.bridge.container.receive({ callbackId, error: { code: "plugin.unavailable", message: "away" } }));
        return false;
    };
    await container.reconnect();
    await until(one, () => !notes.isLive);
    await until(one, () => notes.isLive);
    assert.deepEqual(problems, ["plugin.unavailable"]);
}, 1);

test("the rules beside the page are enough for a user who has no others", { skip: withoutDaemon }, async (t) => {
    const ending = lastFirst(t);
    const file = readFileSync(new URL("../50-notes.toml", import.meta.url), "utf8");
    const daemon = await startDaemon(ending, { rules: file.replaceAll("http://127.0.0.1:8091", origin) });
    const [page] = await openPages(ending, daemon, 1);
    const { key, version } = await page.notes.add("draft");
    await page.notes.edit(key, "changed", version);
    await page.notes.remove(key, page.notes.get(key).version);
    const bridge = await connect({ socket: daemon.socket });
    ending.after(() => bridge.close());
    const may = async (question) => {
        const { allowed, rule } = await bridge.call("bridge.explain", { uid: 4711, groups: [], ...question });
        assert.ok(allowed, `${JSON.stringify(question)}: ${rule}`);
    };
    await may({ task: "bridge.hello", origin: "local" });
    await may({ verb: "origin", name: origin, origin: "local" });
    assert.ok(page.tasks.includes("persistence.watch"));
    for (const task of new Set(page.tasks)) await may({ task, origin });
    for (const name of ["record.changed", "cursor.expired", "bridge.events_dropped"]) {
        await may({ verb: "subscribe", name, origin });
    }
});
