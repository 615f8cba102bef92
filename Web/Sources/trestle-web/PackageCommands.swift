import ArgumentParser
import CommandLineSupport
import Glibc
import OfflinePackages
import WebPackages
import WebProfiles

/// The commands for offline packages.
struct PackageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trestle-web", abstract: "Installs offline packages, from which pages are shown.",
        version: TrestleVersion.current, subcommands: [Install.self, List.self, Remove.self, RollBack.self])
}

/// The folder of packages, shared by all profiles of a user.
enum PackageLocation {
    static var path: String? {
        let data = getenv("XDG_DATA_HOME").map { String(cString: $0) }
        let home = getenv("HOME").map { String(cString: $0) }
        return (data ?? home.map { "\($0)/.local/share" }).map { "\($0)/trestle/web-packages" }
    }
}

/// The options of commands for packages.
struct PackageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The profile that names the keys of packages.", valueName: "name"))
    var profile: String?
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp("A public key that signs packages. May be repeated.", valueName: "key"))
    var keys: [String] = []

    /// Returns the library of packages.
    ///
    /// - Throws: The problem of the profile or a key.
    func library() throws -> PackageLibrary {
        var known = try keys.map { text in
            guard let key = PackageKey(text) else {
                throw ValidationError("--key: this is not a public key; trestle package key writes one to NAME.key.pub")
            }
            return key
        }
        if let profile {
            do throws(ProfileProblems) {
                known += try ProfileFile.profile(named: profile).packageKeys
            } catch {
                throw Complaint.refuse(error.lines, EX_CONFIG)
            }
        }
        guard let folder = PackageLocation.path else {
            throw Complaint.refuse(["there is no folder for packages; set HOME"], EX_CONFIG)
        }
        guard !known.isEmpty else {
            throw ValidationError("no key is trusted; use --key, or a --profile with packages.keys")
        }
        return PackageLibrary(folder, keys: known)
    }
}

struct Install: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks a package and installs it, in place of the previous version.")
    @OptionGroup var options: PackageOptions
    @Argument(help: "The package, as trestle package make writes it.")
    var file: String

    func run() throws {
        let library = try options.library()
        let entry = try Complaint.about { () throws(PackageFault) in try library.install(file) }
        print("\(entry.id) \(entry.version)")
    }
}

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists packages: one line each, with the current and the previous version.")
    @OptionGroup var options: PackageOptions

    func run() throws {
        let library = try options.library()
        let list = try Complaint.about { () throws(PackageFault) in try library.list() }
        Complaint.write(list.faults)
        for entry in list.entries {
            print([entry.id, entry.version, entry.previous].compactMap { $0 }.joined(separator: " "))
        }
    }
}

struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Removes a package with all its versions.")
    @OptionGroup var options: PackageOptions
    @Argument(help: "The package's id.")
    var id: String

    func run() throws {
        let library = try options.library()
        try Complaint.about { () throws(PackageFault) in try library.remove(id) }
    }
}

struct RollBack: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Returns to the previous version.")
    @OptionGroup var options: PackageOptions
    @Argument(help: "The package's id.")
    var id: String

    func run() throws {
        let library = try options.library()
        let entry = try Complaint.about { () throws(PackageFault) in try library.rollBack(id) }
        print("\(entry.id) \(entry.version)")
    }
}
