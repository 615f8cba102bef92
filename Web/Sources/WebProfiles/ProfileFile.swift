internal import FileTrust
internal import Glibc
internal import TOMLDocument

/// Finds profiles by their names.
public enum ProfileFile {
    /// The maximum length of a name, which becomes a part of a path.
    private static let maximumNameBytes = 64

    /// Whether a text is a valid profile name.
    static func isName(_ name: String) -> Bool {
        (1...maximumNameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }

    /// Reads the profile of this name: the user's own, else the system's. Blocks.
    ///
    /// - Parameter name: The name.
    /// - Throws: The problems of the name, the file or its content.
    public static func profile(named name: String) throws(ProfileProblems) -> Profile {
        guard isName(name) else {
            throw ProfileProblems(lines: ["a profile's name has 1 to 64 of the characters a-z, 0-9, - and _: \(name)"])
        }
        let paths = folders.map { "\($0)/\(name).toml" }
        guard let path = paths.first(where: { access($0, F_OK) == 0 }) else {
            throw ProfileProblems(lines: ["there is no profile \(name): looked for \(paths.joined(separator: ", "))"])
        }
        return try profile(at: path)
    }

    /// Reads the profile in a file. Other users must not be able to change it or the files of its scripts. Blocks.
    ///
    /// - Parameter path: The file.
    /// - Throws: The problems of the file or its content.
    public static func profile(at path: String) throws(ProfileProblems) -> Profile {
        do throws(FileTrust.Doubt) {
            try FileTrust.check(path)
        } catch {
            throw ProfileProblems(lines: ["\(path): \(error)"])
        }
        let document: TOMLDocument
        do throws(TOMLError) {
            document = try TOMLDocument(contentsOf: path)
        } catch {
            throw ProfileProblems(lines: ["\(error)"])
        }
        var profile = try Profile(document)
        try profile.readScripts(of: path)
        return profile
    }

    private static var folders: [String] {
        let own = variable("XDG_CONFIG_HOME") ?? variable("HOME").map { "\($0)/.config" }
        return (own.map { ["\($0)/trestle/web"] } ?? []) + ["/etc/trestle/web"]
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
