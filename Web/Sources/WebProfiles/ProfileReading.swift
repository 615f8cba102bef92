public import TOMLDocument

/// The reasons why a profile is not used: all of its problems.
public struct ProfileProblems: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for each problem, with its position.
    public let lines: [String]

    /// All problems, one for each line.
    public var description: String { lines.joined(separator: "\n") }
}

extension Profile {
    /// Reads a profile.
    ///
    /// - Parameter document: Its file.
    /// - Throws: All problems.
    public init(_ document: TOMLDocument) throws(ProfileProblems) {
        self.init()
        var lines: [String] = []
        read(document.root, at: "", document.file, &lines)
        lines += contradictions.map { "\(document.file): \($0)" }
        guard lines.isEmpty else { throw ProfileProblems(lines: lines) }
    }

    private mutating func read(_ table: TOMLTable, at path: String, _ file: String, _ lines: inout [String]) {
        for entry in table.entries {
            let key = path.isEmpty ? entry.key : "\(path).\(entry.key)"
            let place = "\(file):\(entry.keyPosition): \(key)"
            if let setting = ProfileSetting.all.first(where: { $0.key == key }) {
                if !setting.read(entry.value, &self) { lines.append("\(place): expected \(setting.expected)") }
            } else if path.isEmpty, let inner = entry.value.table,
                ProfileSetting.all.contains(where: { $0.table == key })
            {
                read(inner, at: key, file, &lines)
            } else {
                let known = ProfileSetting.all.filter { $0.table == path }.map(\.name)
                lines.append("\(place): unknown setting; known are \(known.joined(separator: ", "))")
            }
        }
    }

    /// The contradictions between settings. Also checked after flags have changed the profile.
    public var contradictions: [String] {
        var problems = bridge.filter { !allow.contains($0) }.map {
            "bridge: \($0) gets the bridge, but no page may go there; add it to allow"
        }
        if let start, start != "about:blank" {
            if let origin = PageOrigin(ofURI: start) {
                if !allow.contains(origin) { problems.append("start: no page may go to \(origin); add it to allow") }
            } else {
                problems.append("start: \(start) is not an address of http, https or a package; write https://…")
            }
        }
        if !PageFilter.areFew(filters) { problems.append("filters: there are too many; \(PageFilter.limitText)") }
        if deniedResponses.count > ResponsePattern.maximum {
            problems.append(
                "navigation.responses: there are \(deniedResponses.count), more than the \(ResponsePattern.maximum) "
                    + "there may be")
        }
        if let offlinePage {
            if case .package? = PageOrigin(ofURI: offlinePage), !offlinePage.contains(where: { "?#".contains($0) }) {
                if let origin = PageOrigin(ofURI: offlinePage), !allow.contains(origin) {
                    problems.append("navigation.offline_page: no page may go to \(origin); add it to allow")
                }
            } else {
                problems.append(
                    "navigation.offline_page: \(offlinePage) is not a page of a package; write trestle://ID/PATH")
            }
        }
        return problems
    }

    /// A file with every setting and its default, as comments.
    public static var sample: String {
        var text = """
            # A profile of trestle-web: ~/.config/trestle/web/NAME.toml, or /etc/trestle/web/NAME.toml.
            # Lines that begin with "# " and a key show the default, or an example.

            """
        var table = ""
        for setting in ProfileSetting.all {
            if setting.table != table {
                table = setting.table
                text += "\n[\(table)]\n"
            }
            let value = setting.example ?? setting.write(Profile()) ?? "\"\""
            text += "\n# \(setting.documentation)\n# \(setting.name) = \(value)\n"
        }
        return text
    }
}
