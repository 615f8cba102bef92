import BridgeJSON
@testable import BridgeMessage
import Logging
@testable import TaskRuntime

// The daemon's core: splitter, decoder and runtime, with four clients, a plugin with an interceptor, and a clock. The
// input: a byte for the limits, then records whose first byte selects the event; see `FuzzedRuntime.step`.
//
// - Each call that contains an id gets one callback: never a second one, and none is missing after its deadline or
//   after the end of its session. An error about a message does not end a call. Progress is sent before the end.
// - A call by a plugin ends once.
// - The output is lines of JSON.
// - In the end no call is in flight, no stream and no end of a pipe remains, and no byte is counted for any.
func fuzzRuntime(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let fuzzed = FuzzedRuntime(limits: input.byte())
    _ = input.record()
    // More steps show nothing new.
    for _ in 0..<400 where !input.isEmpty { try fuzzed.step(input.record()) }
    try fuzzed.finish()
}

private final class FuzzedRuntime {
    private let clock = ManualRuntimeClock()
    private let decoder = MessageDecoder(urlSchemes: ["jxaction"])
    private let runtime: TaskRuntime
    private let host = FuzzHost()
    private let instance: PluginInstance
    private var clients: [FuzzClient] = []
    private let names = FuzzNames()
    private var pipes: [FuzzPipe] = []
    private var pluginCallsMade = 0
    private var pluginCallsEnded = 0

    private static let daemonUID: UInt32 = 900
    private static let uids: [UInt32] = [0, daemonUID, 1000, 1000]

