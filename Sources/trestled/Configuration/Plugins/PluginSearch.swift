// Which files are plugins: libraries, and manifests of executables.
import EventLoop
import Glibc

/// Where plugins are looked for.
struct PluginSearch: Sendable, Equatable {
    /// A directory, and which of its files count.
    struct Directory: Sendable, Equatable {
        var path: String
        /// Only `lib*Plugin.so` counts, as in a build folder that holds other libraries too.
        var onlyPluginNames = false
    }

    /// The directories that a setting names: all of them count, and must be there.
    private(set) var isNamed: Bool
    /// Those named; else the candidates, of which the first that holds a plugin counts.
    private(set) var directories: [Directory]
    /// The directories of plugins that were installed beside those that came with the daemon; they need not be there.
    private var localDirectories: [String]
    /// Whether a setting names those.
    private var isLocalNamed = false

    /// The directories beside the daemon's own file: an unpacked release, an installation, a build folder.
    ///
    /// - Parameter ownLocal: the directory of plugins that a user has installed for that user's own daemon.
    static func beside(executable: String, ownLocal: String? = nil) -> PluginSearch {
        let slash = executable.lastIndex(of: "/")
        let directory = slash.map { String(executable[..<$0]) } ?? "."
        // What the machine's administrator adds to /usr belongs below /usr/local.
        let prefix = directory == "/usr/bin" ? "/usr/local" : directory.parentFolder
        return PluginSearch(
            isNamed: false,
            directories: [
                Directory(path: directory + "/plugins"), Directory(path: directory + "/../lib/trestle/plugins"),
                Directory(path: directory.isEmpty ? "/" : directory, onlyPluginNames: true),
            ], localDirectories: [ownLocal, prefix.withTrailingSlash + "lib/trestle/local-plugins"].compactMap { $0 })
    }

    /// The setting of the directories of installed plugins, whether they count or not.
    var local: [String] {
        get { localDirectories }
        set {
            isLocalNamed = true
            localDirectories = newValue
        }
    }

    /// The directories of plugins that were installed beside those that came with the daemon. Where `plugin_dir` is
    /// set, there are none but those that a setting names.
    var localInForce: [String] { isNamed && !isLocalNamed ? [] : localDirectories }

    /// The directories by their paths. Set, these and no others count.
    var named: [String] {
        get { directories.map(\.path) }
        set {
            isNamed = true
            directories = newValue.map { Directory(path: $0) }
        }
    }

    /// A directory that cannot be looked through.
    struct Failure: Error, Sendable, Equatable {
        /// The setting that names it.
        var key = "plugin_dir"
        /// Its index in `directories`, or `localInForce`.
        var index: Int
        /// Why not, for a person.
        var reason: String
    }

    /// The paths of the libraries to load, directory by directory, each in the order of the names. Blocks.
    ///
    /// - Throws: A named directory that cannot be read; `Configuration.problem(with:_:)` gives it its location.
    func libraries() throws(Failure) -> [String] { try shippedLibraries() + localLibraries() }

    private func shippedLibraries() throws(Failure) -> [String] {
        var libraries: [String] = []
        for (index, directory) in directories.enumerated() {
            do {
                libraries += try directory.libraries()
            } catch  where isNamed {
                let reason = String(cString: strerror(error.code))
                throw Failure(index: index, reason: "the directory \(directory.path) cannot be read: \(reason)")
            } catch {
                // A candidate that is not there is as good as an empty one.
                continue
            }
            if !isNamed, !libraries.isEmpty { break }
        }
        return libraries
    }

    private func localLibraries() throws(Failure) -> [String] {
        var libraries: [String] = []
        for (index, path) in localInForce.enumerated() {
            do {
                libraries += try LocalPluginDirectory(path: path).libraries()
            } catch  where error.code == ENOENT {
                // It comes with the first plugin that is installed.
                continue
            } catch {
                let reason = String(cString: strerror(error.code))
                throw Failure(
                    key: "local_plugin_dir", index: index, reason: "the directory \(path) cannot be read: \(reason)")
            }
        }
        return libraries
    }
}

/// A directory into which `trestle plugin install` puts plugins: each has a folder of its own there.
struct LocalPluginDirectory {
    let path: String

    /// The plugins in it and in its folders, in the order of the names. Blocks.
    func libraries() throws(SystemError) -> [String] {
        let directory = PluginSearch.Directory(path: path)
        var libraries = try directory.libraries()
        for name in try FolderContents.names(in: path).sorted() where !name.hasPrefix(".") {
            let folder = PluginSearch.Directory(path: "\(path)/\(name)")
            // Files, and what this process may not read: the user who installs a plugin sees to that.
            guard let found = try? folder.libraries() else { continue }
            // A plugin process may have libraries that are no plugins.
            let manifests = found.filter { $0.hasSuffix(PluginProcessManifest.suffix) }
            libraries += manifests.isEmpty ? found : manifests
        }
        return libraries
    }

    /// Whether a plugin lies in it.
    func holds(_ plugin: String) -> Bool { plugin.hasPrefix(path.hasSuffix("/") ? path : "\(path)/") }
}

extension Configuration {
    /// As ``PluginSearch/libraries()``; a directory that cannot be read with its location. Blocks.
    func pluginLibraries() throws(ConfigurationErrors) -> [String] {
        do throws(PluginSearch.Failure) {
            return try pluginSearch.libraries()
        } catch {
            throw ConfigurationErrors(problems: [problem(with: error.key, index: error.index, error.reason)])
        }
    }
}

extension PluginSearch.Directory {
    func libraries() throws(SystemError) -> [String] {
        try FolderContents.names(in: path).filter(counts).sorted().map { "\(path)/\($0)" }
    }

    /// Whether a file of that name is a plugin.
    func counts(_ name: String) -> Bool {
        guard !name.hasPrefix(".") else { return false }
        if name.hasSuffix(PluginProcessManifest.suffix) { return true }
        guard name.hasSuffix(".so") else { return false }
        return !onlyPluginNames || (name.hasPrefix("lib") && name.hasSuffix("Plugin.so"))
    }
}
