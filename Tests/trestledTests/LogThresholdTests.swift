import Logging
import Testing

@testable import trestled

@Suite("The level of the log")
struct LogThresholdTests {
    @Test("A change of it holds for every logger that there is, but for one that has a level of its own")
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

    @Test("Each of the configuration's levels is one of the logger's, by the same name")
    func names() {
        for level in Configuration.LogLevel.allCases {
            #expect(level.level.rawValue == level.rawValue)
        }
    }
}
