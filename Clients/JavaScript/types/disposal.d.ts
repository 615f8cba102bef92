// The symbols of `using`. Newer TypeScript has them in `esnext.disposable`, Node in `@types/node`; the same declaration
// may stand several times.
export {};

declare global {
    interface SymbolConstructor {
        readonly dispose: unique symbol;
        readonly asyncDispose: unique symbol;
    }
}
