/// A closure that C stores as a pointer: retained by ``retained``, called by ``call(_:)``, released by ``release``.
@MainActor
final class LoopBody {
    /// The name of its work, for people.
    private let name: String
    private let body: @MainActor () -> Void

    init(_ name: String, _ body: @escaping @MainActor () -> Void) {
        self.name = name
        self.body = body
    }

    /// The pointer; its owner calls ``release`` once.
    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// Calls the closure. Main thread, on which GLib's loop runs.
    nonisolated static func call(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        // The pointer is one of `retained`.
        let box = Unmanaged<LoopBody>.fromOpaque(pointer)
        // The closure may cancel its source, which releases the box: it is retained until the call ends.
        MainActor.assumeIsolated {
            let callback = box.takeUnretainedValue()
            TurnWatch.run(callback.name, callback.body)
        }
    }

    nonisolated static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
        guard let pointer else { return }
        Unmanaged<AnyObject>.fromOpaque(pointer).release()
    }
}
