import BridgeJSON
import BridgeMessage
import CTaskPlugin
import TaskRuntime

/// The calls that a plugin's process makes: of any task, and of those only for plugin processes. Loop thread only.
final class PluginProcessOwnCalls {
    /// The maximum number of calls that a process may have in flight.
    private static let maximum = 1024
    /// The maximum length of unread output. Beyond it the process is ended, before its answers fill the daemon's
    /// memory.
    private static let maximumUnreadBytes = 64 << 20

    // Both outlive this object: the link owns it, and the host exists as long as any of its processes.
    unowned(unsafe) let link: PluginProcessLink
    unowned(unsafe) let host: PluginProcessHost
    /// The calls by the text of their id.
    private var inFlight: [[UInt8]: CallHandle] = [:]
    let check = JSONCheck()
    /// The calls without an id.
    private var oneWay: Set<CallHandle> = []

    init(_ link: PluginProcessLink, _ host: PluginProcessHost) {
        self.link = link
        self.host = host
    }

    func receive(_ call: CallMessage) {
        switch String(decoding: call.task, as: UTF8.self) {
        case "plugin.log": writeLog(call)
        case "plugin.publish": publish(call)
        case "plugin.metrics": setMetrics(call)
        default: make(call)
        }
    }

    /// Cancels a call at the request of the process.
    func cancel(_ id: CallbackID) {
        if let handle = inFlight[Array(id.text)] { host.runtime.cancelPluginCall(handle) }
    }

    /// Cancels all calls after the end of the process, and closes its ends of streams.
    func cancelAll() {
        let handles = Array(inFlight.values) + oneWay
        inFlight = [:]
        oneWay = []
        for handle in handles { host.runtime.cancelPluginCall(handle) }
        host.runtime.leaveStreams(of: link.streamHolder)
    }

    // MARK: Calls of tasks

    private func make(_ call: CallMessage) {
        let id = call.callbackID.map { Array($0.text) }
        guard let instance = host.instance else {
            return answer(
                id, BridgeError(.pluginUnavailable, "the plugin has not sent its hello", data: ["started": false]))
        }
        if let id, inFlight[id] != nil {
            return answer(
                nil,
                BridgeError(.callDuplicate, "a call with this id is in flight", data: ["callbackId": Self.json(id)]))
        }
        guard inFlight.count + oneWay.count < Self.maximum else {
            return answer(
                id,
                BridgeError(
                    .busy, "a plugin process may have \(Self.maximum) calls in flight", data: ["started": false],
                    isTransient: true, retryAfter: .milliseconds(100)))
        }
        var parent: CallHandle?
        if !call.caller.isEmpty {
            guard let number = Self.number(call.caller), let found = link.call(ofID: number) else {
                return answer(
                    id,
                    BridgeError(
                        .callCancelled, "the parent call has ended",
                        data: ["started": false]))
            }
            parent = found
        }
        // If the link is closed meanwhile, its output is discarded.
        let output = link.output
        var isOver = false
        let progress: ((UInt64, UnsafeRawBufferPointer) -> Void)? =
            call.wantsProgress && id != nil
            ? { [weak self] sequence, value in
                id?.withUnsafeBytes { MessageEncoder.progress(id: $0, value: value, sequence: sequence, to: output) }
                self?.checkUnread()
            } : nil
        var handle = CallHandle(rawValue: 0)
        handle = host.runtime.call(
            PluginCall(
                parent: parent, task: call.task, options: call.options, session: call.session,
                deadline: call.timeout.map { .after($0) } ?? .standard, onProgress: progress,
                holder: link.streamHolder, descriptorReceiver: id == nil ? nil : link.descriptorReceiver,
                completion: { [weak self] outcome in
                    isOver = true
                    if let id { self?.inFlight[id] = nil } else { self?.oneWay.remove(handle) }
                    Self.write(outcome, id, output)
                    self?.checkUnread()
                }),
            by: instance)
        guard !isOver else { return }
        if let id { inFlight[id] = handle } else { oneWay.insert(handle) }
    }

    private func answer(_ id: [UInt8]?, _ error: BridgeError) {
        Self.write(.failure(error), id, link.output)
        checkUnread()
    }

    private func checkUnread() {
        if link.output.count > Self.maximumUnreadBytes { link.fault?("does not read the answers to its calls") }
    }

    private static func write(_ outcome: CallOutcome, _ id: [UInt8]?, _ output: OutputBuffer) {
        guard let id else {
            if case .failure(let error) = outcome, error.code == .callDuplicate {
                MessageEncoder.callback(id: nil, error: error, to: output)
            }
            return
        }
        id.withUnsafeBytes { id in
            switch outcome {
            case .result(let result): MessageEncoder.callback(id: id, result: result, to: output)
            case .failure(let error): MessageEncoder.callback(id: id, error: error, to: output)
            }
        }
    }

    private static func json(_ bytes: [UInt8]) -> JSON { (try? JSON(parsing: bytes)) ?? .null }

    private static func number(_ text: UnsafeRawBufferPointer) -> UInt64? {
        // A number of a call has at most 20 digits.
        guard text.count <= 20, let number = (try? JSON(parsing: text))?.int64Value, number > 0 else { return nil }
        return UInt64(number)
    }
}
