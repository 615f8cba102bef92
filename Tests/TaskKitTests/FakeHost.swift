// A daemon small enough to see through, for tests of TaskKit: the host's table over one serial queue, everything that
// the plugin says recorded, and every step taken through the C interface.
import CTaskPlugin
import Dispatch
import TaskKit

/// `@unchecked`: everything that changes is used on the loop only.
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
        var call: trestle_bridge_call
    }

    let plugin: UnsafePointer<trestle_plugin>
    private let loop = DispatchQueue(label: "loop")
    private static let onLoop = DispatchSpecificKey<Bool>()
    private var table = UnsafeMutablePointer<trestle_host>.allocate(capacity: 1)

    // MARK: What the plugin said

    private(set) var answers: [trestle_call: [Answer]] = [:]
    private(set) var progress: [trestle_call: [JSON]] = [:]
    private(set) var events: [Event] = []
    private(set) var logLines: [LogLine] = []
    /// The plugin's own calls, by handle, that have not ended.
    private(set) var open: [trestle_call: BridgeCall] = [:]
    private(set) var cancelled: [trestle_call] = []
    /// Where the last result lay.
    private(set) var lastResultAddress: UInt = 0

    /// Where the options of the last request lay.
    private(set) var lastOptionsAddress: UInt = 0

    private var lastHandle: trestle_call = 100
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
        // Kept for ever, as the interface promises.
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

    /// Waits until what the plugin said fulfils the condition.
    func until(_ condition: @escaping @Sendable (FakeHost) -> Bool) async {
        await withCheckedContinuation { continuation in
            loop.async {
                self.waiters.append((condition, { continuation.resume() }))
                self.changed()
            }
        }
    }

    fileprivate func changed() {
        let ready = waiters.filter { $0.condition(self) }
        waiters.removeAll { waiter in waiter.condition(self) }
        for waiter in ready { waiter.resume() }
    }
}

// MARK: What the daemon asks of the plugin

extension FakeHost {
    /// The plugin's functions that take a request.
    enum Function: Sendable {
        case configure, start, stop
        case launch(UInt32)
        case call(UInt32)
    }

    /// Makes a request and returns its handle. Loop.
    func request(
        _ function: Function, _ options: String = "{}", flags: UInt32 = 0, timeout: Int64 = -1, caller: Caller? = nil
    ) -> trestle_call {
        lastHandle += 1
        let handle = lastHandle
        // Padded as promised, and overwritten afterwards, so that who kept the borrowed bytes is found out.
        var bytes = Array(options.utf8) + [UInt8](repeating: 0, count: Int(TRESTLE_PADDING))
        bytes.withUnsafeMutableBytes { bytes in
            withCaller(caller ?? Caller(session: 7, uid: 1000, gid: 1000, pid: 4242)) { caller in
                var request = trestle_request()
                request.size = UInt32(MemoryLayout<trestle_request>.size)
                request.abi = TRESTLE_ABI
                request.call = handle
                request.flags = flags
                request.timeout_ns = timeout
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
        case .start: plugin.start(context, &request)
        case .stop: plugin.stop(context, &request)
        case .launch(let index):
            request.index = index
            plugin.launch(context, &request)
        case .call(let index):
            request.index = index
            plugin.call(context, &request)
        }
    }

    /// Makes a request and waits for its answer.
    func answer(_ function: Function, _ options: String = "{}", flags: UInt32 = 0) async -> Answer {
        let handle = await onLoop { $0.request(function, options, flags: flags) }
        return await answer(to: handle)
    }

    /// The first answer to a request.
    func answer(to handle: trestle_call) async -> Answer {
        await until { $0.answers[handle] != nil }
        return await onLoop { $0.answers[handle]![0] }  // `!`: just waited for
    }

    /// Tells the plugin to stop working on a request.
    func cancel(_ handle: trestle_call) async {
        await onLoop { host in
            host.plugin.pointee.cancel(host.plugin.pointee.context, handle, UInt32(TRESTLE_CANCEL_CALLER))
        }
    }

    /// Tells the plugin about a session.
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
                    form.retry_after_ms = -1
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

    /// The manifest, parsed.
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
                    (form.session, form.uid, form.gid, form.pid) = (caller.session, caller.uid, caller.gid, caller.pid)
                    form.flags = caller.isTrusted ? TRESTLE_CALLER_TRUSTED : 0
                    (form.origin, form.user, form.client) = (origin, user, client)
                    body(&form)
                }
            }
        }
    }
}

