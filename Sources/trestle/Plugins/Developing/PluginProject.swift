import BridgeJSON
import EventLoop
import Glibc
import PrivateDaemon

/// A folder with a plugin's source: how it is built, and the location of the built plugin.
struct PluginProject: Sendable, Equatable {
    /// The build tool.
    enum Build: Sendable, Equatable {
        case swift
        case make
        /// No build is necessary.
        case none
    }

    let folder: String
    let build: Build
    /// Whether the plugin is a manifest, with or without a built program.
    private let hasManifest: Bool
    /// The named plugin; `nil` for the only one.
    let named: String?
    /// Whether it is built for production.
    let isRelease: Bool
    /// The shared build folder of a Swift package; `nil` if it has its own.
    let shared: SharedScratch?

    /// - Parameter cache: Returns the folder of shared build folders; `nil` if none are shared.
    /// - Throws: The exit code if the build tool cannot be determined.
    init(
        _ folder: String, plugin named: String?, isRelease: Bool = false,
        cache: (BuildUser?) -> String? = SharedScratch.cacheFolder(of:)
    ) throws {
        guard let real = realpath(folder, nil) else { throw Failure.report(FileFailure(folder, "cannot be read")) }
        defer { free(real) }
        self.folder = String(cString: real)
        self.named = named
        self.isRelease = isRelease
        func exists(_ name: String) -> Bool { access("\(folder)/\(name)", F_OK) == 0 }
        hasManifest = Self.names(in: folder).contains { $0.hasSuffix(PrivateFolder.manifestSuffix) }
        shared =
            exists("Package.swift") && named == nil
            ? Self.shared(by: self.folder, isRelease: isRelease, cache) : nil
        if exists("Package.swift") {
            build = .swift
        } else if exists("Makefile") || exists("makefile") || exists("GNUmakefile") {
            build = .make
        } else if hasManifest {
            build = .none
        } else {
            throw UsageFailure(
                "\(folder) contains no Package.swift, Makefile or manifest NAME.plugin.toml; `trestle plugin new` "
                    + "creates a project")
        }
    }

    /// Returns the shared build folder, created with the rights of the user that builds in it.
    private static func shared(
        by package: String, isRelease: Bool, _ cache: (BuildUser?) -> String?
    ) -> SharedScratch? {
        let user = BuildUser(ofFolder: package)
        let cacheFolder = cache(user)
        let make = { SharedScratch(for: package, isRelease: isRelease, cache: cacheFolder) }
        guard let user else { return make() }
        return user.usingFiles(make)
    }

    /// The command that builds it, in its folder; `nil` if none is necessary.
    var command: [String]? {
        switch build {
        case .swift:
            ["swift", "build"] + (isRelease ? ["-c", "release"] : [])
                + (shared.map { ["--scratch-path", $0.path] } ?? [])
        case .make: ["make"]
        case .none: nil
        }
    }

    /// Returns the path of the plugin. Blocks.
    ///
    /// - Throws: ``ProjectFailure`` if there is none or more than one.
    func plugin() throws(ProjectFailure) -> String {
        if let named {
            guard access(named, R_OK) == 0 else { throw ProjectFailure("the plugin \(named) is not there") }
            return named
        }
        if let shared {
            guard access(shared.library, R_OK) == 0 else {
                throw ProjectFailure("the package's library \(shared.library) was not built")
            }
            return shared.library
        }
        let (directories, suffix): ([String], String) =
            switch build {
            case .swift: (["\(folder)/.build/\(isRelease ? "release" : "debug")"], "Plugin.so")
            case .make where !hasManifest: (["\(folder)/build", folder], ".so")
            case .make, .none: ([folder], PrivateFolder.manifestSuffix)
            }
        let found = directories.flatMap { directory in
            Self.names(in: directory).filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.sorted().map {
                "\(directory)/\($0)"
            }
        }
        guard let first = found.first else {
            throw ProjectFailure(
                "no plugin *\(suffix) is in \(directories.joined(separator: " or ")): name it with --plugin")
        }
        guard found.count == 1 else {
            throw ProjectFailure(
                "there are several plugins (\(found.joined(separator: ", "))): name one with --plugin")
        }
        return first
    }

    /// Returns whether a file or folder of this name is not written by a user.
    static func isProduct(_ name: String) -> Bool {
        name.hasPrefix(".") || name.hasSuffix("~") || ["build", "__pycache__", "node_modules"].contains(name)
            || [".so", ".o", ".d", ".swp", ".pyc"].contains { name.hasSuffix($0) }
    }

    private static func names(in path: String) -> [String] { (try? FolderContents.names(in: path)) ?? [] }
}

/// The reason why there is no plugin to run.
struct ProjectFailure: LocalFailure {
    static let code: ErrorCode = "plugin.missing"

    let description: String

    init(_ description: String) { self.description = description }
}
