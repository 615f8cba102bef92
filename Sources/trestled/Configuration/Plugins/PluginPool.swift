// The number of processes of a plugin.
import BridgeJSON
import TaskHosts

/// The pool of a plugin's processes, from its section or a plugin process's manifest: `pool = { min = 1, max = 4 }`.
enum PluginPool {
    /// The key that sets it. The daemon does not pass it to the plugin.
    static let key = "pool"
    /// The keys of the table.
    static let keys = ["growth", "idle", "max", "min", "per", "uses"]

    /// Parses the settings.
    ///
    /// - Parameter path: The path of the value, for errors.
    static func settings(_ json: JSON, path: String) throws(JSONMismatch) -> PoolSettings {
        guard let object = json.objectValue else {
            throw JSONMismatch(path: path, expected: "a table with min and max", got: json.text)
        }
        if let unknown = object.keys.first(where: { !keys.contains($0) }) {
            throw JSONMismatch(
                path: "\(path).\(unknown)", expected: "one of \(keys.joined(separator: ", "))", got: unknown)
        }
        let maximum = try count(object["max"], in: 1...PoolSettings.maximumProcesses, "\(path).max")
        let minimum = try object["min"].map { json throws(JSONMismatch) in
            try count(json, in: 0...maximum, "\(path).min")
        }
        var settings = PoolSettings(minimum: minimum ?? 0, maximum: maximum)
        if let per = object["per"] {
            guard let lease = per.stringValue.flatMap(PoolSettings.Lease.init) else {
                let known = PoolSettings.Lease.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
                throw JSONMismatch(path: "\(path).per", expected: known, got: per.text)
            }
            settings.per = lease
        }
        if let uses = object["uses"] { settings.maximumUses = try count(uses, in: 1...Int.max, "\(path).uses") }
        if let growth = object["growth"] {
            guard let bytes = growth.stringValue.flatMap(Quantity.bytes), bytes > 0 else {
                throw JSONMismatch(
                    path: "\(path).growth", expected: "a size, such as \"64MiB\"", got: growth.text)
            }
            settings.growthBytes = UInt64(bytes)
        }
        if let idle = object["idle"] {
            guard let duration = idle.stringValue.flatMap(Quantity.duration), duration > .zero else {
                throw JSONMismatch(
                    path: "\(path).idle", expected: "a time, such as \"1m\"", got: idle.text)
            }
            settings.idle = duration
        }
        return settings
    }

    private static func count(
        _ json: JSON?, in range: ClosedRange<Int>, _ path: String
    ) throws(JSONMismatch) -> Int {
        if let number = json?.int64Value, let count = Int(exactly: number), range.contains(count) { return count }
        let expected =
            range.upperBound == .max
            ? "an integer of \(range.lowerBound) or more"
            : "an integer from \(range.lowerBound) to \(range.upperBound)"
        throw JSONMismatch(path: path, expected: expected, got: json?.text ?? "nothing")
    }
}

extension Configuration {
    /// Returns the pool in a plugin's section; `nil` if it is missing or invalid (``poolProblem(of:)``).
    func pool(of plugin: String) -> PoolSettings? {
        section(of: plugin)?.json[PluginPool.key].flatMap { try? PluginPool.settings($0, path: "") }
    }

    /// Returns the problem with the pool in a plugin's section; `nil` if it is missing or valid.
    ///
    /// - Parameter isolation: The isolation of the plugin.
    func poolProblem(of plugin: String, _ isolation: String) -> ConfigurationProblem? {
        guard let section = section(of: plugin), let written = section.json[PluginPool.key] else { return nil }
        guard isolation == PluginIsolation.process.rawValue else {
            return section.problem(
                BridgeError(
                    JSONMismatch(
                        path: "$.\(PluginPool.key)",
                        expected: "\(PluginIsolation.key) = \"\(PluginIsolation.process.rawValue)\" beside it",
                        got: "a plugin in the daemon's own process")))
        }
        do throws(JSONMismatch) {
            _ = try PluginPool.settings(written, path: "$.\(PluginPool.key)")
            return nil
        } catch {
            return section.problem(BridgeError(error))
        }
    }
}
