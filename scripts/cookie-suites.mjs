#!/usr/bin/env node
// cookie-suites.mjs [curl | wpt]: runs cookie tests of other projects through the plugin Cookies of a real daemon: both
// suites, or the given one. It prints each test with an unexpected result, and the score.
//
// wpt: the attribute tests of web-platform-tests, each a list of Set-Cookie values and the resulting header Cookie.
// curl: the tests with the keyword cookies whose tool writes a file of cookies: the header Cookie of each request, and
// the file at the end, without order.
//
// TRESTLE_BIN is the folder with the daemon and its plugins (.build/debug), TRESTLE_SUITES the one with the suites
// (../shared/suites, then .build/suites; scripts/fetch-suites fetches them).

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folders = [process.env.TRESTLE_SUITES, join(root, "../shared/suites"), join(root, ".build/suites")];
const binaries = process.env.TRESTLE_BIN ?? join(root, ".build/debug");
const { connect, BridgeError } = await import(join(root, "Clients/JavaScript/src/index.js"));
const { untilReady } = await import(join(root, "Clients/JavaScript/test/support/daemon.mjs"));

const names = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "cookie-suites-"));
let daemon;
try {
    const bridge = await startDaemon();
    const cookies = makeJar(bridge);
    if (names.length === 0 || names.includes("wpt")) await runAttributes(cookies);
    if (names.length === 0 || names.includes("curl")) await runCurl(cookies);
    await bridge.close();
} finally {
    daemon?.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
}

function suite(name) {
    const folder = folders.filter(Boolean).map((folder) => join(folder, name)).find(existsSync);
    if (!folder) throw new Error(`there is no suite ${name}: scripts/fetch-suites fetches it`);
    return folder;
}

function report(name, differences) {
    const failed = differences.filter(({ difference }) => difference.length > 0);
    for (const { test, difference } of failed) console.log(`${name} ${test}:\n    ${difference.join("\n    ")}`);
    console.log(`${name}: ${differences.length - failed.length} of ${differences.length}`);
}

// MARK: web-platform-tests

async function runAttributes(cookies) {
    const folder = join(suite("wpt"), "cookies/attributes");
    const results = [];
    for (const file of readdirSync(folder).filter((name) => /^[a-z-]+\.html$/.test(name))) {
        for (const test of attributeTests(readFileSync(join(folder, file), "utf8"))) {
            const url = `http://web-platform.test/cookies/resources/${file}`;
            await cookies.clear();
            await cookies.put(url, [test.cookie].flat());
            const header = await cookies.header(url);
            const difference = header === test.expected ? [] : [`- Cookie: ${test.expected}`, `+ Cookie: ${header}`];
            results.push({ test: `${file}: ${test.name}`, difference });
        }
    }
    report("wpt", results);
}

/** The tests that a page defines with httpCookieTest; a page for browsers only defines none. */
function attributeTests(page) {
    const tests = [];
    const httpCookieTest = (cookie, expected, name) => tests.push({ cookie, expected, name });
    for (const [, script] of page.matchAll(/<script>([^]*?)<\/script>/g)) {
        if (script.includes("httpCookieTest")) runInNewContext(script, { httpCookieTest });
    }
    return tests;
}

// MARK: curl

async function runCurl(cookies) {
    const folder = join(suite("curl"), "tests/data");
    const results = [];
    for (const file of readdirSync(folder).filter((name) => /^test\d+$/.test(name))) {
        const test = curlTest(readFileSync(join(folder, file), "latin1"), file.slice(4));
        if (!test) continue;
        let difference;
        try {
            difference = await curlDifference(test, cookies);
        } catch (error) {
            if (!(error instanceof BridgeError)) throw error;
            difference = [`+ ${error.code}: ${error.message}`];
        }
        results.push({ test: file, difference });
    }
    report("curl", results);
}

