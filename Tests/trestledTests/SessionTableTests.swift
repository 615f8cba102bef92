import BridgeJSON
import BridgeServer
import TaskRuntime
import TestSupport
import Testing

@testable import trestled

@Suite("The table of sessions that the daemon hands over to its next process")
struct SessionTableTests {
    /// Lines as this version writes them. A changed format must still be readable by released versions.
    private let text = [
        #"{"sessions":{"lastSession":9,"providers":[{"task":"t","session":3,"scope":"any"}]}}"#,
        #"{"share":{"plugin":"login","state":{"states":{"3":{"user":"ada"}}}}}"#,
        #"{"connection":{"socket":77,"session":{"number":3,"openMs":5,"origin":"a"},"input":"{\"task\":\"x\"}\n","#
            + #""unfinishedLine":"{\u00ff","output":"\u0000é"}}"#,
    ]

    private func table(_ lines: [String]) -> SessionTable {
        SessionTable(reading: Array(lines.joined(separator: "\n").utf8))
    }

    @Test("is read and written without changes")
    func roundTrip() throws {
        let table = table(text)
        #expect(table.faults == [])
        #expect(table.lastSession == 9 && table.providers.map(\.task) == ["t"])
        #expect(table.plugins.map(\.plugin) == ["login"])
        let connection = try #require(table.connections.first)
        #expect(connection.socket == 77 && connection.session.origin == "a")
        #expect(connection.input?.bytes == Array("{\"task\":\"x\"}\n".utf8))
        #expect(connection.unfinishedLine?.bytes == [UInt8(ascii: "{"), 0xFF])
        #expect(connection.output?.bytes == [0, 0xE9])
        let again = SessionTable(reading: try table.text { _ in 0 }.text)
        #expect(again.connections == table.connections && again.providers == table.providers)
        #expect(again.plugins.map(\.state) == table.plugins.map(\.state) && again.lastSession == 9)
    }

    @Test("is read if another version has added members and kinds of lines")
    func newer() {
        var lines = text.map { $0.replacing("{\"socket\":77", with: "{\"later\":[1],\"socket\":77") }
        lines.insert(#"{"kind of line":{"a":1}}"#, at: 1)
        let table = table(lines)
        #expect(table.faults == [] && table.connections.count == 1 && table.lastSession == 9)
    }

    @Test("loses only invalid lines, and reports them")
    func faults() {
        let bad = [
            #"{"connection":{"session":{"number":4}}}"#, #"{"connection":{"socket":1,"session":{}}}"#,
            #"{"connection":{"socket":1,"session":{"number":1},"input":"\u0100"}}"#, "no JSON", #"{"share":{}}"#,
        ]
        let table = table(bad + text)
        #expect(table.faults.count == bad.count, "\(table.faults)")
        #expect(table.faults.first?.hasPrefix("line 1 of the table of sessions") == true)
        #expect(table.connections.map(\.session.number) == [3])
    }

    /// Returns a session with this number of unread bytes.
    private func session(_ number: Int, unread: Int) -> String {
        let output = String(repeating: "x", count: unread)
        return #"{"connection":{"socket":\#(number),"session":{"number":\#(number)},"output":"\#(output)"}}"#
    }

    @Test("omits sessions for which it has no room, and keeps all others")
    func leavesOut() throws {
        // User 1 has 40 long sessions and a short one; user 2 has two short ones.
        let lines = (1...40).map { session($0, unread: 10_000) } + [41, 51, 52].map { session($0, unread: 100) }
        let head = #"{"sessions":{"providers":[{"task":"a","session":40},{"task":"b","session":51}]}}"#
        let table = table([head] + lines)
        let (text, leftOut) = try table.text(atMost: 100_000) { $0 > 50 ? 2 : 1 }
        #expect(text.count <= 100_000)
        let read = SessionTable(reading: text)
        #expect(read.faults == [])
        let kept = Set(read.connections.map(\.session.number))
        #expect(kept.isSuperset(of: [41, 51, 52]) && kept.isDisjoint(with: leftOut))
        #expect(kept.count == 7 && kept.union(leftOut).count == 43)
        #expect(read.providers.map(\.task) == ["b"])
        // The state that plugins have of a session counts as part of it, and is omitted with it.
        var known = table
        let long = JSON.string(String(repeating: "k", count: 60_000))
        known.plugins = [("p", ["states": ["41": long, "51": 1, "99": 2]])]
        let (withKnown, withoutRich) = try known.text(atMost: 100_000) { $0 > 50 ? 2 : 1 }
        #expect(withKnown.count <= 100_000 && withoutRich.contains(41) && !withoutRich.contains(51))
        #expect(SessionTable(reading: withKnown).plugins.map(\.state) == [["states": ["51": 1]]])
        // All sessions are kept if there is room.
        let whole = try table.text { _ in 1 }
        #expect(whole.leftOut.isEmpty)
        #expect(SessionTable(reading: whole.text).connections == table.connections)
        // Nothing is written if there is no room even for the common part.
        #expect(throws: SessionTable.TooLong.self) { try table.text(atMost: 20) { _ in 1 } }
    }

    @Test("is read without a crash for any mutation of its bytes", arguments: 0..<200 as Range<UInt64>)
    func mutated(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = generator.mutate(Array(text.joined(separator: "\n").utf8), changes: 1...6)
        let table = SessionTable(reading: bytes)
        #expect(table.connections.count <= 1 && table.faults.count <= 8)
    }
}
