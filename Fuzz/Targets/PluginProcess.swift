import BridgeJSON
@testable import BridgeMessage
import EventLoop
import Glibc
import Logging
import Synchronization
@testable import TaskHosts
@testable import TaskRuntime
import PluginInterface

// The messages of a plugin's process: the real channel over a socket, link, host and runtime, with two clients. The
// input: a record with the manifest with which the process answers its hello, then records whose first byte selects the
// event.
//
// - A manifest is accepted, or refused with a sentence.
// - Each call of a client gets one callback, whatever the process sends, also if it ends.
// - Each call of the process that contains an id gets one, unless the process ends first.
// - The output to either is lines of JSON.
func fuzzPluginProcess(_ bytes: [UInt8]) throws(Violation) {
    // Channels belong to the loop thread; no code waits there for this one.
    let result = Mutex<Result<Void, Violation>?>(nil)
    let done = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(done, 0, 0)
    defer {
        sem_destroy(done)
        done.deallocate()
    }
    nonisolated(unsafe) let signal = done  // A semaphore is for several threads.
    EventLoop.post {
        let outcome = Result { () throws(Violation) in
            var input = FuzzInput(bytes)
            let fuzzed = try FuzzedPluginProcess(manifest: input.record())
            defer { fuzzed.close() }
            for _ in 0..<400 where !input.isEmpty { try fuzzed.step(input.record()) }
            try fuzzed.finish()
        }
        result.withLock { $0 = outcome }
        sem_post(signal)
    }
    while sem_wait(done) != 0 {}
    try result.withLock { $0 ?? .success(()) }.get()
}

@LoopActor
private final class FuzzedPluginProcess {
    private let clock = ManualRuntimeClock()
    private let decoder = MessageDecoder(urlSchemes: ["jxaction"])
    private let runtime: TaskRuntime
    private let host: PluginProcessHost
    private let instance: PluginInstance
    private var clients: [FuzzClient] = []
    private var process: PluginProcessEnd

    private static let standardManifest = """
        {"name":"worker","version":"1","tasks":[{"name":"work","summary":""},{"name":"one","summary":"","concurrency":1},
        {"name":"slow","summary":"","timeout":null}],"interceptors":[{"name":"i","summary":"","tasks":["guarded*","one"]}]}
        """

    init(manifest text: [UInt8]) throws(Violation) {
        let log = Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() })
        runtime = TaskRuntime(
            limits: RuntimeLimits(), policy: Policy(daemonUID: 900),
            daemon: DaemonDescription(version: "1.2.3", pid: 77), clock: clock, log: log)
        clock.runtime = runtime
        host = PluginProcessHost(runtime: runtime, log: HostLog(log, plugin: "worker"))
        instance = try Self.add(try Self.manifest(text), to: runtime, host)
        host.attach(instance)
        process = try PluginProcessEnd(host)
        do throws(BridgeError) { try runtime.open(instance) } catch {
            throw Violation(description: "a plugin that was taken in is not opened: \(error)")
        }
        clients = [FuzzClient(runtime, uid: 0), FuzzClient(runtime, uid: 1000)]
    }

    private static func manifest(_ text: [UInt8]) throws(Violation) -> PluginManifest? {
        let result = text.withUnsafeBytes { bytes in
            Result { () throws(BridgeError) in try PluginManifest(parsing: bytes) }
        }
        switch result {
        case .success(let manifest): return manifest
        case .failure(let error):
            try require(
                error.code == .pluginUnavailable && !error.message.contains("\n"), "refused with \(error.message)")
            return nil
        }
    }

    /// Adds the plugin of the manifest, or of the standard manifest if that is refused.
    private static func add(
        _ manifest: PluginManifest?, to runtime: TaskRuntime, _ host: PluginProcessHost
    ) throws(Violation) -> PluginInstance {
        if let manifest, let instance = try? runtime.add(manifest, path: "/w", host: host) { return instance }
        guard let json = try? JSON(parsing: standardManifest), let standard = try? PluginManifest(json),
            let instance = try? runtime.add(standard, path: "/w", host: host)
        else { throw Violation(description: "the good manifest was refused") }
        return instance
    }

    // MARK: Events

    func step(_ record: [UInt8]) throws(Violation) {
        guard let first = record.first else { return }
        let rest = Array(record.dropFirst())
        switch Character(UnicodeScalar(first)) {
        // A client sends a line; the process a line, or a piece of one.
        case "0", "1": clients[Int(first & 1)].send(rest + [0x0A], decoder)
        case "<": process.say(rest + [0x0A])
        case ",": process.say(rest)
        // The process ends, or starts again; it names the tasks of its interceptors; time passes.
        case "x": endProcess()
        case "i": if let said = try? JSON(parsing: rest) { try? runtime.takeInterceptedTasks(said, of: instance) }
        case "t": clock.advance(.milliseconds(Int64(clamping: rest.prefix(6).reduce(0) { $0 * 10 + Int($1 & 15) })))
        default: break
        }
        if process.isOver { try startAgain() }
        try process.read()
        runtime.writeOutput()
        for client in clients { if let violation = client.violation { throw violation } }
        for index in clients.indices where clients[index].isToBeClosed {
            try clients[index].checkSettled()
            runtime.hangUp(clients[index].session)
            clients[index] = FuzzClient(runtime, uid: clients[index].session.peer.uid)
        }
    }

    /// Ends the process as the supervisor does.
    private func endProcess(isRestarting: Bool = true) {
        let error = BridgeError(.pluginCrashed, "the process ended", data: ["started": true], isTransient: true)
        let link = process.link
        host.forget(link)
        host.current = nil
        process.close()
        instance.crashed(error, lost: link.close(error), isRestarting: isRestarting)
    }

    private func startAgain() throws(Violation) {
        if !process.isClosed { endProcess() }
        process = try PluginProcessEnd(host)
        instance.restarted()
    }

    // MARK: The end

    func finish() throws(Violation) {
        clock.advance(.seconds(400 * 24 * 3600))
        try process.read()
        try process.checkSettled()
        endProcess(isRestarting: false)
        runtime.writeOutput()
        for client in clients { try client.checkSettled() }
        try require(runtime.calls.count == 0, "\(runtime.calls.count) calls are in flight")
    }

    /// Breaks reference cycles, so that they are not counted as leaks.
    func close() {
        if !process.isClosed { process.close() }
        for client in clients { runtime.hangUp(client.session) }
        runtime.remove(instance)
        runtime.writeOutput()
        host.detach()
    }
}

