import BridgeJSON

/// The versions of a package: the file `state.json` in the package's folder. Replacing the file switches the version.
struct VersionState {
    static let file = "state.json"
    private static let maximumBytes = 1024

    /// The name of the current version's folder.
    var current: String
    /// The name of the previous version's folder; `nil` if there is none.
    var previous: String?

    init(current: String, previous: String?) { (self.current, self.previous) = (current, previous) }

    /// - Throws: `storage` if there is no valid file.
    init(in folder: OpenFile) throws(PackageFault) {
        let bytes = try OpenFile(Self.file, in: folder).contents(upTo: Self.maximumBytes)
        let json = try? JSON(parsing: bytes)
        guard let current = json?["current"]?.stringValue, Self.isName(current) else {
            throw PackageFault(.storage, "\(folder.path)/\(Self.file) names no version")
        }
        self.current = current
        previous = json?["previous"]?.stringValue.flatMap { Self.isName($0) ? $0 : nil }
    }

    func write(to folder: OpenFile) throws(PackageFault) {
        var object: JSONObject = ["current": .string(current)]
        object["previous"] = previous.map { .string($0) }
        try folder.replace(Self.file, Array("\(JSON.object(object).text)\n".utf8))
    }

    // MARK: Names of folders

    private static let mark = "v-"

    /// Returns a name for a new version's folder.
    static func newName() -> String { mark + String(UInt64.random(in: 0 ... .max), radix: 16) }

    private static func isName(_ text: String) -> Bool {
        text.hasPrefix(mark)
            && text.utf8.dropFirst(mark.utf8.count).allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
    }
}
