import BridgeJSON
import BridgeMessage
import Logging
import TaskRuntime
import Testing

@testable import TaskHosts

/// The daemon's side of a plugin process. The test supplies the lines of the process.
private final class Specimen {
    let runtime: TaskRuntime
    let host: PluginProcessHost
    let link: PluginProcessLink
    private let decoder = MessageDecoder()
    private(set) var unaskedCount = 0

    init() {
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        runtime = TaskRuntime(
            limits: RuntimeLimits(), policy: Policy(daemonUID: 1), daemon: DaemonDescription(version: "1", pid: 1),
            clock: ManualRuntimeClock(), log: log)
        host = PluginProcessHost(runtime: runtime, log: HostLog(log, plugin: "specimen"))
        link = PluginProcessLink(host)
        link.sentUnasked = { [unowned self] in unaskedCount += 1 }
    }

    /// Returns whether the daemon counts a line of the process as unrequested.
    func isUnasked(_ line: String) -> Bool {
        let before = unaskedCount
        let padding = String(repeating: "\n", count: MessageSplitter.paddingBytes)
        Array((line + padding).utf8).withUnsafeBytes { bytes in
            _ = decoder.decode(.line(UnsafeRawBufferPointer(rebasing: bytes[..<line.utf8.count]))) {
                link.receive($0)
                return true
            }
        }
        return unaskedCount > before
    }
}

@Suite("Unrequested messages of a plugin process")
struct UnaskedMessagesTests {
    @Test("are all messages except the first final answer to each request")
    func unasked() {
        let specimen = Specimen()
        let first = specimen.link.request("plugin.ping", [:]) { _ in }
        let second = specimen.link.request("plugin.describe", [:]) { _ in }
        #expect(!specimen.isUnasked(#"{"callbackId":\#(first),"result":{}}"#))
        #expect(specimen.isUnasked(#"{"callbackId":\#(first),"result":{}}"#))
        #expect(specimen.isUnasked(#"{"callbackId":\#(second),"progress":1}"#))
        #expect(specimen.isUnasked(#"{"task":"plugin.log","options":{"level":"info","message":"x"}}"#))
        #expect(specimen.isUnasked(#"{"task":"bridge.ping","callbackId":1}"#))
        #expect(specimen.isUnasked(#"{"cancel":1}"#))
        #expect(!specimen.isUnasked(#"{"callbackId":\#(second),"error":{"code":"x.y","message":"x"}}"#))
    }
}
