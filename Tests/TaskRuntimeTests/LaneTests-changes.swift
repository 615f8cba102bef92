import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

extension LaneTests {
    @Test("A provider that unregisters or disconnects during a check gets no call; the caller gets one error")
    func providerGone() {
        let provider = provider(of: "t")
        let caller = bench.client()
        send(caller, 1, "t", LongOptions.fitting)
        provider.send(#"{"task":"bridge.unregister","options":{"tasks":["t"]}}"#)
        lane.runAll()
        #expect(caller.readOne()?.errorCode == "task.not_found")
        #expect(provider.read().isEmpty)
        let another = self.provider(of: "u")
        send(caller, 2, "u", LongOptions.fitting)
        bench.runtime.hangUp(another.session)
        lane.runAll()
        #expect(caller.readOne()?.errorCode == "task.not_found")
    }

    @Test("If another provider registers during a check, the options are checked again with its schema")
    func otherProvider() {
        let first = provider(of: "t")
        let caller = bench.client()
        send(caller, 1, "t", LongOptions.fitting)
        let second = provider(of: "t", schema: #"{"properties":{"s":{"type":"integer"}}}"#)
        lane.runNext()
        #expect(lane.uids.count == 1)
        #expect(caller.session.waitsForJobs)
        lane.runNext()
        #expect(caller.readOne()?.errorCode == "options.invalid")
        #expect(first.read().isEmpty && second.read().isEmpty)
        #expect(!caller.session.waitsForJobs)
    }

    private func successor(_ tasks: [TaskDescription]) throws -> (PluginInstance, FakeHost) {
        let host = FakeHost()
        let manifest = PluginManifest(name: "worker", version: "2.0", tasks: tasks, events: [], workers: [])
        return (
            try bench.runtime.candidate(manifest, path: "/plugins/2.so", host: host, inPlaceOf: bench.instance), host
        )
    }

    @Test("If a plugin is replaced during a check, its successor gets the call, checked with the new schema")
    func replaced() throws {
        let client = bench.client()
        send(client, 1, "checked", LongOptions.fitting)
        let (new, host) = try successor([LongOptions.task("checked")])
        try bench.runtime.replace(bench.instance, by: new)
        #expect(lane.runAll() == 2)
        #expect(bench.host.started.isEmpty)
        #expect(host.started.map(\.options) == [LongOptions.fitting])
    }

    @Test("Calls that waited for a plugin keep their order while they are checked for its successor")
    func handedOver() throws {
        let client = bench.client()
        send(client, 1, "single", "{}")
        send(client, 2, "single", LongOptions.fitting)
        lane.runAll()
        send(client, 3, "single", #"{"n":3}"#)
        let (new, host) = try successor([LongOptions.task("single")])
        try bench.runtime.replace(bench.instance, by: new)
        #expect(host.started.isEmpty)
        lane.runAll()
        #expect(host.started.map(\.options) == [LongOptions.fitting, #"{"n":3}"#])
        #expect(new.waitingCount == 0)
    }

    // MARK: Interceptors

    @Test("Options are checked in the lane after the interceptors, also if an interceptor wrote them")
    func interceptors() {
        let one = FakeInterceptor(bench, "look", ["checked"])
        let client = bench.client()
        send(client, 1, "checked", "{}")
        one.decide(0, #"{"options":\#(LongOptions.misfitting)}"#)
        send(client, 2, "checked", "{}")
        one.decide(1, #"{"pass":true}"#)
        #expect(lane.uids.count == 1)
        // The second call does not overtake the first, which keeps its position.
        #expect(bench.host.started.isEmpty)
        lane.runAll()
        #expect(client.readOne()?.errorCode == "options.invalid")
        bench.runtime.writeOutput()
        #expect(bench.host.started.map(\.options) == ["{}"])
        #expect(bench.instance.waitingCount == 0)
    }

    @Test("A call that ends while it is checked after an interceptor releases its slot")
    func interceptedEnd() {
        let one = FakeInterceptor(bench, "look", ["checked"])
        let client = bench.client()
        send(client, 1, "checked", LongOptions.fitting)
        one.decide(0, #"{"pass":true}"#)
        send(client, 2, "work", "{}")
        #expect(bench.host.started.isEmpty)
        bench.clock.advance(.seconds(3_600))
        lane.runAll()
        #expect(client.read().map(\.errorCode) == ["call.timeout", "call.timeout"])
        #expect(bench.instance.waitingCount == 0)
        #expect(one.questions.count == 1)
    }
}
