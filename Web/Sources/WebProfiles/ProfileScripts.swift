internal import FileTrust
internal import TOMLDocument

extension ProfileValue where Value == PageScript {
    /// A script of the profile.
    static var pageScript: ProfileValue {
        ProfileValue(
            expected: """
                a table with a file, and optionally at = "start" or "end", frames = "top" or "all", world = "page" or \
                "isolated", and origins
                """,
            read: { $0.table.flatMap { script($0) } }, write: { _ in nil })
    }

    private static func script(_ table: TOMLTable) -> PageScript? {
        var script = PageScript(file: "")
        for entry in table.entries {
            let isRead =
                switch entry.key {
                case "file": read(entry.value, .text, &script.file)
                case "at": read(entry.value, .choice, &script.moment)
                case "frames": read(entry.value, .choice, &script.frames)
                case "world": read(entry.value, .choice, &script.world)
                case "origins": read(entry.value, .some(.list(of: .origin)), &script.origins)
                default: false
                }
            guard isRead else { return nil }
        }
        return script.file.isEmpty ? nil : script
    }
}

extension Profile {
    /// Reads the files of the scripts, which other users must not be able to change. Blocks.
    ///
    /// - Parameter path: The profile's file.
    /// - Throws: All problems of the files.
    mutating func readScripts(of path: String) throws(ProfileProblems) {
        var lines: [String] = []
        if scripts.count > PageScript.maximum {
            lines.append(
                "\(path): scripts: there are \(scripts.count), more than the \(PageScript.maximum) there may be")
        }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        var bytesLeft = PageScript.maximumBytes
        for index in scripts.indices where lines.isEmpty {
            let name = scripts[index].file
            let file = name.hasPrefix("/") ? name : "\(folder)\(name)"
            do throws(ScriptDoubt) {
                scripts[index].source = try Self.source(file, atMost: bytesLeft)
                bytesLeft -= scripts[index].source.utf8.count
            } catch {
                lines.append("\(path): scripts: \(file): \(error.reason)")
            }
        }
        guard lines.isEmpty else { throw ProfileProblems(lines: lines) }
    }

    /// The reason why a script is not used.
    private struct ScriptDoubt: Error {
        var reason: String
    }

    private static func source(_ file: String, atMost limit: Int) throws(ScriptDoubt) -> String {
        do throws(FileTrust.Doubt) {
            try FileTrust.check(file)
        } catch {
            throw ScriptDoubt(reason: error.description)
        }
        let bytes: [UInt8]
        do throws(TOMLError) {
            bytes = try FileText.read(file, limitBytes: limit)
        } catch {
            throw ScriptDoubt(reason: error.reason)
        }
        guard bytes.count <= limit else {
            throw ScriptDoubt(reason: "the scripts have more than \(PageScript.maximumBytes) bytes together")
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw ScriptDoubt(reason: "it is not a text: it must be UTF-8 without zero bytes")
        }
        return text
    }
}
