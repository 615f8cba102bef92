import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A plugin process that receives more calls than it can start at once", .blocking)
struct PluginHostTurnsTests {
    /// Runs `body` with the program that hosts the library of the fixture, and with this end of its socket.
    private func withHost(_ body: (SocketLineReader, (String) throws -> Void) throws -> Void) throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        defer { close(ends[0]) }
        let host = try SpawnedProcess(
            Paths.program("trestle-plugin-host"), [Paths.program("libFixture.so")],
            environment: ["TRESTLE_PLUGIN_FD=3"], handedOver: [ends[1]])
        close(ends[1])
        do {
            defer { withExtendedLifetime(host) {} }
            let reader = SocketLineReader(ends[0])
            func send(_ text: String) throws {
                let bytes = Array(text.utf8)
                try #require(write(ends[0], bytes, bytes.count) == bytes.count)
            }
            for (id, task) in [(1, "plugin.hello"), (2, "plugin.start")] {
                try send(#"{"task":"\#(task)","options":{},"callbackId":\#(id)}"# + "\n")
                while try callbackID(of: reader) != Int64(id) {}
            }
            try body(reader, send)
        }
    }

    /// Returns the id of the call that the next line answers; `nil` for any other message.
    private func callbackID(of reader: SocketLineReader) throws -> Int64? {
        let line = try #require(try reader.line())
        return try JSON(parsing: line)["callbackId"]?.int64Value
    }

    private func call(_ id: Int, steps: Int, uid: Int) -> String {
        let caller = #"{"session":\#(uid),"uid":\#(uid),"gid":1,"pid":1,"origin":"local","trusted":false}"#
        return #"{"task":"fixture.steps","options":{"count":\#(steps)},"callbackId":\#(id),"caller":\#(caller)}"# + "\n"
    }

    @Test("starts the call of a user before most of the calls that another user sent earlier")
    func turns() throws {
        let many = 3...802
        let other = 900
        try withHost { reader, send in
            try send(many.map { call($0, steps: 20, uid: 1000) }.joined() + call(other, steps: 20, uid: 2000))
            var order: [Int64] = []
            while order.count <= many.count { if let id = try callbackID(of: reader) { order.append(id) } }
            #expect(Set(order) == Set(many.map(Int64.init) + [Int64(other)]))
            #expect((order.firstIndex(of: Int64(other)) ?? .max) < many.count / 2)
        }
    }

    @Test("answers a call that is cancelled before it starts")
    func cancelled() throws {
        let many = 3...802
        try withHost { reader, send in
            let last = many.upperBound
            try send(many.map { call($0, steps: 20, uid: 1000) }.joined() + #"{"cancel":\#(last)}"# + "\n")
            var answers: [Int64: String] = [:]
            while answers.count < many.count {
                let line = try JSON(parsing: #require(try reader.line()))
                guard let id = line["callbackId"]?.int64Value else { continue }
                #expect(answers[id] == nil)
                answers[id] = line["error"]?["code"]?.stringValue ?? "result"
            }
            #expect(answers.removeValue(forKey: Int64(last)) == "call.cancelled")
            #expect(answers.values.allSatisfy { $0 == "result" })
        }
    }
}
