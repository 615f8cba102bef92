// The files that are plugins: libraries, and manifests of executables.
import EventLoop
import Glibc

/// The directories that are searched for plugins.
struct PluginSearch: Sendable, Equatable {
    /// A directory, and which of its files count.
    struct Directory: Sendable, Equatable {
        var path: String
        /// Whether only `lib*Plugin.so` counts, as in a build folder that also contains other libraries.
        var onlyPluginNames = false
    }

    /// Whether a setting names the directories. Then all of them count and must exist.
    private(set) var isNamed: Bool
    /// The named directories, or candidates, of which the first that contains a plugin counts.
    private(set) var directories: [Directory]
    /// The directories of locally installed plugins, in addition to those shipped with the daemon. They need not exist.
    private var localDirectories: [String]
    /// Whether a setting names the local directories.
    private var isLocalNamed = false

    /// Returns the directories relative to the daemon's own file: of an unpacked release, an installation, or a build
    /// folder.
    ///
    /// - Parameter ownLocal: The directory of plugins that a user has installed for their own daemon.
    static func beside(executable: String, ownLocal: String? = nil) -> PluginSearch {
        let slash = executable.lastIndex(of: "/")
        let directory = slash.map { String(executable[..<$0]) } ?? "."
        // Additions of the administrator to /usr belong below /usr/local.
        let prefix = directory == "/usr/bin" ? "/usr/local" : directory.parentFolder
        return PluginSearch(
            isNamed: false,
            directories: [
                Directory(path: directory + "/plugins"), Directory(path: directory + "/../lib/trestle/plugins"),
                Directory(path: directory.isEmpty ? "/" : directory, onlyPluginNames: true),
            ], localDirectories: [ownLocal, prefix.withTrailingSlash + "lib/trestle/local-plugins"].compactMap { $0 })
    }

    /// The setting of the local directories, whether they are used or not.
    var local: [String] {
        get { localDirectories }
        set {
            isLocalNamed = true
            localDirectories = newValue
        }
    }

    /// The local directories that are used. If `plugin_dir` is set, only directories that a setting names are used.
    var localInForce: [String] { isNamed && !isLocalNamed ? [] : localDirectories }

    /// The paths of the directories. Once set, only these count.
    var named: [String] {
        get { directories.map(\.path) }
        set {
            isNamed = true
            directories = newValue.map { Directory(path: $0) }
        }
    }

    /// A directory that cannot be read.
    struct Failure: Error, Sendable, Equatable {
        /// The setting that names it.
        var key = "plugin_dir"
        /// Its index in `directories`, or `localInForce`.
        var index: Int
        /// The reason, as text for people.
        var reason: String
    }

    /// Returns the paths of the libraries to load, one directory after the other, in the order of their names. Blocks.
    ///
    /// - Throws: A named directory that cannot be read; `Configuration.problem(with:_:)` adds its location.
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
                // A candidate that does not exist counts as empty.
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
                // It is created with the first installed plugin.
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

/// A directory into which `trestle plugin install` puts plugins, each into its own folder.
struct LocalPluginDirectory {
    let path: String

    /// Returns the plugins in it and in its folders, in the order of their names. Blocks.
    func libraries() throws(SystemError) -> [String] {
        let directory = PluginSearch.Directory(path: path)
        var libraries = try directory.libraries()
        for name in try FolderContents.names(in: path).sorted() where !name.hasPrefix(".") {
            let folder = PluginSearch.Directory(path: "\(path)/\(name)")
            // Skips files, and folders that this process cannot read; the user that installs a plugin is responsible
            // for them.
            guard let found = try? folder.libraries() else { continue }
            // A plugin process may have libraries that are not plugins.
            let manifests = found.filter { $0.hasSuffix(PluginProcessManifest.suffix) }
            libraries += manifests.isEmpty ? found : manifests
        }
        return libraries
    }

    /// Returns whether a plugin is in this directory.
    func holds(_ plugin: String) -> Bool { plugin.hasPrefix(path.hasSuffix("/") ? path : "\(path)/") }
}

extension Configuration {
    /// Returns the libraries as ``PluginSearch/libraries()`` does; reports an unreadable directory with its location.
    /// Blocks.
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

    /// Returns whether a file of this name is a plugin.
    func counts(_ name: String) -> Bool {
        guard !name.hasPrefix(".") else { return false }
        if name.hasSuffix(PluginProcessManifest.suffix) { return true }
        guard name.hasSuffix(".so") else { return false }
        return !onlyPluginNames || (name.hasPrefix("lib") && name.hasSuffix("Plugin.so"))
    }
}
