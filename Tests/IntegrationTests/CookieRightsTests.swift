import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "The permission cookies.secrets, by the rules of a daemon", .blocking,
    .enabled(if: AnotherUser.isPossible, "needs root, setpriv and socat"))
struct CookieRightsTests {
    /// Returns the answers to another user that sets an HttpOnly cookie, reads it, exports it, requests its header and
    /// attaches a replica.
    private func answers(rule: String?) throws -> [String: JSON] {
        let home = try DaemonHome("socket_mode = \"0666\"\n")
        let names = ["cookies.set", "cookies.get", "cookies.import", "cookies.attach"].map { "\"\($0)\"" }
        let calls = "[[rule]]\nallow = \"call\"\nnames = [\(names.joined(separator: ", "))]\nuid = 65534\n"
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write(calls + (rule ?? ""), to: "policy.d/10.toml")
        return try withDaemon(in: home) { daemon in
            let lines = [
                ("cookies.set", #"{"url":"https://a.example/","line":"id=7; HttpOnly; Secure"}"#),
                ("cookies.get", "{}"), ("cookies.export", #"{"format":"netscape"}"#),
                ("cookies.header", #"{"url":"https://a.example/"}"#), ("cookies.attach", #"{"replica":"web"}"#),
            ]
            let text = lines.map { #"{"task":"\#($0.0)","options":\#($0.1),"callbackId":"\#($0.0)"}"# + "\n" }.joined()
            let talk = try AnotherUser.talk(text, to: daemon)
            let callbacks = try talk.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            return Dictionary(
                callbacks.map { ($0["callbackId"]?.stringValue ?? "", $0["result"] ?? $0["error"]?["code"] ?? nil) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    @Test("Without it a user gets HttpOnly cookies without values, and no other task returns the values")
    func denied() throws {
        let answers = try answers(rule: nil)
        let cookie = answers["cookies.get"]?["cookies"]?[0]
        #expect(cookie?["name"] == "id" && cookie?["httpOnly"] == true && cookie?["value"] == nil, "\(answers)")
        for task in ["cookies.export", "cookies.header", "cookies.attach"] {
            #expect(answers[task] == "permission.denied", "\(task): \(answers)")
        }
    }

    @Test("A rule with this name grants it")
    func given() throws {
        let answers = try answers(rule: "[[rule]]\nallow = \"call\"\nnames = \"cookies.secrets\"\nuid = 65534\n")
        #expect(answers["cookies.get"]?["cookies"]?[0]?["value"] == "7", "\(answers)")
        #expect(answers["cookies.export"]?["text"]?.stringValue?.contains("id\t7") == true, "\(answers)")
        #expect(answers["cookies.header"]?["header"] == "id=7", "\(answers)")
        #expect(answers["cookies.attach"]?["cookies"]?[0]?["value"] == "7", "\(answers)")
    }
}
