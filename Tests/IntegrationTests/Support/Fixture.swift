import Glibc
import TestSupport
import Testing

/// Runs a daemon with libFixture.so as its only plugin.
///
/// - Parameters:
///   - isolation: Where the plugin runs: none or process.
///   - body: Called with the plugin's folder, the daemon and a client.
func withFixture(_ isolation: String, _ body: (TemporaryFolder, DaemonProcess, Wire) throws -> Void) throws {
    let folder = try TemporaryFolder()
    #expect(symlink(Paths.program("libFixture.so"), folder.file("libFixture.so")) == 0)
    let section = "[plugins.fixture]\nisolation = \"\(isolation)\""
    try withDaemon(section, pluginDirectory: folder.path) { daemon in try body(folder, daemon, daemon.connect()) }
}
