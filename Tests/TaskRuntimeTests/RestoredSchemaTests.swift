import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Schemas of restored tasks are parsed at the first call")
struct RestoredSchemaTests {
    private let lane = ManualLane()
    private let log = LogOfTest()
    private let new: Bench
    private let provider: FakeClient

    init() {
        new = Bench(lane: lane, log: log)
        provider = new.client()
    }

    private static let long =
        #"{"type":"object","required":["s"],"description":"\#(String(repeating: "x", count: 60_000))"}"#

    /// Returns the previous daemon's records of the provider's tasks.
    private func records(_ schemas: [String]) throws -> [ProviderRecord] {
        try schemas.enumerated().map { index, schema in
            let description = ProvidedDescription(options: try JSON(parsing: schema))
            return ProviderRecord(task: "t\(index)", session: provider.session.number, description: description)
        }
    }

    private func restore(_ schemas: String...) throws {
        #expect(new.runtime.restore(try records(schemas)).isEmpty)
    }

    /// Returns whether the schema of a task is still unparsed text.
    private func isText(_ task: String) throws -> Bool {
        let entry = try #require(new.runtime.tasks.find(task)?.provider as? ClientTask)
        if case .unread = entry.providers[0].provision.optionsSchema { return true }
        return false
    }

    private func call(_ client: FakeClient, _ task: String = "t0", _ options: String = "{}") {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":1}"#)
    }

    @Test("No schema is parsed when tasks are restored, for any number and length")
    func entered() throws {
        #expect(new.runtime.restore(try records(Array(repeating: Self.long, count: 200))).isEmpty)
        #expect(lane.uids.isEmpty)
        for index in 0..<200 { #expect(try isText("t\(index)")) }
    }

    @Test("Restored tasks are described and handed over without parsing")
    func described() throws {
        try restore(Self.long)
        let schema = try JSON(parsing: Self.long)
        let client = new.client()
        client.send(#"{"task":"bridge.describe","options":{"task":"t0"},"callbackId":1}"#)
        #expect(client.readOne()?["result"]?["options"] == schema)
        #expect(new.runtime.providers(among: [provider.session.number]).first?.description?.options == schema)
        #expect(try isText("t0"))
    }

    @Test("A long schema is parsed in the lane at the first call, once, and the call is checked")
    func firstCall() throws {
        try restore(Self.long)
        let client = new.client(uid: 0)
        call(client)
        #expect(lane.uids == [0] && client.session.waitsForJobs)
        #expect(try isText("t0"))
        lane.runNext()
        #expect(try !isText("t0"))
        #expect(lane.uids.isEmpty && !client.session.waitsForJobs)
        #expect(client.readOne()?.errorCode == "options.invalid")
        call(client, "t0", #"{"s":1}"#)
        #expect(lane.uids.isEmpty)
        #expect(provider.read().last?["options"] == ["s": 1])
        #expect(client.session.account.queuedBytes == 0)
    }

    @Test("Long options of the first call are checked in the lane")
    func longOptions() throws {
        try restore(Self.long)
        let client = new.client()
        call(client, "t0", LongOptions.fitting)
        #expect(lane.runAll() == 2)
        #expect(provider.read().last?["task"] == "t0")
    }

    @Test("Calls that arrive at the same time are checked with the same schema")
    func several() throws {
        try restore(Self.long)
        let clients = (0..<2).map { _ in new.client() }
        call(clients[0])
        call(clients[1], "t0", #"{"s":1}"#)
        lane.runAll()
        #expect(clients[0].readOne()?.errorCode == "options.invalid")
        #expect(provider.read().last?["options"] == ["s": 1])
    }

    @Test("A short schema is parsed at once at the first call; a schema that permits everything is not checked")
    func short() throws {
        try restore(#"{"type":"array"}"#, "{}", "true")
        let client = new.client()
        call(client)
        #expect(client.readOne()?.errorCode == "options.invalid")
        call(client, "t1")
        call(new.client(), "t2")
        #expect(lane.uids.isEmpty)
        #expect(provider.read().map { $0["task"] } == ["t1", "t2"])
    }

    @Test(
        "A task whose schema is invalid is removed at the first call, and the removal is logged",
        arguments: [10, 2_000])
    func refused(bytes: Int) throws {
        try restore(#"{"type":"no type","description":"\#(String(repeating: "x", count: bytes))"}"#)
        let client = new.client()
        call(client)
        lane.runAll()
        #expect(client.readOne()?.errorCode == "task.not_found")
        #expect(new.runtime.tasks.find("t0") == nil)
        #expect(provider.session.registrations.isEmpty && provider.session.account.descriptionBytes == 0)
        #expect(log.lines.all.contains { $0.contains("no longer provides the task t0: its schema") })
    }

    @Test(
        "If the provider disconnects or registers again during parsing, the parsed schema is not used",
        arguments: [true, false])
    func meanwhile(isGone: Bool) throws {
        try restore(Self.long)
        let client = new.client()
        call(client)
        if isGone {
            new.runtime.hangUp(provider.session)
        } else {
            provider.send(#"{"task":"bridge.register","options":{"tasks":["t0"]}}"#)
        }
        lane.runAll()
        if isGone {
            #expect(client.readOne()?.errorCode == "task.not_found")
        } else {
            #expect(provider.read().last?["task"] == "t0")
        }
    }

    @Test("A call that ends during parsing leaves the schema unparsed for the next call")
    func ended() throws {
        try restore(Self.long)
        let client = new.client()
        call(client)
        new.runtime.hangUp(client.session)
        lane.runAll()
        #expect(try isText("t0"))
        #expect(new.runtime.quotas.queuedBytes == 0)
    }
}
