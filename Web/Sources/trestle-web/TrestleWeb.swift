// trestle-web: shows pages in windows, gives them access to the daemon's tasks, and gives the daemon's clients access
// to the pages.
import ArgumentParser
import BridgeClient
import CommandLineSupport
import Glibc
import WebContainer
import WebProfiles

/// The command line that shows pages.
struct TrestleWeb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trestle-web",
        abstract: "Shows web pages in windows, with access to the daemon's tasks.",
        discussion: """
            Only pages of the origins that --bridge or the profile names get the bridge, and they may call only what \
            the daemon's rules allow their origin. A page may navigate only to the origin of URI, and to origins that \
            --allow or the profile names.

            EXAMPLES
              trestle-web https://notes.example/
              trestle-web --bridge https://notes.example https://notes.example/
              trestle-web --kiosk --profile lobby
              trestle-web --screenshot page.png --size 1280x720 https://notes.example/
              trestle-web --print-config sample > ~/.config/trestle/web/lobby.toml
              trestle-web --check-config --profile lobby
              trestle-web --print-desktop --profile notes > ~/.local/share/applications/notes.desktop
              trestle-web install --profile notes notes-1.2.0.tar.zst

            Offline packages are installed by the commands install, list, remove and rollback; trestle-web install
            --help describes them.

            EXIT STATUS
              0  done, or every page was closed      1   the page could not be shown
              64  wrong usage                         69  there is no display
              70  internal error
              75  the daemon, which the profile requires, is gone; or the filters could not be compiled
              78  invalid profile
            """,
        version: TrestleVersion.current)

    /// The part of the configuration that is printed.
    enum Print: String, ExpressibleByArgument, CaseIterable {
        case sample
    }

    @Option(help: ArgumentHelp("The profile, by its name.", valueName: "name"))
    var profile: String?
    @Option(help: ArgumentHelp("The daemon's socket, if it is not at a usual path.", valueName: "path"))
    var socket: String?
    @Option(
        name: .customLong("bridge"),
        help: ArgumentHelp("An origin that gets the bridge. May be repeated.", valueName: "origin"))
    var bridges: [String] = []
    @Option(
        name: .customLong("allow"),
        help: ArgumentHelp("An origin where pages and frames may go. May be repeated.", valueName: "origin"))
    var allowed: [String] = []
    @Option(help: ArgumentHelp("The size of windows, such as 1280x720.", valueName: "widthxheight"))
    var size: String?
    @Option(help: ArgumentHelp("A text to append to the engine's user agent.", valueName: "text"))
    var userAgentAppend: String?
    @Option(
        name: .customLong("param"),
        help: ArgumentHelp("A value for pages with a bridge. May be repeated.", valueName: "name=value"))
    var parameters: [String] = []
    @Option(
        name: .customLong("param-in"),
        help: ArgumentHelp(
            "Where pages get the values: a comma-separated list of url, header, js.", valueName: "places"))
    var places = "js"
    @Option(help: ArgumentHelp("Writes a picture of the page as PNG, and exits.", valueName: "file"))
    var screenshot: String?
    @Flag(help: "Uses the whole screen, without decoration.")
    var kiosk = false
    @Flag(help: "For developers: the inspector, and the console to standard output. Not with --kiosk.")
    var dev = false
    @Flag(help: "Provides no tasks web.… and publishes no events.")
    var noTasks = false
    @Flag(help: "Checks the profile, and exits.")
    var checkConfig = false
    @Option(help: ArgumentHelp("Prints a profile with every setting, and exits.", valueName: "sample"))
    var printConfig: Print?
    @Flag(help: "Prints the desktop file of the profile, and exits.")
    var printDesktop = false
    @Argument(help: "The address of the first page, if it is not the profile's.")
    var uri: String?

    func validate() throws {
        if printDesktop, profile == nil { throw ValidationError("--print-desktop needs --profile") }
        if dev, kiosk { throw ValidationError("--dev is not for kiosks; leave --kiosk out") }
    }

    func run() throws {
        if printConfig != nil { return print(Profile.sample, terminator: "") }
        let profile = try combinedProfile()
        if checkConfig { return }
        if printDesktop, let name = self.profile { return print(DesktopEntry(name, profile).text, terminator: "") }
        guard let start = profile.start else {
            throw ValidationError("there is no page to show; give its address, or a profile with a start page")
        }
        let given = try givenParameters(profile.bridge)
        let status = MainActor.assumeIsolated { Assembly(self, profile, given).run(start) }
        if status != 0 { throw ExitCode(status) }
    }

    /// Returns the parameters of pages with a bridge.
    func givenParameters(_ origins: [PageOrigin]) throws -> Parameters {
        var given = Parameters()
        given.origins = Set(origins)
        for text in parameters {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            guard parts.count == 2, Parameters.isName(parts[0]), Parameters.isValue(parts[1]) else {
                throw ValidationError("--param: \(text) is not a NAME=VALUE; a name has letters, digits, - and _")
            }
            given.values[parts[0]] = parts[1]
        }
        let names = places.split(separator: ",").map { String($0) }
        given.places = Set(names.compactMap { Parameters.Place(rawValue: $0) })
        guard given.places.count == names.count, !names.isEmpty else {
            throw ValidationError("--param-in: \(places) is not a list of url, header and js")
        }
        return given
    }

    /// Returns the profile with the flags applied to it.
    private func combinedProfile() throws -> Profile {
        var combined = Profile()
        do throws(ProfileProblems) {
            if let profile { combined = try ProfileFile.profile(named: profile) }
        } catch {
            throw refuse(error.lines)
        }
        combined.bridge += try bridges.map { try origin($0, "--bridge") }
        combined.allow += try allowed.map { try origin($0, "--allow") } + combined.bridge
        if let uri, !combined.hasScheme(of: uri) {
            combined.start = uri
            if let own = PageOrigin(ofURI: uri) { combined.allow.append(own) }
        }
        if kiosk { combined.isKiosk = true }
        if dev, combined.isKiosk { throw ValidationError("--dev is not for kiosks, and the profile is one") }
        if let size {
            guard let size = Profile.Size(size) else {
                throw ValidationError("--size: \(size) is not a size; write it as 1280x720")
            }
            combined.size = size
        }
        if !combined.contradictions.isEmpty { throw refuse(combined.contradictions) }
        return combined
    }

    private func origin(_ text: String, _ flag: String) throws -> PageOrigin {
        do throws(OriginRefusal) {
            return try PageOrigin(text)
        } catch {
            throw ValidationError("\(flag): \(error); write it as https://notes.example")
        }
    }

    private func refuse(_ lines: [String]) -> ExitCode {
        complain(lines)
        return ExitCode(EX_CONFIG)
    }

    /// Writes lines to standard error.
    func complain(_ lines: [String]) { Complaint.write(lines) }
}
