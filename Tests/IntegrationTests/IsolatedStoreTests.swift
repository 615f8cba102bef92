import BridgeJSON
import Glibc
import Testing

@Suite("A plugin with a store, in its own process", .blocking)
struct IsolatedStoreTests {
    /// Kills the process of a plugin and waits for the next one.
    private func kill(_ name: String, _ client: Wire) throws {
        _ = try client.result("bridge.subscribe", ["events": ["plugin.started"]])
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        let pid = try #require(plugins.first { $0["name"]?.stringValue == name }?["pid"]?.int64Value)
        try #require(Glibc.kill(pid_t(pid), SIGKILL) == 0)
        let started = try client.receive { $0["event"] == "plugin.started" }
        #expect(started["data"]?["name"]?.stringValue == name)
    }

    @Test("has its records again after its process was killed and replaced")
    func persistence() throws {
        try withDaemon("[plugins.persistence]\nisolation = \"process\"") { daemon in
            let client = try daemon.connect()
            let record: JSON = ["table": "notes", "key": "a", "record": ["text": "milk"]]
            #expect(try client.result("persistence.create", record)["version"] == 1)
            for _ in 1...2 {
                try kill("persistence", client)
                let read = try client.call("persistence.read", ["table": "notes", "key": "a"])
                #expect(read["result"]?["record"] == ["text": "milk"], "\(read)")
            }
            let update: JSON = ["table": "notes", "key": "a", "patch": ["text": "tea"]]
            #expect(try client.result("persistence.update", update)["version"] == 2)
        }
    }

    @Test("has its accounts again after its process was killed and replaced")
    func login() throws {
        try withDaemon("[plugins.login]\nisolation = \"process\"") { daemon in
            let client = try daemon.connect()
            let user: JSON = ["user": "ada", "password": "correct horse"]
            _ = try client.result("login.users.add", user)
            try kill("login", client)
            let answer = try client.call("login", user)
            #expect(answer["result"]?["user"] == "ada", "\(answer)")
        }
    }
}