// MARK: What the plugin asks of the daemon

extension FakeHost {
    private func fillTable() {
        // `!` on the table throughout: the plugin hands back the one that it got.
        table.pointee.reply = { table, call, result in
            let address = UInt(bitPattern: result.data)
            host(table!).say(result.text) { host, text in
                host.lastResultAddress = address
                host.answers[call, default: []].append(
                    .result((try? JSON(parsing: text)) ?? .string("no JSON: " + text)))
            }
        }
        table.pointee.fail = { table, call, error in
            let error = BridgeError(described: error!.pointee)  // `!`: the header promises it
            host(table!).say(error) { host, error in host.answers[call, default: []].append(.error(error)) }
        }
        table.pointee.progress = { table, call, value in
            host(table!).say(value.text) { host, text in
                host.progress[call, default: []].append((try? JSON(parsing: text)) ?? .null)
            }
        }
        table.pointee.log = { table, level, message, call in
            host(table!).say(LogLine(level: level, message: message.text, call: call)) { $0.logLines.append($1) }
        }
        table.pointee.post = { table, run, argument in
            let argument = Pointer(argument)
            host(table!).loop.async { run!(argument.address) }
        }
        table.pointee.blocking = { table, work, done, argument in
            let argument = Pointer(argument)
            let host = host(table!)
            DispatchQueue.global().async {
                work!(argument.address)
                host.loop.async { done!(argument.address) }
            }
        }
        table.pointee.is_loop_thread = { _ in FakeHost.isLoopThread }
        table.pointee.call = { table, call in host(table!).begin(call!.pointee) }
        table.pointee.cancel = { table, call in
            let host = host(table!)
            host.cancelled.append(call)
            host.end(call, .error(BridgeError(.callCancelled, "The call was cancelled.")))
            host.changed()
        }
        table.pointee.publish = { table, event in
            let event = event!.pointee
            let sessions = event.sessions.map { Array(UnsafeBufferPointer(start: $0, count: event.session_count)) }
            let seen = Event(
                name: event.name.text, data: (try? JSON(parsing: event.data.text)) ?? .null, sessions: sessions,
                flags: event.flags)
            host(table!).say(seen) { $0.events.append($1) }
        }
    }

    /// Records what the plugin said: at once on the loop, soon from elsewhere.
    private func say<T: Sendable>(_ value: T, _ record: @escaping @Sendable (FakeHost, T) -> Void) {
        if Self.isLoopThread {
            record(self, value)
            changed()
        } else {
            loop.async {
                record(self, value)
                self.changed()
            }
        }
    }

    private func begin(_ call: trestle_bridge_call) -> trestle_call {
        precondition(Self.isLoopThread, "`call` is for the loop thread")
        lastHandle += 1
        open[lastHandle] = BridgeCall(
            task: call.task.text, options: (try? JSON(parsing: call.options.text)) ?? .null, call: call)
        let handle = lastHandle
        // A task that does not exist is answered before `call` returns.
        if call.task.text == "nobody" {
            end(handle, .error(BridgeError(.taskNotFound, "There is no task nobody.")))
        }
        changed()
        return handle
    }
}

private func host(_ table: UnsafePointer<trestle_host>) -> FakeHost {
    Unmanaged<FakeHost>.fromOpaque(table.pointee.context).takeUnretainedValue()
}

/// A C pointer on its way to another thread. `@unchecked`: what it points to is the plugin's affair.
private struct Pointer: @unchecked Sendable {
    let address: UnsafeMutableRawPointer?

    init(_ address: UnsafeMutableRawPointer?) {
        self.address = address
    }
}

private func withBytes(_ text: String, _ body: (trestle_bytes) -> Void) {
    var text = text
    text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { body(trestle_bytes(data: $0.baseAddress, size: $0.count)) }
    }
}

extension trestle_bytes {
    var text: String {
        String(decoding: UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size), as: UTF8.self)
    }
}

extension BridgeError {
    init(described error: trestle_error) {
        self.init(
            ErrorCode(rawValue: error.code.text), error.message.text,
            data: error.data.size == 0 ? nil : try? JSON(parsing: error.data.text),
            isTransient: error.flags & TRESTLE_ERROR_TRANSIENT != 0,
            retryAfter: error.retry_after_ms < 0 ? nil : .milliseconds(error.retry_after_ms))
    }
}
