// The symbols of `using`. Newer TypeScript declares them in `esnext.disposable`, Node in `@types/node`. TypeScript
// permits repeated identical declarations.
export {};

declare global {
    interface SymbolConstructor {
        readonly dispose: unique symbol;
        readonly asyncDispose: unique symbol;
    }
}
