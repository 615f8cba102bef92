// Handles that `using` and `await using` end, where the platform knows these.

/** Has the handle end with its scope. `name` is `dispose` or `asyncDispose`. */
export function addDisposal(handle, name, end) {
    const symbol = Symbol[name];
    if (symbol) Object.defineProperty(handle, symbol, { value: () => end(), configurable: true });
}
