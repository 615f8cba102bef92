import BridgeJSON

/// Which versions of a package there are: the file `state.json` in the package's folder. To replace it is to switch.
struct VersionState {
    static let file = "state.json"
    private static let maximumBytes = 1024

    /// The folder of the version that is used.
    var current: String
    /// The folder of the version before.
    var previous: String?

    init(current: String, previous: String?) { (self.current, self.previous) = (current, previous) }

    /// - Throws: `storage`, where there is none.
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

    /// The name of a new version's folder.
    static func newName() -> String { mark + String(UInt64.random(in: 0 ... .max), radix: 16) }

    private static func isName(_ text: String) -> Bool {
        text.hasPrefix(mark)
            && text.utf8.dropFirst(mark.utf8.count).allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
    }
}
