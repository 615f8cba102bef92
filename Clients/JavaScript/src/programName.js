// The name of the running program.

/** Returns the name of the file that Node runs; `undefined` in pages, or if Node runs no file. */
export function programName() {
    const path = globalThis.process?.argv?.[1];
    return typeof path === "string" && path !== "" ? path.split(/[\\/]/).pop() : undefined;
}
