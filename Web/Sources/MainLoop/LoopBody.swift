/// A closure that C holds as a pointer: retained by ``retained``, called by ``call(_:)``, given up by ``release``.
@MainActor
final class LoopBody {
    /// What it does, for people.
    private let name: String
    private let body: @MainActor () -> Void

    init(_ name: String, _ body: @escaping @MainActor () -> Void) {
        self.name = name
        self.body = body
    }

    /// The pointer; its owner calls ``release`` once.
    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// Calls the closure. On the main thread, where GLib's loop runs.
    nonisolated static func call(_ pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { return }
        // The pointer is one of `retained`.
        let box = Unmanaged<LoopBody>.fromOpaque(pointer)
        // The closure may cancel its source, which releases the box: it stays until the call is over.
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
