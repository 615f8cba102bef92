// A minimal daemon for tests of TaskKit: the host's table over one serial queue. It records everything that the plugin
// sends. Every step goes through the C interface.
import CTaskPlugin
import Dispatch
import Synchronization
import TaskKit

/// `@unchecked`: all mutable state is used on the loop only.
final class FakeHost: @unchecked Sendable {
    enum Answer: Sendable, Equatable {
        case result(JSON)
        case error(BridgeError)
    }

    struct Event: Sendable, Equatable {
        var name: String
        var data: JSON
        var sessions: [UInt64]?
        var flags: UInt32
    }

    struct LogLine: Sendable, Equatable {
        var level: UInt32
        var message: String
        var call: trestle_call
    }

    /// A call that the plugin made.
    struct BridgeCall {
        var task: String
        var options: JSON
        var call: trestle_outgoing_call
    }

    /// A figure that the plugin published.
    struct Published: Sendable, Equatable {
        var name: String
        var unit: String
        var help: String
        var kind: UInt32
        var value = 0.0
    }

    let plugin: UnsafePointer<trestle_plugin>
    let figures = Mutex<[Published]>([])
    let loop = DispatchQueue(label: "loop")
    private static let onLoop = DispatchSpecificKey<Bool>()
    var table = UnsafeMutablePointer<trestle_host>.allocate(capacity: 1)

    // MARK: Recorded output of the plugin

    var answers: [trestle_call: [Answer]] = [:]
    var progress: [trestle_call: [JSON]] = [:]
    var events: [Event] = []
    var logLines: [LogLine] = []
    /// The plugin's open calls, by handle.
    var open: [trestle_call: BridgeCall] = [:]
    var cancelled: [trestle_call] = []
    /// The address of the last result.
    var lastResultAddress: UInt = 0

    /// The address of the options of the last request.
    var lastOptionsAddress: UInt = 0

    var lastHandle: trestle_call = 100
    var answerHook: ((FakeHost) -> Void)?
    private var waiters: [(condition: (FakeHost) -> Bool, resume: () -> Void)] = []

    convenience init(_ plugin: Plugin) {
        self.init(plugin.export())
    }

    init(_ plugin: UnsafePointer<trestle_plugin>) {
        self.plugin = plugin
        loop.setSpecific(key: Self.onLoop, value: true)
        table.initialize(to: trestle_host())
        table.pointee.size = UInt32(MemoryLayout<trestle_host>.size)
        table.pointee.abi = TRESTLE_ABI
        // Retained for ever, as the interface promises.
        table.pointee.context = Unmanaged.passRetained(self).toOpaque()
        fillTable()
        loop.sync { self.plugin.pointee.attach(self.plugin.pointee.context, self.table) }
    }

    /// Whether this thread is a fake host's loop.
    static var isLoopThread: Bool { DispatchQueue.getSpecific(key: onLoop) == true }

    /// Runs `body` on the loop.
    func onLoop<T: Sendable>(_ body: @escaping @Sendable (FakeHost) -> T) async -> T {
        await withCheckedContinuation { continuation in loop.async { continuation.resume(returning: body(self)) } }
    }

    /// Waits until the recorded output fulfils the condition.
    func until(_ condition: @escaping @Sendable (FakeHost) -> Bool) async {
        await withCheckedContinuation { continuation in
            loop.async {
                self.waiters.append((condition, { continuation.resume() }))
                self.changed()
            }
        }
    }

    /// Runs `body` once, inside the plugin's next reply, like a daemon that calls a plugin from there. Loop.
    func duringNextAnswer(_ body: @escaping (FakeHost) -> Void) {
        answerHook = body
    }

    func changed() {
        let ready = waiters.filter { $0.condition(self) }
        waiters.removeAll { waiter in waiter.condition(self) }
        for waiter in ready { waiter.resume() }
    }
}

// MARK: Requests to the plugin

extension FakeHost {
    /// The plugin's functions that take a request.
    enum Function: Sendable {
        case configure, start, describe, stop, saveSessions, restoreSessions
        case launch(UInt32)
        case call(UInt32)
        case intercept(UInt32)
        /// Whether the plugin must take the section, or only check it.
        case reconfigure(takes: Bool)
    }

