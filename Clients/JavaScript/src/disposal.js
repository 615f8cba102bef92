// Support for `using` and `await using`, if the platform has them.

/** Makes `using` or `await using` end the handle with its scope. `name` is `dispose` or `asyncDispose`. */
export function addDisposal(handle, name, end) {
    const symbol = Symbol[name];
    if (symbol) Object.defineProperty(handle, symbol, { value: () => end(), configurable: true });
}
