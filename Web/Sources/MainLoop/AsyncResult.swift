public import CWebKitGTK

/// A closure that gets the result of an asynchronous function of GLib's once.
@MainActor
public final class AsyncResult {
    private let body: @MainActor (OpaquePointer) -> Void

    private init(_ body: @escaping @MainActor (OpaquePointer) -> Void) { self.body = body }

    /// What is handed to C beside ``callback``, which releases it.
    ///
    /// - Parameter body: What gets the result, on the main thread.
    public static func pointer(_ body: @escaping @MainActor (OpaquePointer) -> Void) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(AsyncResult(body)).toOpaque()
    }

    /// What is handed to C with a pointer of ``pointer(_:)``.
    public nonisolated static let callback: GAsyncReadyCallback = { _, outcome, data in
        guard let data, let outcome else { return }
        let box = Unmanaged<AsyncResult>.fromOpaque(data)
        // Results come on the main thread, whose loop is the default one; C keeps the result until this returns.
        nonisolated(unsafe) let result = outcome
        MainActor.assumeIsolated {
            let body = box.takeRetainedValue().body
            TurnWatch.run("result") { body(result) }
        }
    }
}
