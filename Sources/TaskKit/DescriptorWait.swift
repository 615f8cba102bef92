internal import CTaskPlugin
internal import Glibc

extension PluginContext {
    /// Waits until a descriptor can be read, or its other end is gone: a socket, a pipe, inotify, a device. No thread
    /// waits with it. The descriptor stays the plugin's, is made non-blocking, and may be waited for by several at
    /// once. Any thread.
    ///
    /// - Throws: `BridgeError` where the descriptor cannot be waited for, as that of a file; `CancellationError` where
    ///   the Swift task is cancelled.
    public func readable(_ descriptor: Int32) async throws {
        try await DescriptorWait(descriptor, TRESTLE_WATCH_READABLE, runtime.host).wait()
    }

    /// Waits until a descriptor can be written, or its other end is gone; otherwise as ``readable(_:)``.
    public func writable(_ descriptor: Int32) async throws {
        try await DescriptorWait(descriptor, TRESTLE_WATCH_WRITABLE, runtime.host).wait()
    }
}

extension Call {
    /// Waits until a descriptor can be read, or the call is cancelled: see `PluginContext.readable`.
    public func readable(_ descriptor: Int32) async throws { try await plugin.readable(descriptor) }

    /// Waits until a descriptor can be written, or the call is cancelled: see `PluginContext.writable`.
    public func writable(_ descriptor: Int32) async throws { try await plugin.writable(descriptor) }
}

/// A Swift task that waits for a descriptor.
///
/// `@unchecked`: the constants are set before it is handed to the loop thread, the variables are used only there.
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
            // Never immediately: the handler runs inside Swift's bookkeeping of the task that this would resume.
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
        // What the watch held.
        Unmanaged.passUnretained(self).release()
        end(.failure(CancellationError()))
    }

    private func end(_ result: Result<Void, any Error>) {
        continuation?.resume(returning: result)
        continuation = nil
    }
}