/// The process: the other end of the socket, and the account of its own calls.
@LoopActor
private final class PluginProcessEnd {
    let link: PluginProcessLink
    private let channel: MessageChannel
    private let socket: Int32
    private var account = CallbackAccount()
    private var splitter = MessageSplitter(maximumLineBytes: 1 << 20)
    private let decoder = MessageDecoder(extraDepth: 1)
    private var partOfLine: [UInt8] = []
    private(set) var isOver = false
    private(set) var isClosed = false

    init(_ host: PluginProcessHost) throws(Violation) {
        let link = PluginProcessLink(host)
        self.link = link
        var ends: (MessageChannel, Int32)?
        do {
            ends = try UnixSocket.pair { ours, theirs in
                let lineBytes = (1 << 20) + PluginProtocol.envelopeBytes
                return (try MessageChannel(ours, lineBytes: lineBytes, output: link.output), theirs.release())
            }
        } catch { throw Violation(description: "no socket: \(error)") }
        guard let ends else { throw Violation(description: "no socket") }
        (channel, socket) = ends
        channel.receive = { [unowned channel, link] in link.receive($0, isDeep: channel.isDeep) }
        channel.ended = { [weak self] _ in self?.isOver = true }
        link.fault = { [weak self] _ in LoopActor.assumeIsolated { self?.isOver = true } }
        host.note(link)
        host.current = link
    }

    /// Sends the text to the daemon.
    func say(_ text: [UInt8]) {
        let parts = text.split(separator: FuzzInput.idPlace, omittingEmptySubsequences: false)
        let text = Array(parts.joined(separator: account.lastForwardedID))
        _ = withPadding(text) { bytes in
            splitter.consume(bytes) {
                note($0)
                return true
            }
        }
        var rest = text[...]
        while !rest.isEmpty, !isOver {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
            channel.readRest(limitBytes: 1 << 20)
        }
    }

    /// The tasks for workers only, which are sent without an id.
    private static let unanswered = ["plugin.log", "plugin.publish", "plugin.metrics"]

    /// Records the answers that the process must receive for a line.
    private func note(_ line: SplitLine) {
        _ = decoder.decode(line) { item in
            if case .call(let call) = item, let id = call.pointee.callbackID {
                let task = String(decoding: call.pointee.task, as: UTF8.self)
                if !Self.unanswered.contains(task) { account.owe(id, .native) }
            }
            return true
        }
    }

    /// Reads the messages to the process.
    func read() throws(Violation) {
        guard !isClosed else { return }
        channel.flush()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
            guard count > 0 else { break }
            partOfLine += buffer[..<count]
            channel.flush()
        }
        while let end = partOfLine.firstIndex(of: 0x0A) {
            let line = Array(partOfLine[..<end])
            partOfLine.removeFirst(end + 1)
            try account.take(line)
        }
    }

    func checkSettled() throws(Violation) {
        guard !isOver else { return }
        try require(partOfLine.isEmpty, "half a line to the process: \(partOfLine.shown)")
        try account.checkSettled()
    }

    func close() {
        isClosed = true
        isOver = true
        channel.close()
        _ = Glibc.close(socket)
    }
}
