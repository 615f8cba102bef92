import Testing
import WebContainer

@Suite("The steps of a load that a client has begun") struct AwaitedLoadTests {
    @Test("steps of an earlier load, before the engine's decision about the new one, do not count for the new one")
    func earlier() {
        var load = AwaitedLoad()
        #expect(!load.isPending)
        load.begin("http://a.test/", isInHistory: false)
        load.started()
        #expect(load.isPending && load.isBeforeDecision && !load.isStarting)
        load.decided("about:blank")
        load.started()
        #expect(load.isPending && load.isBeforeDecision)
        load.decided("http://a.test/")
        #expect(load.isPending && !load.isBeforeDecision && load.isStarting)
        load.started()
        #expect(!load.isPending && !load.isStarting)
    }

    @Test("a return to the document's address before the start is not a load within the document")
    func withinDocument() {
        var load = AwaitedLoad()
        load.begin("http://a.test/#part", isInHistory: false)
        #expect(!load.mayBeWithinDocument("http://a.test/#part"))
        load.decided("http://a.test/#part")
        #expect(!load.mayBeWithinDocument("http://a.test/"))
        #expect(load.mayBeWithinDocument("http://a.test/#part"))
        load.end()
        #expect(!load.isPending && !load.mayBeWithinDocument("http://a.test/#part"))
        for isInHistory in [false, true] {
            load.begin("http://a.test/pushed", isInHistory: isInHistory)
            load.decided("http://a.test/pushed")
            #expect(load.mayBeWithinDocument("http://a.test/pushed") == isInHistory)
        }
    }
}
