import HTTPRules
import OfflinePackages
import TaskKit

/// `http.packages.install`
struct InstallPackageTask: BridgeTask {
    static let name = "http.packages.install"
    static let summary = "Installs an offline package, from which the user's requests are answered."
    static let resultSchema: JSON? = PackageText.schema
    static let settings = TaskSettings(timeout: .after(.seconds(600)))
    static let optionsSchema: JSON? = [
        "type": "object",
        "properties": [
            "package": [
                "type": "string", "format": "trestle-stream",
                "description": "the package as one file, as trestle package make writes it",
            ]
        ],
        "required": ["package"],
        "additionalProperties": false,
    ]

    struct Options: Decodable, Sendable {
        var package: String
    }

    let packages: PackageStores

    func run(_ options: Options, _ call: Call) async throws -> JSON {
        let bytes = call.readStream(options.package)
        try call.caller.requireProgram(Self.name)
        let user = call.caller.uid
        let installation = try await packages.change(of: user) { store throws(PackageFault) in
            try store.install { manifest throws(PackageFault) in try Self.check(manifest) }
        }
        do {
            for try await chunk in bytes {
                try await packages.run(of: user) { () throws(PackageFault) in try installation.take(chunk) }
            }
            try call.checkCancelled()
            let package = try await packages.run(of: user) { () throws(PackageFault) in try installation.finish() }
            return .object(PackageText.members(of: package))
        } catch {
            packages.cancel(installation, of: user)
            throw error
        }
    }

    /// Checks that the base is a URL in canonical form, so that URLs can be compared with it as text.
    static func check(_ manifest: PackageManifest) throws(PackageFault) {
        guard let base = manifest.head.base else { return }
        guard let url = try? WebURL(base), url.text == base else {
            let form = (try? WebURL(base)).map { ": write \($0.text)" } ?? ""
            throw PackageFault(.manifest, "base is not a URL in canonical form\(form)")
        }
    }
}

/// `http.packages.list`
struct ListPackagesTask: BridgeTask {
    static let name = "http.packages.list"
    static let summary = "Lists the user's offline packages."

    typealias Options = Empty

    static let resultSchema: JSON? = [
        "type": "object",
        "properties": ["packages": ["type": "array", "items": PackageText.schema]],
        "required": ["packages"],
    ]

    let packages: PackageStores

    func run(_ options: Empty, _ call: Call) async throws -> JSON {
        try call.caller.requireProgram(Self.name)
        let all = try await packages.store(of: call.caller.uid)?.packages ?? [:]
        let list = all.values.sorted { $0.current.manifest.head.id < $1.current.manifest.head.id }
        return ["packages": .array(list.map { .object(PackageText.members(of: $0.current, before: $0.previous)) })]
    }
}

/// Options with only the member `id`.
struct PackageName: Codable, Sendable {
    var id: String
}

/// `http.packages.rollback`
struct RollBackPackageTask: BridgeTask {
    static let name = "http.packages.rollback"
    static let summary = "Returns to the previous version of an offline package."
    static let resultSchema: JSON? = PackageText.schema

    let packages: PackageStores

    func run(_ options: PackageName, _ call: Call) async throws -> JSON {
        try call.caller.requireProgram(Self.name)
        let package = try await packages.change(of: call.caller.uid) { store throws(PackageFault) in
            try store.rollBack(options.id)
        }
        return .object(PackageText.members(of: package))
    }
}

/// `http.packages.remove`
struct RemovePackageTask: BridgeTask {
    static let name = "http.packages.remove"
    static let summary = "Removes an offline package with all its versions."
    static let resultSchema: JSON? = PackageText.schema

    let packages: PackageStores

    func run(_ options: PackageName, _ call: Call) async throws -> JSON {
        try call.caller.requireProgram(Self.name)
        let package = try await packages.change(of: call.caller.uid) { store throws(PackageFault) in
            try store.remove(options.id)
        }
        return .object(PackageText.members(of: package))
    }
}

/// Packages as members of results.
enum PackageText {
    static func members(of package: InstalledPackage, before previous: InstalledPackage? = nil) -> JSONObject {
        let head = package.manifest.head
        var members: JSONObject = ["id": .string(head.id), "version": .string(head.version)]
        members["base"] = head.base.map { .string($0) }
        members["network"] = head.network.map { .string($0) }
        members["files"] = .number(JSONNumber(package.manifest.files.count))
        members["bytes"] = .number(JSONNumber(package.manifest.contentBytes))
        members["key"] = .string(package.key.description)
        members["previous"] = previous.map { .string($0.manifest.head.version) }
        return members
    }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "id": ["type": "string"], "version": ["type": "string"], "base": ["type": "string"],
            "network": ["type": "string"], "files": ["type": "integer"], "bytes": ["type": "integer"],
            "key": ["type": "string", "description": "the key that signed it"],
            "previous": ["type": "string", "description": "the previous version, for rollback"],
        ],
        "required": ["id", "version", "files", "bytes", "key"],
    ]
}

extension Caller {
    /// Refuses a page.
    ///
    /// - Throws: `permission.denied`.
    func requireProgram(_ task: String) throws(BridgeError) {
        guard origin != "local" else { return }
        throw BridgeError(.permissionDenied, "\(task) is for programs of the user, not for pages")
    }
}
