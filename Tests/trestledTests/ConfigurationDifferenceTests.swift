import BridgeJSON
import TestSupport
import Testing

@testable import trestled

@Suite("The changes of a reload")
struct ConfigurationDifferenceTests {
    /// A value other than the default for every setting, as TOML.
    private static let others: [String: String] = [
        "socket": #""/other/s""#, "socket_mode": #""0660""#, "state_dir": #""/other""#, "plugin_dir": #"["/p", "/q"]"#,
        "local_plugin_dir": #"["/p"]"#,
        "log_level": #""debug""#, "log_format": #""json""#, "drain_timeout": #""1s""#, "call_timeout": #""2s""#,
        "stop_timeout": #""3s""#, "plugin_watch": "true", "protect_memory": "false", "plugin_timeout": #""3s""#,
        "limits.message_bytes": "2000", "limits.calls_in_flight": "3", "limits.unread_bytes": #""8KiB""#,
        "limits.stalled": #""1m""#, "limits.handover_bytes": #""1MiB""#,
        "limits.events_queued": "5", "limits.event_queue_bytes": "8192", "limits.stream_window": "16384",
        "limits.sessions": "7", "policy_dir": #""/r""#,
        "quotas.session_calls_per_second": "8", "quotas.session_calls_burst": "9", "quotas.session_subscriptions": "10",
        "quotas.session_streams": "19", "quotas.uid_streams": "20",
        "quotas.session_tasks": "11", "quotas.uid_connections": "12", "quotas.uid_calls_in_flight": "13",
        "quotas.uid_calls_per_second": "14", "quotas.uid_calls_burst": "15", "quotas.uid_queued_bytes": #""1MiB""#,
        "quotas.uid_subscriptions": "16", "quotas.uid_tasks": "17", "quotas.trusted_factor": "18",
        "quotas.queued_bytes": #""2MiB""#, "quotas.plugin_calls_in_flight": "19",
        "quotas.plugins": "{ alert = { calls_in_flight = 1 } }", "quotas.tasks": "{ Echo = { calls_per_second = 2 } }",
        "dialects.url_schemes": #"["other"]"#, "plugins.disabled": #"["login"]"#,
    ]

    private func read(_ keys: some Collection<String>) throws -> Configuration {
        try configuration(keys.map { "\($0) = \(Self.others[$0] ?? "")\n" }.joined())
    }

    /// Returns the values in force, without their origins.
    private func values(_ configuration: Configuration) -> [String] {
        Configuration.settings.map { $0.write(configuration) }
    }

    @Test("are empty if the file is unchanged or states defaults explicitly")
    func nothing() throws {
        let old = try read(Self.others.keys.sorted())
        #expect(old.difference(to: old, ReloadAbility()) == ConfigurationDifference())
        let defaults = try configuration("")
        let aloud = try configuration("log_level = \"notice\"\nlimits.message_bytes = 1048576")
        #expect(defaults.difference(to: aloud, ReloadAbility()) == ConfigurationDifference())
    }

    @Test(
        "list a changed setting once, and apply it if its declaration permits a reload",
        arguments: Configuration.settings.map(\.key))
    func single(key: String) throws {
        let setting = try #require(Configuration.settings.first { $0.key == key })
        try #require(Self.others[key] != nil, "this suite knows no other value of \(key)")
        let old = try configuration("")
        let new = try read([key])
        let difference = old.difference(to: new, ReloadAbility())
        #expect(difference.applied == (setting.effect == .reload ? [key] : []))
        #expect(difference.restart == (setting.effect == .restart ? [key] : []))
        let result = old.taking(difference, from: new)
        #expect(setting.write(result) == setting.write(setting.effect == .reload ? new : old))
        #expect((result.origins[key] != nil) == (setting.effect == .reload))
        // A removed key gets its default again.
        #expect(values(result.taking(result.difference(to: old, ReloadAbility()), from: old)) == values(old))
    }

    @Test(
        "give each setting its old or its new value, for any two configurations",
        arguments: 0..<200 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func some() -> [String] { Self.others.keys.sorted().filter { _ in Bool.random(using: &generator) } }
        let (oldKeys, newKeys) = (some(), some())
        let old = try read(oldKeys)
        let new = try read(newKeys)
        let difference = old.difference(to: new, ReloadAbility())
        let changed = Set(oldKeys).symmetricDifference(newKeys)
        #expect(Set(difference.applied + difference.restart) == changed)
        #expect(difference.applied.count + difference.restart.count == changed.count)
        let result = old.taking(difference, from: new)
        for setting in Configuration.settings {
            let source = difference.restart.contains(setting.key) ? old : new
            #expect(setting.write(result) == setting.write(source), "\(setting.key)")
        }
        // The next reload lists only the changes that wait for a restart.
        let again = result.difference(to: new, ReloadAbility())
        #expect(again.applied == [])
        #expect(again.restart == difference.restart)
    }

    @Test("do not include the permissions of a socket that was handed over")
    func foreignSocket() throws {
        let difference = try configuration("").difference(to: read(["socket_mode"]), ReloadAbility(ownsSocket: false))
        #expect(difference.applied == [])
        #expect(difference.restart == ["socket_mode"])
    }

    @Test("compare sections of plugins by key, and apply those of reloadable plugins")
    func sections() throws {
        let old = try configuration("[plugins.a]\nx = 1\ny = [1, 2]\n[plugins.b]\nz = 1\n[plugins.gone]\nk = 1")
        let new = try configuration("[plugins.b]\nz = 2\n[plugins.a]\ny = [2, 1]\nx = 1\n\"w v\" = true")
        let difference = old.difference(to: new, ReloadAbility(plugins: ["a"]))
        #expect(difference.applied == ["plugins.a.\"w v\"", "plugins.a.y"])
        #expect(difference.restart == ["plugins.b.z", "plugins.gone.k"])
        #expect(difference.plugins == ["a"])
        let result = old.taking(difference, from: new)
        #expect(result.section(of: "a")?.json == new.section(of: "a")?.json)
        #expect(result.section(of: "b")?.json == ["z": 1])
        #expect(result.section(of: "gone")?.json == ["k": 1])
    }

    @Test("do not include order and position within a file")
    func order() throws {
        let old = try configuration("log_level = \"info\"\n[plugins.a]\nx = 1\ny = 2")
        let new = try configuration(
            "\n[plugins.a]\ny = 2\nx = 1\n\n[limits]\n\n[plugins]\n".replacing(
                "\n[plugins.a]", with: "log_level = \"info\"\n[plugins.a]"))
        #expect(old.difference(to: new, ReloadAbility(plugins: ["a"])) == ConfigurationDifference())
    }
}
