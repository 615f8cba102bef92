public import CWebKitGTK

/// A closure that receives the result of one asynchronous GLib function, once.
@MainActor
public final class AsyncResult {
    private let body: @MainActor (OpaquePointer) -> Void

    private init(_ body: @escaping @MainActor (OpaquePointer) -> Void) { self.body = body }

    /// Returns the pointer to pass to C together with ``callback``, which releases it.
    ///
    /// - Parameter body: Receives the result, on the main thread.
    public static func pointer(_ body: @escaping @MainActor (OpaquePointer) -> Void) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(AsyncResult(body)).toOpaque()
    }

    /// The C callback to pass with a pointer from ``pointer(_:)``.
    public nonisolated static let callback: GAsyncReadyCallback = { _, outcome, data in
        guard let data, let outcome else { return }
        let box = Unmanaged<AsyncResult>.fromOpaque(data)
        // Results arrive on the main thread, whose loop is the default one; C keeps the result until this returns.
        nonisolated(unsafe) let result = outcome
        MainActor.assumeIsolated {
            let body = box.takeRetainedValue().body
            TurnWatch.run("result") { body(result) }
        }
    }
}
