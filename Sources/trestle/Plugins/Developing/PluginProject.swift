import EventLoop
import Glibc
import PrivateDaemon

/// A folder in which a plugin is written: how it is built, and where the plugin is then.
struct PluginProject: Sendable, Equatable {
    /// What builds it.
    enum Build: Sendable, Equatable {
        case swift
        case make
        /// Nothing has to be built.
        case none
    }

    let folder: String
    let build: Build
    /// Whether the plugin is a manifest, be its program built or not.
    private let hasManifest: Bool
    /// The plugin that was named; nil: the one that there is.
    let named: String?
    /// Whether it is built as it is to run in production.
    let isRelease: Bool
    /// Where a Swift package is built together with other plugins; nil: in its own folder.
    let shared: SharedScratch?

    /// - Parameter cache: where scratch folders are that plugins of a user share; nil: they share none.
    /// - Throws: the exit code where it is not known how the folder is built.
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
                "\(folder) has neither a Package.swift nor a Makefile nor a manifest NAME.plugin.toml; "
                    + "`trestle plugin new` writes a folder that has")
        }
    }

    /// The scratch folder is made with the rights of the user that builds in it.
    private static func shared(
        by package: String, isRelease: Bool, _ cache: (BuildUser?) -> String?
    ) -> SharedScratch? {
        let user = BuildUser(ofFolder: package)
        let cacheFolder = cache(user)
        let make = { SharedScratch(for: package, isRelease: isRelease, cache: cacheFolder) }
        guard let user else { return make() }
        return user.usingFiles(make)
    }

    /// The command that builds it, in its folder; nil: none.
    var command: [String]? {
        switch build {
        case .swift:
            ["swift", "build"] + (isRelease ? ["-c", "release"] : [])
                + (shared.map { ["--scratch-path", $0.path] } ?? [])
        case .make: ["make"]
        case .none: nil
        }
    }

    /// The path of the plugin. Blocks.
    ///
    /// - Throws: ``ProjectFailure`` where there is none, or more than one.
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

    /// Whether a file or folder of that name is none that a user writes.
    static func isProduct(_ name: String) -> Bool {
        name.hasPrefix(".") || name.hasSuffix("~") || ["build", "__pycache__", "node_modules"].contains(name)
            || [".so", ".o", ".d", ".swp", ".pyc"].contains { name.hasSuffix($0) }
    }

    private static func names(in path: String) -> [String] { (try? FolderContents.names(in: path)) ?? [] }
}

/// Why there is no plugin to run.
struct ProjectFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
