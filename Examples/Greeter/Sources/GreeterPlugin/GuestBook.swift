import Foundation
import TaskKit

/// The guest book, a file with a list of names.
actor GuestBook {
    private let lane = BlockingLane(name: "guest book")
    private var path = ""
    private var guests: [String] = [] {
        didSet { gauge.set(guests.count) }
    }
    private var gauge = Gauge()

    func open(in directory: String) async throws {
        path = directory + "/greeter.json"
        guests = try await lane.run { [path] in
            guard FileManager.default.fileExists(atPath: path) else { return [] }
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return try JSONCoding.decode([String].self, from: JSON(parsing: text))
        }
    }

    /// Publishes how many have signed.
    func show(in context: PluginContext) {
        gauge = context.gauge("guests", "Names in the guest book.")
        gauge.set(guests.count)
    }

    /// The task that calls this runs one call at a time, so nobody signs while the file is written.
    func sign(_ name: String) async throws {
        let bytes = try JSONCoding.encode(guests + [name])
        try await lane.run { [path] in
            try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        }
        guests.append(name)
    }

    func names() -> [String] {
        guests
    }

    /// Waits until nothing is being written.
    func finish() async {
        try? await lane.run {}
    }
}