    /// Sends a request and returns its handle. Loop.
    func request(
        _ function: Function, _ options: String = "{}", flags: UInt32 = 0, timeout: Int64 = -1, caller: Caller? = nil
    ) -> trestle_call {
        lastHandle += 1
        let handle = lastHandle
        // The bytes are padded as promised, and overwritten afterwards, which exposes any later use of the borrowed
        // memory.
        var bytes = Array(options.utf8) + [UInt8](repeating: 0, count: Int(TRESTLE_PADDING))
        bytes.withUnsafeMutableBytes { bytes in
            withCaller(caller ?? Caller(session: 7, uid: 1000, gid: 1000, pid: 4242)) { caller in
                var request = trestle_request()
                request.size = UInt32(MemoryLayout<trestle_request>.size)
                request.abi = TRESTLE_ABI
                request.call = handle
                request.flags = flags
                request.time_remaining_ns = timeout
                request.options = trestle_bytes(
                    data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), size: options.utf8.count)
                request.caller = caller
                lastOptionsAddress = UInt(bitPattern: request.options.data)
                send(function, &request)
            }
            for index in bytes.indices { bytes[index] = UInt8(ascii: "#") }
        }
        return handle
    }

    private func send(_ function: Function, _ request: inout trestle_request) {
        let (plugin, context) = (plugin.pointee, plugin.pointee.context)
        switch function {
        case .configure: plugin.configure(context, &request)
        case .reconfigure(let takes):
            request.number = UInt32(takes ? TRESTLE_RECONFIGURE_TAKE : TRESTLE_RECONFIGURE_CHECK)
            plugin.reconfigure(context, &request)
        case .start: plugin.start(context, &request)
        case .describe: plugin.describe(context, &request)
        case .stop: plugin.stop(context, &request)
        case .saveSessions: plugin.save_sessions(context, &request)
        case .restoreSessions: plugin.restore_sessions(context, &request)
        case .launch(let index):
            request.number = index
            plugin.launch(context, &request)
        case .call(let index):
            request.number = index
            plugin.call(context, &request)
        case .intercept(let index):
            request.number = index
            plugin.intercept(context, &request)
        }
    }

    /// Sends a request and waits for its answer.
    func answer(_ function: Function, _ options: String = "{}", flags: UInt32 = 0) async -> Answer {
        let handle = await onLoop { $0.request(function, options, flags: flags) }
        return await answer(to: handle)
    }

    /// Returns the first answer to a request.
    func answer(to handle: trestle_call) async -> Answer {
        await until { $0.answers[handle] != nil }
        return await onLoop { $0.answers[handle]![0] }  // `!`: just waited for
    }

    /// Cancels a request.
    func cancel(_ handle: trestle_call) async {
        await onLoop { host in
            host.plugin.pointee.cancel(host.plugin.pointee.context, handle, UInt32(TRESTLE_CANCEL_CALLER))
        }
    }

    /// Notifies the plugin of a change of a session.
    func session(_ change: Int, _ caller: Caller) async {
        await onLoop { host in
            host.withCaller(caller) { host.plugin.pointee.session(host.plugin.pointee.context, UInt32(change), $0) }
        }
    }

    /// Ends a call that the plugin made. Loop.
    func end(_ handle: trestle_call, _ answer: Answer) {
        guard let pending = open.removeValue(forKey: handle) else { return }
        switch answer {
        case .result(let result):
            withBytes(result.text) { pending.call.done(pending.call.context, $0, nil) }
        case .error(let error):
            withBytes(error.code.rawValue) { code in
                withBytes(error.message) { message in
                    var form = trestle_error()
                    form.size = UInt32(MemoryLayout<trestle_error>.size)
                    form.abi = TRESTLE_ABI
                    form.code = code
                    form.message = message
                    form.retry_after_ns = -1
                    pending.call.done(pending.call.context, trestle_bytes(), &form)
                }
            }
        }
        changed()
    }

    /// Sends progress of a call that the plugin made. Loop.
    func sendProgress(_ handle: trestle_call, _ sequence: UInt64, _ value: JSON) {
        guard let pending = open[handle] else { return }
        withBytes(value.text) { pending.call.progress?(pending.call.context, sequence, $0) }
    }

    /// The parsed manifest.
    var manifest: JSON {
        get throws { try JSON(parsing: plugin.pointee.manifest.text) }
    }

    private func withCaller(_ caller: Caller, _ body: (UnsafePointer<trestle_caller>) -> Void) {
        withBytes(caller.origin) { origin in
            withBytes(caller.user ?? "") { user in
                withBytes(caller.client ?? "") { client in
                    var form = trestle_caller()
                    form.size = UInt32(MemoryLayout<trestle_caller>.size)
                    form.abi = TRESTLE_ABI
                    (form.session, form.uid, form.gid, form.pid) = (
                        caller.session.rawValue, caller.uid, caller.gid, caller.pid
                    )
                    form.flags = caller.isTrusted ? TRESTLE_CALLER_TRUSTED : 0
                    (form.origin, form.user, form.client) = (origin, user, client)
                    form.revision = UInt64(bitPattern: Int64(caller.hashValue)) | 1
                    body(&form)
                }
            }
        }
    }
}
