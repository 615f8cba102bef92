import BridgeJSON
import BridgeMessage
import CTaskPlugin
import Glibc
import PluginInterface

/// Sends the plugin's own calls to the daemon and receives their outcomes. Loop thread only.
final class IsolatedPluginCalls {
    /// Receives the outcome of a call: borrowed JSON or an error.
    typealias End = (Result<UnsafeRawBufferPointer, BridgeError>) -> Void

    private struct Entry {
        var progress: ((UInt64, UnsafeRawBufferPointer) -> Void)?
        var end: End
    }

    /// The owner of this object.
    private unowned let host: IsolatedPluginHost
    private var output: OutputBuffer { host.output }
    private var inFlight: [UInt64: Entry] = [:]
    private var lastID: UInt64 = 0
    /// The received descriptors, in the order of the results that they belong to.
    private var descriptors: [PassedDescriptor] = []
    /// The tasks whose results have a descriptor; the second one only if the plugin requests it.
    private static let (attachTask, newTask) = ("bridge.stream.attach", "bridge.stream.new")

    init(_ host: IsolatedPluginHost) { self.host = host }

    /// Makes a call.
    ///
    /// - Returns: The call's handle.
    func make(_ request: UnsafePointer<trestle_outgoing_call>) -> UInt64 {
        // The plugin gets its context back unchanged, on this thread.
        let (context, progress, done) = (request.pointee.context, request.pointee.progress, request.pointee.done)
        let options = request.pointee.options.buffer.isEmpty ? literal("{}") : request.pointee.options.buffer
        lastID += 1
        let id = lastID
        inFlight[id] = Entry(
            progress: progress.map { progress in { progress(context, $0, trestle_bytes($1)) } },
            end: { outcome in
                switch outcome {
                case .success(let result): done?(context, trestle_bytes(result), nil)
                case .failure(let error): error.withForeign { done?(context, trestle_bytes(), $0) }
                }
            })
        if Self.wantsDescriptor(request.pointee.task.string, options) {
            let reason =
                "the result of this task has a descriptor: use the functions stream_attach and stream_new"
            end(id, .failure(BridgeError(.streamInvalid, reason)))
            return id
        }
        guard options.count <= host.messageBytes else {
            let reason =
                "the plugin sent options of \(options.count) bytes, where a message may have \(host.messageBytes)"
            end(id, .failure(BridgeError(.messageTooLarge, reason)))
            return id
        }
        if let fault = host.check.fault(in: options) {
            end(id, .failure(BridgeError(.optionsInvalid, "the plugin sent options that are not valid JSON: \(fault)")))
            return id
        }
        JSON.string(request.pointee.task.string).bytes.withUnsafeBytes { name in
            var call = OutgoingCall(quotedTask: name, options: options)
            call.wantsProgress = request.pointee.progress != nil
            if request.pointee.timeout_ns > 0 { call.timeoutNanoseconds = UInt64(request.pointee.timeout_ns) }
            // For no deadline, the maximum that a message can contain is sent.
            if request.pointee.timeout_ns < 0 { call.timeoutNanoseconds = UInt64(Int64.max) }
            if request.pointee.session != 0 { call.session = request.pointee.session }
            send(call, id, for: request.pointee.parent)
        }
        return id
    }

    /// Returns whether the result may have a descriptor, which only calls about streams can receive.
    private static func wantsDescriptor(_ task: String, _ options: UnsafeRawBufferPointer) -> Bool {
        if task == newTask { return (try? JSON(parsing: options))?["attach"]?.boolValue == true }
        return task == attachTask
    }

    /// Makes a call with options that the host has made.
    ///
    /// - Parameter parent: The call on whose behalf it is made; 0 for none.
    /// - Returns: The call's handle.
    func make(
        _ task: String, _ options: [UInt8], for parent: trestle_call, timeoutNanoseconds: UInt64?, _ end: @escaping End
    ) -> UInt64 {
        lastID += 1
        let id = lastID
        inFlight[id] = Entry(progress: nil, end: end)
        JSON.string(task).bytes.withUnsafeBytes { name in
            options.withUnsafeBytes { options in
                var call = OutgoingCall(quotedTask: name, options: options)
                call.isOneLine = true
                call.timeoutNanoseconds = timeoutNanoseconds
                send(call, id, for: parent)
            }
        }
        return id
    }

    private func send(_ call: OutgoingCall, _ id: UInt64, for parent: trestle_call) {
        var call = call
        call.id = id
        Array("\(parent)".utf8).withUnsafeBytes {
            if parent != 0 { call.caller = $0 }
            MessageEncoder.call(call, to: output)
        }
    }

    func cancel(_ id: UInt64) {
        if inFlight[id] != nil { MessageEncoder.cancel(id: id, to: output) }
    }

    // MARK: From the daemon

    /// Stores a received descriptor. The daemon passes at most one with each result, so there are never more than
    /// calls.
    func add(_ descriptor: PassedDescriptor) { descriptors.append(descriptor) }

    /// Returns the descriptor of the current result; `nil` if the system could not pass it.
    func takeDescriptor() -> PassedDescriptor? { descriptors.isEmpty ? nil : descriptors.removeFirst() }

    func receive(_ callback: CallbackMessage) {
        guard let id = callback.callbackID.number else { return }
        if let result = callback.result { return end(id, .success(result)) }
        let error = callback.error.flatMap { try? JSON(parsing: $0) }.flatMap { BridgeError(json: $0) }
        end(id, .failure(error ?? BridgeError(.internal, "the daemon's error cannot be read")))
    }

    func receive(_ progress: ProgressMessage) {
        guard let id = progress.callbackID.number, let entry = inFlight[id] else { return }
        entry.progress?(progress.sequence, progress.value)
    }

    private func end(_ id: UInt64, _ outcome: Result<UnsafeRawBufferPointer, BridgeError>) {
        inFlight.removeValue(forKey: id)?.end(outcome)
    }
}
