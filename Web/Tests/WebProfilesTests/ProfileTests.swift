import Glibc
import TOMLDocument
import TestSupport
import Testing

@testable import WebProfiles

@Suite("Profiles") struct ProfileTests {
    private func read(_ text: String) throws -> Profile {
        try Profile(try TOMLDocument(parsing: text, file: "p.toml"))
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try read(text)
            return []
        } catch let error as ProfileProblems {
            return error.lines
        } catch {
            return ["\(error)"]
        }
    }

    @Test("a profile specifies where pages may go and which origins get the bridge")
    func whole() throws {
        let profile = try read(
            """
            start = "https://a.example/index.html"
            allow = ["https://a.example", "https://login.example:8443"]
            bridge = ["https://A.example:443"]
            external = "open"
            [window]
            size = "1280x720"
            kiosk = true
            [recovery]
            within = "2m"
            """)
        #expect(profile.allow.map(\.text) == ["https://a.example", "https://login.example:8443"])
        #expect(profile.bridge.map(\.text) == ["https://a.example"])
        #expect(profile.external == .open && profile.isKiosk)
        #expect(profile.size == .init(width: 1280, height: 720))
        #expect(profile.reloadsWithin == .seconds(120))
    }

    @Test("every mistake is reported with its position")
    func wrong() {
        let lines = problems("allow = [\"https://a.example/\"]\nwindo = 1\n[window]\nsize = \"big\"\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("p.toml:1:1: allow: expected a list, each an origin"))
        #expect(lines[1].hasPrefix("p.toml:2:1: windo: unknown setting; known are start, allow"))
        #expect(lines[2].hasPrefix("p.toml:4:1: window.size: expected a width and a height"))
    }

    @Test("the bridge and the first page must be where pages may go")
    func contradictions() {
        #expect(problems("bridge = [\"https://a.example\"]").count == 1)
        #expect(problems("start = \"https://a.example/\"").count == 1)
        #expect(problems("start = \"file:///etc/passwd\"").count == 1)
        #expect(problems("allow = [\"https://a.example\"]\nstart = \"https://a.example:444/\"").count == 1)
    }

    @Test("the sample is a valid profile, also with its settings uncommented")
    func sample() throws {
        #expect(try read(Profile.sample) == Profile())
        let lines = Profile.sample.split(separator: "\n").map { line in
            ProfileSetting.all.contains { line.hasPrefix("# \($0.name) = ") } ? String(line.dropFirst(2)) : String(line)
        }
        let profile = try read(lines.joined(separator: "\n"))
        #expect(profile.start == "https://notes.example/" && profile.bridge.count == 1)
        #expect(profile.reloads == Profile().reloads && profile.reloadsWithin == Profile().reloadsWithin)
    }

    @Test("names of profiles cannot leave their folder", arguments: ["", "..", "a/b", "A", ".x", "a b", "a.toml"])
    func names(name: String) {
        #expect(throws: ProfileProblems.self) { try ProfileFile.profile(named: name) }
    }

    @Test(
        "times are whole and have a unit", arguments: ["8", "8 s", "-1s", "0s", "1d", "999999999999999999h", "1.5s"])
    func times(text: String) {
        #expect(problems("[recovery]\nwithin = \"\(text)\"").count == 1)
    }

    /// Returns the problems of a profile in a folder; empty if there are none.
    private func problems(_ folder: TemporaryFolder, _ text: String) throws -> String {
        chmod(folder.path, 0o700)
        try folder.write(text, to: "p.toml")
        do {
            _ = try ProfileFile.profile(at: folder.file("p.toml"))
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("scripts are read from files beside the profile or from absolute paths")
    func scripts() throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o700)
        try folder.write("1", to: "a.js")
        try folder.write(
            """
            [[scripts]]
            file = "a.js"
            at = "end"
            frames = "all"
            world = "isolated"
            origins = ["https://a.example"]
            [[scripts]]
            file = "\(folder.file("a.js"))"
            """, to: "p.toml")
        let scripts = try ProfileFile.profile(at: folder.file("p.toml")).scripts
        #expect(scripts.map(\.source) == ["1", "1"])
        #expect(scripts[0].moment == .end && scripts[0].frames == .all && scripts[0].world == .isolated)
        #expect(scripts[0].origins?.map(\.text) == ["https://a.example"] && scripts[1].origins == nil)
        #expect(scripts[1].moment == .start && scripts[1].frames == .top && scripts[1].world == .page)
    }

    @Test("a script that others may change, or that is missing, too long or not text, is refused with its file")
    func refusedScripts() throws {
        let folder = try TemporaryFolder()
        let profile = "[[scripts]]\nfile = \"a.js\"\n"
        #expect(try problems(folder, profile).contains("a.js"))
        try folder.write("1", to: "a.js")
        #expect(try problems(folder, profile) == "")
        chmod(folder.file("a.js"), 0o666)
        #expect(try problems(folder, profile).contains("everybody may write it"))
        chmod(folder.file("a.js"), 0o600)
        #expect(try problems(folder, String(repeating: profile, count: 65)).contains("more than the 64"))
        try folder.write("a\0b", to: "a.js")
        #expect(try problems(folder, profile).contains("UTF-8 without zero bytes"))
        try folder.write(String(repeating: "a", count: 1 << 19), to: "a.js")
        #expect(try problems(folder, profile + profile) == "")
        try folder.write(String(repeating: "a", count: 1 << 19 | 1), to: "a.js")
        #expect(try problems(folder, profile + profile).contains("more than 1048576 bytes together"))
    }

    @Test(
        "a script without a file or with an invalid setting is refused",
        arguments: [
            "at = \"end\"", "file = \"a\"\nat = \"soon\"", "file = \"a\"\nframe = \"all\"", "file = 1",
            "file = \"a\"\norigins = [\"*\"]",
        ])
    func wrongScripts(text: String) {
        #expect(problems("[[scripts]]\n\(text)\n").first?.contains("scripts: expected a list, each a table") == true)
    }

    @Test(
        "the offline page must belong to a package where pages may go",
        arguments: [
            ("trestle://notes/offline.html", true), ("trestle://other/offline.html", false),
            ("https://a.example/offline.html", false), ("offline.html", false), ("trestle://notes/a?b", false),
        ])
    func offlinePage(page: String, isGood: Bool) {
        let lines = problems(
            "allow = [\"https://a.example\", \"trestle://notes\"]\n[navigation]\noffline_page = \"\(page)\"\n")
        #expect(lines.isEmpty == isGood, "\(lines)")
        #expect(lines.allSatisfy { $0.contains("navigation.offline_page: ") })
    }

    @Test(
        "responses are specified by their type or their status",
        arguments: [
            ("application/pdf", true), ("Image/*", true), ("image/svg+xml", true), ("404", true), ("5xx", true),
            ("*/*", false), ("image", false), ("image/", false), ("image/a b", false), ("text/html; a=b", false),
            ("600", false), ("99", false), ("4x4", false), ("40x", false), ("", false), ("5xxx", false),
        ])
    func responses(text: String, isGood: Bool) {
        #expect(problems("[navigation]\nresponses = [\"\(text)\"]\n").isEmpty == isGood)
    }

    @Test("at most 64 responses are accepted")
    func manyResponses() {
        let lines = problems("[navigation]\nresponses = [\(String(repeating: "\"404\",", count: 65))]\n")
        #expect(lines.count == 1 && lines[0].contains("navigation.responses: "))
    }

    @Test(
        "a filter needs an action, and a selector if it hides",
        arguments: [
            ("action = \"block\"", true), ("action = \"hide\"\nselector = \"p\"", true), ("url = \"a\"", false),
            ("action = \"hide\"", false), ("action = \"https\"\nselector = \"p\"", false),
            ("action = \"block\"\ntypes = []", false), ("action = \"block\"\ntypes = [\"all\"]", false),
            ("action = \"block\"\nurl = \"\"", false), ("action = \"block\"\nurls = \"a\"", false),
        ])
    func filters(text: String, isGood: Bool) {
        #expect(problems("[[filters]]\n\(text)\n").isEmpty == isGood, "\(text)")
    }

    @Test("the number of filters is limited")
    func manyFilters() {
        let lines = problems(String(repeating: "[[filters]]\naction = \"block\"\n", count: 257))
        #expect(lines.count == 1 && lines[0].contains("filters: there are too many"))
    }
}
