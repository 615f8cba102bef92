import Foundation
import TaskKit

/// The guest book, a file with a list of names.
actor GuestBook {
    private let thread = BlockingExecutor(name: "guest book")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private var path = ""
    private var guests: [String] = [] {
        didSet { gauge.set(guests.count) }
    }
    private var gauge = Gauge()

    func open(in directory: String) throws {
        path = directory + "/greeter.json"
        guard FileManager.default.fileExists(atPath: path) else { return }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guests = try JSONCoding.decode([String].self, from: JSON(parsing: text))
    }

    /// Publishes the number of signatures.
    func show(in context: PluginContext) {
        gauge = context.gauge("guests", "Names in the guest book.")
        gauge.set(guests.count)
    }

    func sign(_ name: String) throws {
        let bytes = try JSONCoding.encode(guests + [name])
        try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        guests.append(name)
    }

    func names() -> [String] {
        guests
    }

    /// Returns once no write is in progress.
    func finish() {}
}