    init(limits choice: UInt8) {
        runtime = TaskRuntime(
            limits: Self.limits(choice), policy: Policy(daemonUID: Self.daemonUID),
            daemon: DaemonDescription(version: "1.2.3", pid: 77), clock: clock,
            log: Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() }))
        clock.runtime = runtime
        var manifest = PluginManifest(
            name: "worker", version: "1.0", tasks: Self.tasks,
            events: [EventSummary(name: "work.done", summary: "Work is done.", isPublic: false)], workers: [])
        manifest.interceptors = [
            InterceptorDescription(name: "strict", tasks: ["guarded*"]),
            InterceptorDescription(name: "lax", tasks: ["guarded", "conformance.*"], onFailure: .pass),
        ]
        guard let instance = try? runtime.add(manifest, path: "/plugins/worker.so", host: host),
            (try? runtime.open(instance)) != nil
        else { fatalError("the plugin was refused") }
        self.instance = instance
        runtime.makePipe = { [unowned self] _, events in
            pipes.append(FuzzPipe(events))
            return pipes[pipes.count - 1]
        }
        clients = Self.uids.map { FuzzClient(runtime, uid: $0, names) }
    }

    private static var tasks: [TaskDescription] {
        let schema: JSON = [
            "type": "object", "properties": ["a": ["type": "integer"], "b": ["type": "string", "maxLength": 3]],
            "required": ["a"],
        ]
        return [
            TaskDescription(name: "work"), TaskDescription(name: "one", concurrency: 1),
            TaskDescription(name: "slow", deadline: .none),
            TaskDescription(name: "quick", deadline: .after(.milliseconds(50))),
            TaskDescription(name: "checked", schemas: TaskSchemas(options: schema)),
            TaskDescription(name: "guarded"), TaskDescription(name: "guarded.one", concurrency: 1),
            TaskDescription(name: "secret", isPrivate: true), TaskDescription(name: "Echo"),
        ]
    }

    private static func limits(_ choice: UInt8) -> RuntimeLimits {
        var limits = RuntimeLimits()
        if choice & 1 != 0 { limits.messageBytes = 600 }
        if choice & 2 != 0 { limits.callsInFlight = 3 }
        if choice & 4 != 0 { limits.unreadBytes = 500 }
        if choice & 16 != 0 { limits.streamWindowBytes = 10 }
        if choice & 8 != 0 { (limits.queuedEvents, limits.queuedEventBytes) = (3, 400) }
        return limits
    }

    // MARK: Events

    /// Executes a record. An unknown step has no effect.
    func step(_ record: [UInt8]) throws(Violation) {
        guard let first = record.first else { return }
        let rest = Array(record.dropFirst())
        let client = clients[Int(first & 3)]
        switch Character(UnicodeScalar(first)) {
        // A client sends a line, or a piece of one. (0 and 4 end in the same two bits.)
        case "0", "1", "2", "3": client.send(rest + [0x0A], decoder)
        case "4", "5", "6", "7": client.send(rest, decoder)
        // It ends its input; is replaced by another client; reads; does not read.
        case "@", "A", "B", "C": client.endInput(decoder)
        case "P", "Q", "R", "S": hangUp(Int(first & 3))
        case "`", "a", "b", "c": client.setReading(true)
        case "p", "q", "r", "s": client.setReading(false)
        default: stepOfDaemon(first, rest)
        }
        runtime.writeOutput()
        for index in clients.indices { try closeWhereAsked(index) }
    }

    private func stepOfDaemon(_ first: UInt8, _ rest: [UInt8]) {
        switch Character(UnicodeScalar(first)) {
        // The plugin answers, fails, sends progress, calls, publishes. Its process ends, permanently or not; it starts
        // again.
        case "=": if let call = begun(rest) { withPadding(rest.dropFirst()) { instance.reply(call, $0) } }
        case "!": if let call = begun(rest) { instance.fail(call, BridgeError(code(rest.dropFirst()), "no")) }
        case "+": if let call = begun(rest) { withPadding(rest.dropFirst()) { instance.progress(call, $0) } }
        case ">": call(rest)
        case "*": publish(rest)
        case "x": instance.crashed(BridgeError(.pluginCrashed, "gone"), lost: host.started, isRestarting: true)
        case "X": instance.crashed(BridgeError(.pluginCrashed, "gone"), lost: host.started, isRestarting: false)
        case "y": instance.restarted()
        // The writer of a pipe writes, or closes its end; the reader reads, or closes its end.
        case "|": pipe(rest)?.bring(Array(rest.dropFirst()))
        case "(": pipe(rest)?.makeRoom(rest.count)
        case ")": pipe(rest)?.breakOff()
        // Time passes; the limits change; the daemon stops.
        case "t": clock.advance(.milliseconds(Int64(clamping: rest.prefix(6).reduce(0) { $0 * 10 + Int($1 & 15) })))
        case "l": runtime.apply(Self.limits(rest.first ?? 0))
        case "d": runtime.drain {}
        case "D": runtime.endCallsInFlight()
        default: break
        }
    }

    /// Returns the call that a byte selects, counted from the newest.
    private func begun(_ rest: [UInt8]) -> CallHandle? {
        let place = host.started.count - 1 - Int((rest.first ?? 0) & 15)
        return host.started.indices.contains(place) ? host.started[place] : nil
    }

    /// Returns the pipe that a byte selects, counted from the newest.
    private func pipe(_ rest: [UInt8]) -> FuzzPipe? {
        let place = pipes.count - 1 - Int((rest.first ?? 0) & 15)
        return pipes.indices.contains(place) ? pipes[place] : nil
    }

    private func code(_ text: ArraySlice<UInt8>) -> ErrorCode {
        text.isEmpty ? .internal : ErrorCode(rawValue: String(decoding: text, as: UTF8.self))
    }

    private func call(_ rest: [UInt8]) {
        let parts = names.filled(rest.dropFirst()).split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard let task = parts.first else { return }
        pluginCallsMade += 1
        withPadding(parts.count > 1 ? parts[1] : Array("{}".utf8)[...]) { options in
            Array(task).withUnsafeBytes { task in
                _ = runtime.call(
                    PluginCall(
                        parent: begun(rest), task: task, options: options, session: nil, deadline: .standard,
                        onProgress: { _, _ in }, completion: { [unowned self] _ in pluginCallsEnded += 1 }),
                    by: instance)
            }
        }
    }

    private func publish(_ rest: [UInt8]) {
        let parts = rest.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, runtime.fault(in: parts[1]) == nil else { return }
        _ = Array(parts[1]).withUnsafeBytes {
            runtime.events.publish(
                String(decoding: parts[0], as: UTF8.self), data: $0, to: [1, 3], direct: true, for: instance.account)
        }
    }

    private func hangUp(_ index: Int) {
        runtime.hangUp(clients[index].session)
        clients[index] = FuzzClient(runtime, uid: Self.uids[index], names)
    }

    /// Closes a connection that must be closed, once everything is written: all its calls must have ended by then.
    private func closeWhereAsked(_ index: Int) throws(Violation) {
        if let violation = clients[index].violation { throw violation }
        guard clients[index].isToBeClosed else { return }
        try clients[index].checkSettled()
        hangUp(index)
    }

    // MARK: The end

    /// Longer than the deadline of any call that has one.
    private static let long = Duration.seconds(400 * 24 * 3600)

    /// Lets all deadlines pass; the plugin ends the calls without a deadline.
    func finish() throws(Violation) {
        instance.restarted()
        var answered = 0
        repeat {
            clock.advance(Self.long)
            let begun = host.started[answered...]
            answered = host.started.count
            for call in begun { withPadding(Array("{}".utf8)) { instance.reply(call, $0) } }
            runtime.writeOutput()
        } while host.started.count > answered
        // Streams without progress wait for ever.
        runtime.streams.endAll()
        runtime.writeOutput()
        for client in clients { try client.checkSettled() }
        try require(
            pluginCallsMade == pluginCallsEnded, "\(pluginCallsMade) calls of the plugin, \(pluginCallsEnded) ends")
        try require(runtime.streams.count == 0, "\(runtime.streams.count) streams are left")
        try require(pipes.allSatisfy(\.isClosed), "the daemon keeps ends of pipes")
        try require(runtime.calls.count == 0, "\(runtime.calls.count) calls are in flight")
        try require(runtime.callsInFlight == 0, "\(runtime.callsInFlight) calls of clients are in flight")
        close()
        try require(runtime.quotas.queuedBytes == 0, "\(runtime.quotas.queuedBytes) bytes are counted for no one")
    }

    /// Breaks reference cycles, so that they are not counted as leaks.
    private func close() {
        for client in clients { runtime.hangUp(client.session) }
        runtime.remove(instance)
        runtime.writeOutput()
    }
}

extension TaskRuntime {
    fileprivate func fault(in bytes: ArraySlice<UInt8>) -> String? { withPadding(bytes) { fault(in: $0) } }
}
