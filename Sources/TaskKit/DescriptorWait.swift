internal import CTaskPlugin
internal import Glibc

extension PluginContext {
    /// Waits until a descriptor is readable or its other end is closed: a socket, a pipe, inotify, a device. It
    /// occupies no thread. The plugin keeps ownership of the descriptor, which is made non-blocking. Several tasks may
    /// wait for it at once. Any thread.
    ///
    /// - Throws: `BridgeError` if the descriptor cannot be waited for, such as that of a file; `CancellationError` if
    ///   the Swift task is cancelled.
    public func readable(_ descriptor: Int32) async throws {
        try await DescriptorWait(descriptor, TRESTLE_WATCH_READABLE, runtime.host).wait()
    }

    /// Waits until a descriptor is writable or its other end is closed; otherwise as ``readable(_:)``.
    public func writable(_ descriptor: Int32) async throws {
        try await DescriptorWait(descriptor, TRESTLE_WATCH_WRITABLE, runtime.host).wait()
    }
}

extension Call {
    /// Waits until a descriptor is readable or the call is cancelled: see `PluginContext.readable`.
    public func readable(_ descriptor: Int32) async throws { try await plugin.readable(descriptor) }

    /// Waits until a descriptor is writable or the call is cancelled: see `PluginContext.writable`.
    public func writable(_ descriptor: Int32) async throws { try await plugin.writable(descriptor) }
}

/// A Swift task that waits for a descriptor.
///
/// `@unchecked`: the constants are set before it is passed to the loop thread; the variables are used only there.
final class DescriptorWait: @unchecked Sendable {  // loop thread; see above
    private let descriptor: Int32
    private let events: UInt32
    private let host: Host
    private var watch: Int64 = 0
    private var continuation: CheckedContinuation<Result<Void, any Error>, Never>?
    private var isCancelled = false

    init(_ descriptor: Int32, _ events: UInt32, _ host: Host) {
        (self.descriptor, self.events, self.host) = (descriptor, events, host)
    }

    func wait() async throws {
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in host.onLoopThread { self.start(continuation) } }
        } onCancel: {
            // Never immediately: the handler runs while Swift updates its record of the task that this would resume.
            host.post { self.cancel() }
        }.get()
    }

    private func start(_ continuation: CheckedContinuation<Result<Void, any Error>, Never>) {
        self.continuation = continuation
        if isCancelled { return end(.failure(CancellationError())) }
        let argument = Unmanaged.passRetained(self)
        watch = host.watch(
            descriptor, events,
            // `!`: the argument given below.
            { argument, _ in Unmanaged<DescriptorWait>.fromOpaque(argument!).takeRetainedValue().end(.success(())) },
            argument.toOpaque())
        guard watch < 0 else { return }
        argument.release()
        let reason = String(cString: strerror(Int32(-watch)))
        end(.failure(BridgeError(.internal, "the descriptor \(descriptor) cannot be watched: \(reason)")))
    }

    private func cancel() {
        isCancelled = true
        guard continuation != nil else { return }
        host.unwatch(watch)
        // Releases the reference that the watch held.
        Unmanaged.passUnretained(self).release()
        end(.failure(CancellationError()))
    }

    private func end(_ result: Result<Void, any Error>) {
        continuation?.resume(returning: result)
        continuation = nil
    }
}
