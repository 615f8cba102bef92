import BridgeJSON
import Testing

@Suite("Options of more than 65,536 bytes", .blocking)
struct OptionLengthTests {
    private static let refusal: JSON = "at most 65536 bytes of options"

    /// Returns options of this length, with one member that is a long text.
    private func options(_ bytes: Int, member: String) -> JSON {
        [member: .string(String(repeating: "x", count: bytes - member.utf8.count - 7))]
    }

    @Test(
        "are refused before they are parsed, by tasks of the daemon and of plugins in each isolation",
        arguments: ["none", "process"])
    func named(isolation: String) throws {
        let sections = ["closeweb", "login"].map { "[plugins.\($0)]\nisolation = \"\(isolation)\"" }
        try withDaemon(sections.joined(separator: "\n")) { daemon in
            for (task, member) in [("bridge.cancel", "callbackId"), ("login", "password"), ("closeWeb", "info")] {
                let client = try daemon.connect()
                let maximum = options(65_536, member: member)
                #expect(maximum.bytes.count == 65_536)
                // Options of the maximum length are parsed, whatever the task answers.
                #expect(try client.call(task, maximum)["error"]?["data"]?["expected"] != Self.refusal, "\(task)")
                let other = try daemon.connect()
                let error = try other.call(task, options(65_537, member: member))["error"]
                #expect(error?["code"] == "options.invalid", "\(task)")
                #expect(error?["data"] == ["path": "$", "expected": Self.refusal, "got": "65537 bytes"], "\(task)")
            }
        }
    }

    @Test("are refused as positional parameters of any task, and accepted by name if the task accepts them")
    func positional() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            func error(_ task: String, _ bytes: Int) throws -> JSON? {
                let text = String(repeating: "x", count: bytes - 4)
                try client.send(#"{"jsonrpc":"2.0","method":"\#(task)","params":["\#(text)"],"id":1}"#)
                return try client.receive()["error"]
            }
            #expect(try error("Echo", 65_536) == nil)
            for task in ["Echo", "login", "bridge.cancel", "persistence.query"] {
                let error = try error(task, 65_537)
                #expect(error?["code"] == -32602 && error?["data"]?["code"] == "options.invalid", "\(task)")
                #expect(error?["data"]?["data"]?["expected"] == Self.refusal, "\(task): \(error?.text ?? "")")
                #expect(error?["message"]?.stringValue?.hasSuffix("name the parameters of longer ones") == true)
            }
            let named = options(65_537, member: "text")
            try client.send(["jsonrpc": "2.0", "method": "Echo", "params": named, "id": 2])
            #expect(try client.receive()["result"] == named)
        }
    }
}
