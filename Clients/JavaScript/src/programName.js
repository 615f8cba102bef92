// The name of the program that runs.

/** The name of the file that Node runs; undefined in pages, and where Node runs no file. */
export function programName() {
    const path = globalThis.process?.argv?.[1];
    return typeof path === "string" && path !== "" ? path.split(/[\\/]/).pop() : undefined;
}
