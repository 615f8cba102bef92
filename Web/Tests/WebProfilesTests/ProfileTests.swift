import TOMLDocument
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

    @Test("a profile says where pages may go, and who gets the bridge")
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

    @Test("every mistake is reported with its place")
    func wrong() {
        let lines = problems("allow = [\"https://a.example/\"]\nwindo = 1\n[window]\nsize = \"big\"\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("p.toml:1:1: allow: expected a list, each an origin"))
        #expect(lines[1].hasPrefix("p.toml:2:1: windo: there is no such setting here; there are start, allow"))
        #expect(lines[2].hasPrefix("p.toml:4:1: window.size: expected a width and a height"))
    }

    @Test("the bridge is lent only to where pages may go, and the first page is among these")
    func contradictions() {
        #expect(problems("bridge = [\"https://a.example\"]").count == 1)
        #expect(problems("start = \"https://a.example/\"").count == 1)
        #expect(problems("start = \"file:///etc/passwd\"").count == 1)
        #expect(problems("allow = [\"https://a.example\"]\nstart = \"https://a.example:444/\"").count == 1)
    }

    @Test("the sample is a profile, also with all of its comments taken away")
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
        "times have a unit, and are whole", arguments: ["8", "8 s", "-1s", "0s", "1d", "999999999999999999h", "1.5s"])
    func times(text: String) {
        #expect(problems("[recovery]\nwithin = \"\(text)\"").count == 1)
    }
}
