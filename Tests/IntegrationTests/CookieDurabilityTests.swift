import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Acknowledged cookies", .blocking)
struct CookieDurabilityTests {
    /// The number of calls that are open at a time. It is large enough for them to share commits.
    private static let window = 32

    @Test("survive SIGKILL at any moment during writes")
    func kill() throws {
        let home = try DaemonHome()
        var acknowledged: Set<Int> = []
        for (round, count) in [1, 2, 5, 20, 60].enumerated() {
            try withDaemon(in: home) { daemon in
                try check(acknowledged, try daemon.connect())
                let wire = try daemon.connect()
                var next = round * 1000
                func send() throws {
                    let url: JSON = .string("https://h\(next).example/")
                    let options: JSON = ["url": url, "line": .string("c\(next)=1; Max-Age=1000; Secure")]
                    try wire.send(["task": "cookies.set", "options": options, "callbackId": .number(JSONNumber(next))])
                    next += 1
                }
                func take(_ callback: JSON) throws {
                    let number = try #require(callback["callbackId"]?.int64Value)
                    #expect(callback["result"]?["version"] != nil, "\(callback.text)")
                    acknowledged.insert(Int(number))
                }
                for _ in 0..<Self.window { try send() }
                for _ in 0..<count {
                    try take(wire.receive())
                    try send()
                }
                daemon.signal(SIGKILL)
                while let line = try wire.receiveLine() { try take(JSON(parsing: line)) }
                #expect(try daemon.wait() == .killed(by: SIGKILL))
            }
        }
        try withDaemon(in: home) { daemon in try check(acknowledged, try daemon.connect()) }
    }

    private func check(_ acknowledged: Set<Int>, _ wire: Wire) throws {
        let got = try wire.result("cookies.get")
        let names = Set((got["cookies"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue })
        #expect(acknowledged.allSatisfy { names.contains("c\($0)") })
    }
}
