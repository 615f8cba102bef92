import Logging
import Testing

@testable import trestled

@Suite("The level of the log")
struct LogThresholdTests {
    @Test("A change applies to every existing logger except one with its own level")
    func shared() {
        let threshold = LogThreshold(.notice)
        let output = LogOutput(.text, style: TextLine.style(isTerminal: false, noColour: nil))
        let daemon = Logger(label: "daemon") { _ in DaemonLog(threshold: threshold, output: output) }
        var plugin = daemon
        plugin[metadataKey: "plugin"] = "echo"
        var quiet = daemon
        quiet.logLevel = .critical
        #expect([daemon.logLevel, plugin.logLevel, quiet.logLevel] == [.notice, .notice, .critical])
        threshold.level = .debug
        #expect([daemon.logLevel, plugin.logLevel, quiet.logLevel] == [.debug, .debug, .critical])
    }

    @Test("Each level of the configuration is a level of the logger with the same name")
    func names() {
        for level in Configuration.LogLevel.allCases {
            #expect(level.level.rawValue == level.rawValue)
        }
    }
}