/** A test of the curl tool whose replies set cookies, and that checks a cookie file; undefined for others. */
function curlTest(text, number) {
    const source = expanded(text, number);
    const part = (name, within = source) => new RegExp(`<${name}( [^>]*)?>\n([^]*?)</${name}>`).exec(within)?.[2];
    const [client, verify, reply] = ["client", "verify", "reply"].map((name) => part(name) ?? "");
    const file = part("file", verify);
    const isOurs = /^cookies$/m.test(part("keywords") ?? "") && !part("tool", client) && /^Set-Cookie:/im.test(reply);
    if (!isOurs || !file?.startsWith("# Netscape")) return undefined;
    const urls = [...(part("command", client) ?? "").matchAll(/https?:\/\/[^\s"]+/g)].map(([url]) => url);
    const heads = (part("protocol", verify) ?? "").split(/^(?=(?!CONNECT)[A-Z]+ \S+ HTTP)/m)
        .filter((head) => /^Host: /m.test(head));
    const requests = heads.map((head, index) => {
        const path = head.split(" ")[1];
        const scheme = (urls[index] ?? urls[0] ?? "http").split(":")[0];
        return {
            url: path.startsWith("http") ? path : `${scheme}://${/^Host: (.*)$/m.exec(head)[1]}${path}`,
            cookie: /^Cookie: (.*)$/m.exec(head)?.[1] ?? "",
        };
    });
    // A test that does not check its requests has one request for each of its URLs.
    const all = requests.length > 0 ? requests : urls.map((url) => ({ url }));
    const lines = (url) => {
        // The last four digits of a path name the reply.
        const name = url.split("?")[0].split("/").pop().slice(number.length);
        const data = part(Number(name) ? `data${Number(name)}` : "data", reply)?.replace(/\n[ \t]+(?=\S)/g, " ") ?? "";
        return [...data.matchAll(/^Set-Cookie:(.*)$/gim)].map((line) => line[1].trim());
    };
    return { given: part("file", client), file, requests: all.map((one) => ({ ...one, lines: lines(one.url) })) };
}

/** Expands the variables and conditions of curl's tests. */
function expanded(text, number) {
    const values = { TESTNUMBER: number, HOSTIP: "127.0.0.1", HTTPPORT: "8990", HTTPSPORT: "8991", TAB: "\t", CR: "" };
    return text.replace(/\r/g, "")
        .replace(/^%if [^\n]*\n([^]*?)(?:^%else\n[^]*?)?^%endif\n/gm, "$1")
        .replace(/%hex\[(.*?)\]hex%/g, (_, bytes) =>
            bytes.replace(/%(..)/g, (_, hex) => String.fromCharCode(`0x${hex}`)))
        .replace(/%repeat\[(\d+) x (.*?)\]%/g, (_, count, piece) => piece.repeat(count))
        .replace(/%days\[(\d+)\]/g, (_, days) => `${Math.floor(Date.now() / 1000) + days * 86_400}`)
        .replace(/%(TESTNUMBER|HOSTIP|HTTPPORT|HTTPSPORT|TAB|CR)/g, (_, name) => values[name]);
}

async function curlDifference(test, cookies) {
    const difference = [];
    await cookies.clear();
    if (test.given?.includes("\t")) await cookies.import(test.given);
    for (const { url, cookie, lines } of test.requests) {
        const header = await cookies.header(url);
        if (cookie !== undefined && header !== cookie) difference.push(`- Cookie: ${cookie}`, `+ Cookie: ${header}`);
        await cookies.put(url, lines);
    }
    const [expected, stored] = [rows(test.file), rows(await cookies.export())];
    const missing = expected.filter((row) => !stored.includes(row)).map((row) => `- ${row}`);
    return [...difference, ...missing, ...stored.filter((row) => !expected.includes(row)).map((row) => `+ ${row}`)];
}

/** The cookies of a Netscape file. The expiry time is not compared: the tests limit it to 400 days from now. */
function rows(text) {
    const lines = text.split("\n").filter((line) => line.includes("\t") && !/^#(?!HttpOnly_)/.test(line));
    return lines.map((line) => {
        const columns = line.split("\t");
        columns[0] = columns[0].replace(/(?<=^(#HttpOnly_)?).*/, (host) => host.toLowerCase());
        columns[4] = columns[4] === "0" ? "session" : "lasting";
        return columns.join(" ").slice(0, 120);
    });
}

// MARK: The daemon

/** Wraps the daemon's cookies, in which characters are bytes. */
function makeJar(bridge) {
    return {
        async clear() {
            try {
                await bridge.call("cookies.delete", { all: true });
            } catch (error) {
                if (error.code !== "cookie.not_found") throw error;
            }
        },
        async put(url, lines) {
            const linesBase64 = lines.map((line) => Buffer.from(line, "latin1").toString("base64"));
            if (lines.length > 0) await bridge.call("cookies.put", { request: { url }, linesBase64 });
        },
        async header(url) {
            return (await bridge.call("cookies.take", { url })).header ?? "";
        },
        async import(text) {
            await bridge.call("cookies.import", { format: "netscape", text });
        },
        async export() {
            return (await bridge.call("cookies.export", { format: "netscape" })).text;
        },
    };
}

async function startDaemon() {
    const settings = join(directory, "trestled.toml");
    writeFileSync(settings, "");
    const socket = join(directory, "s.sock");
    const flags = ["--config", settings, "--socket", socket, "--state-dir", join(directory, "state")];
    daemon = spawn(
        join(binaries, "trestled"), [...flags, "--plugin-dir", binaries], { stdio: ["ignore", "ignore", "pipe"] });
    await untilReady(daemon);
    return await connect({ socket });
}
