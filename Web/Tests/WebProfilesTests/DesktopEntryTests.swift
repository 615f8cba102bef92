import TestSupport
import Testing
import TOMLDocument

@testable import WebProfiles

@Suite("Desktop files") struct DesktopEntryTests {
    private func entry(_ text: String) throws -> String {
        DesktopEntry("notes", try Profile(try TOMLDocument(parsing: text, file: "p.toml"))).text
    }

    @Test("an entry starts the profile and opens addresses of its schemes")
    func whole() throws {
        let text = try entry("[desktop]\nname = \"My notes\"\nschemes = [\"notes\", \"note+x\"]\n")
        #expect(text.hasPrefix("[Desktop Entry]\nType=Application\nName=My notes\n"))
        #expect(text.contains("\nExec=trestle-web --profile notes %u\n"))
        #expect(text.hasSuffix("\nMimeType=x-scheme-handler/notes;x-scheme-handler/note+x;\n"))
    }

    @Test("a name cannot add a line")
    func escaped() throws {
        let text = try entry("[desktop]\nname = \"a\\nExec=b\\\\c\\u001b\"\n")
        #expect(text.contains("\nName=a\\nExec=b\\\\c\n"))
        #expect(!text.contains("MimeType"))
    }

    @Test(
        "foreign and invalid schemes are refused",
        arguments: ["http", "javascript", "trestle", "Notes", "1a", "a;b", "a:b", ""])
    func schemes(text: String) {
        #expect(throws: ProfileProblems.self) { try entry("[desktop]\nschemes = [\"\(text)\"]\n") }
    }

    private static let validator = "/usr/bin/desktop-file-validate"

    @Test(
        "desktop-file-validate accepts the entries, and that of the Debian package",
        .enabled(if: exists(validator), "needs desktop-file-validate of the package desktop-file-utils"))
    func valid() throws {
        let folder = try TemporaryFolder()
        try folder.write(try entry(""), to: "plain.desktop")
        try folder.write(try entry("[desktop]\nschemes = [\"notes\"]\n"), to: "schemes.desktop")
        let root = #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/\($1)" }
        for file in [
            folder.file("plain.desktop"), folder.file("schemes.desktop"), "\(root)/packaging/web/trestle-web.desktop",
        ] {
            let checked = try run(Self.validator, [file])
            #expect(checked.end == .exited(0) && checked.output.isEmpty, "\(checked.output)")
        }
    }
}
