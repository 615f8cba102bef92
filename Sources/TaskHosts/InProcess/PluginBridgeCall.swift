import BridgeJSON
import CTaskPlugin
import PluginInterface
import TaskRuntime

/// Converts a plugin's call of another task from the form of the interface to that of the runtime.
enum PluginBridgeCall {
    /// - Parameter receiver: The plugin's receiver, which holds the loop thread while the plugin gets the outcome.
    static func make(
        _ request: UnsafePointer<trestle_outgoing_call>, _ instance: PluginInstance, _ runtime: TaskRuntime,
        _ receiver: PluginReceiver
    ) -> CallHandle {
        // The plugin gets its context back unchanged, on this thread.
        let context = request.pointee.context
        let done = request.pointee.done
        let progress = request.pointee.progress
        return withPadding(request.pointee.options.buffer.isEmpty ? literal("{}") : request.pointee.options.buffer) {
            options in
            runtime.call(
                PluginCall(
                    parent: request.pointee.parent == 0 ? nil : CallHandle(rawValue: request.pointee.parent),
                    task: request.pointee.task.buffer, options: options,
                    session: request.pointee.session == 0 ? nil : request.pointee.session,
                    deadline: deadline(request.pointee.timeout_ns),
                    onProgress: progress.map { progress in
                        { sequence, value in
                            let holder = receiver.hold()
                            withPadding(value) { progress(context, sequence, trestle_bytes($0)) }
                            receiver.release(to: holder)
                        }
                    },
                    completion: { outcome in
                        let holder = receiver.hold()
                        defer { receiver.release(to: holder) }
                        switch outcome {
                        case .result(let result): withPadding(result) { done?(context, trestle_bytes($0), nil) }
                        case .failure(let error): error.withForeign { done?(context, trestle_bytes(), $0) }
                        }
                    }),
                by: instance)
        }
    }

    /// Calls `body` with a copy that is readable past its end, as the interface guarantees.
    private static func withPadding<T>(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> T) -> T {
        withUnsafeTemporaryAllocation(byteCount: bytes.count + Int(TRESTLE_PADDING), alignment: 16) { copy in
            copy.initializeMemory(as: UInt8.self, repeating: 0)
            copy.copyMemory(from: bytes)
            return body(UnsafeRawBufferPointer(rebasing: copy[..<bytes.count]))
        }
    }

    private static func deadline(_ nanoseconds: Int64) -> TaskDeadline {
        switch nanoseconds {
        case 0: .standard
        case ..<0: .none
        default: .after(.nanoseconds(nanoseconds))
        }
    }
}
