import TOMLDocument
import TaskRuntime
import Testing

@testable import trestled

@Suite("A configuration file's settings")
struct ConfigurationReadingTests {
    @Test("Every setting takes its value from the file")
    func everySetting() throws {
        let read = try configuration(
            """
            socket = "/a/s"
            socket_mode = "0660"
            state_dir = "/a/state"
            plugin_dir = ["/a/p", "/b/p"]
            plugin_watch = true
            protect_memory = false
            log_level = "debug"
            log_format = "json"
            drain_timeout = "250ms"
            call_timeout = "2m"
            stop_timeout = "1h"
            plugin_timeout = "2s"
            policy_dir = "/a/rules"
            local_plugin_dir = ["/c/p"]
            [limits]
            message_bytes = "64KiB"
            calls_in_flight = 7
            unread_bytes = 8192
            stalled = "10s"
            handover_bytes = "1MiB"
            events_queued = 9
            event_queue_bytes = "8192B"
            stream_window = "8KiB"
            sessions = 11
            [quotas]
            session_calls_per_second = 1
            session_calls_burst = 2
            session_subscriptions = 3
            session_tasks = 4
            session_streams = 17
            uid_connections = 5
            uid_calls_in_flight = 6
            uid_calls_per_second = 7
            uid_calls_burst = 8
            uid_queued_bytes = "1MiB"
            uid_subscriptions = 9
            uid_tasks = 10
            uid_streams = 18
            trusted_factor = 11
            queued_bytes = "2MiB"
            plugin_calls_in_flight = 12
            plugins = { alert = { calls_in_flight = 13 } }
            [quotas.tasks."persistence.query"]
            calls_per_second = 14
            calls_burst = 15
            [dialects]
            url_schemes = ["app", "x-app+1.2"]
            [plugins]
            disabled = ["login"]
            """)
        #expect(read.urlSchemes == ["app", "x-app+1.2"])
        #expect(read.socketPath == "/a/s")
        #expect(read.socketMode == 0o660)
        #expect(read.stateDirectory == "/a/state")
        #expect(read.pluginSearch.named == ["/a/p", "/b/p"])
        #expect(read.pluginSearch.localInForce == ["/c/p"])
        #expect(read.watchesPlugins)
        #expect(!read.protectsMemory)
        #expect(read.logLevel == .debug)
        #expect(read.logFormat == .json)
        #expect(read.drainTimeout == .milliseconds(250))
        #expect(read.callTimeout == .seconds(120))
        #expect(read.stopTimeout == .seconds(3600))
        #expect(read.pluginTimeout == .seconds(2))
        #expect(read.policyDirectory == "/a/rules")
        #expect(read.limits.messageBytes == 65_536)
        #expect(read.limits.callsInFlight == 7)
        #expect(read.limits.unreadBytes == 8_192)
        #expect(read.limits.stalled == .seconds(10))
        #expect(read.limits.handoverBytes == 1 << 20)
        #expect(read.limits.eventsQueued == 9)
        #expect(read.limits.eventQueueBytes == 8_192)
        #expect(read.limits.streamWindow == 8_192)
        #expect(read.limits.sessions == 11)
        #expect(read.quotas.sessionCalls == CallQuota(callsPerSecond: 1, burst: 2))
        #expect(read.quotas.sessionSubscriptions == 3)
        #expect(read.quotas.sessionTasks == 4)
        #expect(read.quotas.sessionStreams == 17)
        #expect(read.quotas.user.connections == 5)
        #expect(read.quotas.user.calls == CallQuota(callsInFlight: 6, callsPerSecond: 7, burst: 8))
        #expect(read.quotas.user.queuedBytes == 1 << 20)
        #expect(read.quotas.user.subscriptions == 9)
        #expect(read.quotas.user.tasks == 10)
        #expect(read.quotas.user.streams == 18)
        #expect(read.quotas.trustedFactor == 11)
        #expect(read.quotas.queuedBytes == 2 << 20)
        #expect(read.quotas.pluginCallsInFlight == 12)
        #expect(read.quotas.plugins == ["alert": CallQuota(callsInFlight: 13)])
        #expect(read.quotas.tasks == ["persistence.query": CallQuota(callsPerSecond: 14, burst: 15)])
        #expect(read.disabledPlugins == ["login"])
        #expect(read.file == "t.toml")
        #expect(Set(read.origins.keys) == Set(Configuration.settings.map(\.key)))
    }

    @Test("A list may be a single value without brackets")
    func loneItem() throws {
        #expect(try configuration("plugin_dir = \"/a\"").pluginSearch.named == ["/a"])
        #expect(try configuration("plugin_dir = []").pluginSearch.libraries().isEmpty)
    }

    @Test("Tables may be written with dotted keys or inline")
    func otherSpellings() throws {
        #expect(try configuration("limits.sessions = 3").limits.sessions == 3)
        #expect(try configuration("limits = { sessions = 3 }").limits.sessions == 3)
    }

    @Test("Each setting's default, written as TOML, reads as the default")
    func roundTrip() throws {
        let defaults = Configuration(environment: environment(), executable: "/opt/trestle/bin/trestled")
        for setting in Configuration.settings {
            let document = try TOMLDocument(parsing: "value = \(setting.write(defaults))", file: "default")
            let value = try #require(document.root["value"])
            var read = defaults
            try setting.read(value, &read)
            #expect(setting.write(read) == setting.write(defaults), "\(setting.key)")
        }
    }

    @Test("Each setting is declared once, with documentation, in a documented table")
    func declarations() {
        let keys = Configuration.settings.map(\.key)
        #expect(Set(keys).count == keys.count)
        for setting in Configuration.settings {
            #expect(setting.documentation.hasSuffix("."), "\(setting.key)")
            #expect(Configuration.tables[setting.table]?.hasSuffix(".") == true, "\(setting.key)")
            #expect(setting.defaultNote.map { $0.hasSuffix(".") } ?? true, "\(setting.key)")
        }
    }
}
