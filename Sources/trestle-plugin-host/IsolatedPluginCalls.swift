import BridgeJSON
import BridgeMessage
import CTaskPlugin
import Glibc
import PluginInterface

/// The calls that the plugin makes, on their way to the daemon and back. Loop thread only.
final class IsolatedPluginCalls {
    private struct Entry {
        var context: UnsafeMutableRawPointer?
        var progress: (@convention(c) (UnsafeMutableRawPointer?, UInt64, trestle_bytes) -> Void)?
        var done: (@convention(c) (UnsafeMutableRawPointer?, trestle_bytes, UnsafePointer<trestle_error>?) -> Void)?
    }

    /// Owns this.
    private unowned let host: IsolatedPluginHost
    private var output: OutputBuffer { host.output }
    private var inFlight: [UInt64: Entry] = [:]
    private var lastID: UInt64 = 0

    init(_ host: IsolatedPluginHost) { self.host = host }

    /// Makes a call.
    ///
    /// - Returns: its handle.
    func make(_ request: UnsafePointer<trestle_outgoing_call>) -> UInt64 {
        let options = request.pointee.options.buffer.isEmpty ? literal("{}") : request.pointee.options.buffer
        lastID += 1
        let id = lastID
        inFlight[id] = Entry(
            context: request.pointee.context, progress: request.pointee.progress, done: request.pointee.done)
        if let fault = host.check.fault(in: options) {
            end(id, .failure(BridgeError(.optionsInvalid, "the plugin sent options that are no JSON: \(fault)")))
            return id
        }
        guard options.count <= host.messageBytes else {
            let reason =
                "the plugin sent options of \(options.count) bytes, where a message may have \(host.messageBytes)"
            end(id, .failure(BridgeError(.messageTooLarge, reason)))
            return id
        }
        JSON.string(request.pointee.task.string).bytes.withUnsafeBytes { name in
            var call = OutgoingCall(quotedTask: name, options: options)
            call.id = id
            call.wantsProgress = request.pointee.progress != nil
            if request.pointee.timeout_ns > 0 { call.timeoutNanoseconds = UInt64(request.pointee.timeout_ns) }
            // None at all: as long as a message can say.
            if request.pointee.timeout_ns < 0 { call.timeoutNanoseconds = UInt64(Int64.max) }
            if request.pointee.session != 0 { call.session = request.pointee.session }
            let parent = Array("\(request.pointee.parent)".utf8)
            parent.withUnsafeBytes {
                if request.pointee.parent != 0 { call.caller = $0 }
                MessageEncoder.call(call, to: output)
            }
        }
        return id
    }

    func cancel(_ id: UInt64) {
        if inFlight[id] != nil { MessageEncoder.cancel(id: id, to: output) }
    }

    func receive(_ callback: CallbackMessage) {
        guard let id = callback.callbackID.number else { return }
        if let result = callback.result { return end(id, .success(result)) }
        let error = callback.error.flatMap { try? JSON(parsing: $0) }.flatMap { BridgeError(json: $0) }
        end(id, .failure(error ?? BridgeError(.internal, "the daemon's error cannot be read")))
    }

    func receive(_ progress: ProgressMessage) {
        guard let id = progress.callbackID.number, let entry = inFlight[id] else { return }
        entry.progress?(entry.context, progress.sequence, trestle_bytes(progress.value))
    }

    private func end(_ id: UInt64, _ outcome: Result<UnsafeRawBufferPointer, BridgeError>) {
        guard let entry = inFlight.removeValue(forKey: id) else { return }
        switch outcome {
        case .success(let result): entry.done?(entry.context, trestle_bytes(result), nil)
        case .failure(let error): error.withForeign { entry.done?(entry.context, trestle_bytes(), $0) }
        }
    }
}
