import Foundation
import TestSupport

/// A bus of its own for one test. Nothing is on it.
final class BusProcess: @unchecked Sendable {
    // Unchecked: one test at a time uses it, and `Process` says nothing of threads.
    private let process = Process()
    private let folder: URL

    /// As D-Bus writes it.
    var address: String { PrivateBus.address(folder.appending(path: "bus").path) }

    /// Starts it, and waits until it takes connections.
    init() throws {
        folder = URL(filePath: "/tmp/trestle-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let configuration = folder.appending(path: "bus.conf")
        try Data(PrivateBus.configuration(listeningAt: folder.appending(path: "bus").path).utf8).write(
            to: configuration)
        process.executableURL = URL(filePath: PrivateBus.program)
        process.arguments = PrivateBus.arguments(configuration: configuration.path)
        let output = Pipe()
        process.standardOutput = output
        // It tells there, as root, that it may not have more descriptors.
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The line with the address; empty where the bus has ended instead.
        _ = output.fileHandleForReading.availableData
    }

    /// Sends a signal to the bus.
    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
