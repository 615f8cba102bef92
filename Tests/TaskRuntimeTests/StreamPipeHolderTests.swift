import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Pipes of plugins, and the limit of pipes")
struct StreamPipeHolderTests {
    private let bench = Bench()
    private let pipes: FakePipes
    private let client: StreamClient

    init() {
        pipes = FakePipes(bench)
        client = StreamClient(bench)
    }

    private func attach(_ client: StreamClient, _ stream: JSON, _ side: JSON) -> JSON {
        client.call("attach", ["stream": stream, "side": side])
    }

    // MARK: A plugin's process

    /// Returns a plugin's process and the receiver of its descriptors.
    private func process() -> (plugin: StreamPlugin, receiver: FakeReceiver) {
        let plugin = StreamPlugin(bench, bench.instance, holder: StreamHolder())
        let receiver = FakeReceiver()
        plugin.receiver = receiver
        return (plugin, receiver)
    }

    @Test("A plugin's process gets a descriptor with the result of each attach that succeeds")
    func passed() {
        let (plugin, receiver) = process()
        let stream = plugin.call("new", [:])["stream"] ?? .null
        #expect(plugin.call("attach", ["stream": stream, "side": "write"]) == [:])
        #expect(plugin.call("attach", ["stream": stream, "side": "write"]).errorCode == "stream.invalid")
        #expect(plugin.call("attach", ["stream": stream, "side": "read"]) == [:])
        #expect(receiver.passedCount == 2 && pipes.made.count == 1)
    }

    @Test("A process that does not receive its descriptors gets no more than 16 of them")
    func unread() {
        let (plugin, receiver) = process()
        let stream = plugin.call("new", [:])["stream"] ?? .null
        receiver.unreadDescriptors = 16
        #expect(plugin.call("attach", ["stream": stream]).errorCode == "busy")
        receiver.unreadDescriptors = 15
        #expect(plugin.call("attach", ["stream": stream]) == [:])
    }

    // MARK: A plugin in the daemon's process

    /// Makes a call as the functions of the plugin interface do.
    private func call(_ work: PluginStreamCall.Work, _ stream: String, _ side: StreamSide? = nil) throws -> StreamResult
    {
        var answer: Result<StreamResult, BridgeError>?
        _ = bench.runtime.call(
            PluginStreamCall(parent: nil, stream: stream, side: side, deadline: .none, work) { answer = $0 },
            by: bench.instance)
        return try #require(answer).get()
    }

    private func make() throws -> String {
        let work = PluginStreamCall.Work.make(.writer, type: "a/b", totalBytes: 5, attaches: false)
        guard case .made(let name, _, nil) = try call(work, "") else { return "" }
        return name
    }

    @Test("A plugin in the daemon's process can get a pipe end together with the stream that it makes")
    func madeInDaemon() throws {
        let work = PluginStreamCall.Work.make(.writer, type: "a/b", totalBytes: 5, attaches: true)
        guard case .made(let stream, 262_144, .some) = try call(work, "") else {
            Issue.record("the writer's end is no pipe")
            return
        }
        #expect(throws: BridgeError.self) { try call(.attach, stream, .writer) }
        guard case .attached(_, "a/b", 5) = try call(.attach, stream, .reader) else {
            Issue.record("the reader's end is no pipe")
            return
        }
        #expect(pipes.made.count == 1 && pipes.made[0].given == [.writer, .reader])
    }

    @Test("A plugin in the daemon's process gets its end directly, with the type and length of the maker")
    func inDaemon() throws {
        let stream = try make()
        guard case .attached(_, nil, nil) = try call(.attach, stream, .writer) else {
            Issue.record("the writer's end is no pipe")
            return
        }
        guard case .attached(_, "a/b", 5) = try call(.attach, stream, .reader) else {
            Issue.record("the reader's end is no pipe")
            return
        }
        #expect(pipes.made.count == 1 && pipes.made[0].given == [.writer, .reader])
    }

    @Test("Pipe ends of plugins in the daemon's process count for the daemon, even if both ends are pipes")
    func keptInDaemon() throws {
        for _ in 0..<2 {
            let stream = try make()
            _ = try call(.attach, stream, .writer)
            _ = try call(.attach, stream, .reader)
        }
        for _ in 0..<62 { _ = try call(.attach, try make(), .writer) }
        #expect(throws: BridgeError.self) { try call(.attach, try make(), .writer) }
    }

    @Test("A plugin that has both ends closes the side that it names")
    func closedSide() throws {
        let stream = try make()
        _ = try call(.attach, stream, .writer)
        _ = try call(.attach, stream, .reader)
        guard case .receipt(_, let fault) = try call(.close(bytes: nil, nil), stream, .reader) else {
            Issue.record("the reader's end is not closed")
            return
        }
        #expect(fault?.side == .reader)
    }

    // MARK: Limits

    @Test("A session has at most 64 pipe ends, and can get another one after a stream has ended")
    func holder() {
        let reader = StreamClient(bench)
        var last: JSON = .null
        for _ in 0..<32 {
            for _ in 0..<2 {
                last = .string(client.make())
                #expect(attach(client, last, "write") == [:])
                // If both ends are pipes, the daemon keeps no end.
                #expect(attach(reader, last, "read") == [:])
            }
        }
        let more = JSON.string(StreamClient(bench).make())
        #expect(attach(reader, more, "read").errorCode == "busy")
        _ = reader.call("close", ["stream": last, "side": "read"])
        #expect(attach(reader, more, "read") == [:])
    }
}
