// Which files are plugins: libraries, and manifests of executables.
import Glibc

/// Where plugins are looked for.
struct PluginSearch: Sendable, Equatable {
    /// A directory, and which of its files count.
    struct Directory: Sendable, Equatable {
        var path: String
        /// Only `lib*Plugin.so` counts, as in a build folder that holds other libraries too.
        var onlyPluginNames = false
    }

    /// The directories that somebody named: all of them count, and must be there.
    private(set) var isNamed: Bool
    /// Those named; else the candidates, of which the first that holds a plugin counts.
    private(set) var directories: [Directory]

    /// The places beside the daemon's own file: an unpacked release, an installation, a build folder.
    static func beside(executable: String) -> PluginSearch {
        let slash = executable.lastIndex(of: "/")
        let directory = slash.map { String(executable[..<$0]) } ?? "."
        return PluginSearch(
            isNamed: false,
            directories: [
                Directory(path: directory + "/plugins"), Directory(path: directory + "/../lib/trestle/plugins"),
                Directory(path: directory.isEmpty ? "/" : directory, onlyPluginNames: true),
            ])
    }

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
        /// Its index in `directories`.
        var index: Int
        /// Why not, for a person.
        var reason: String
    }

    /// The paths of the libraries to load, directory by directory, each in the order of the names. Blocks.
    ///
    /// - Throws: A named directory that cannot be read; `Configuration.problem(with: "plugin_dir", …)` gives it its
    ///   place.
    func libraries() throws(Failure) -> [String] {
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
}

extension Configuration {
    /// As ``PluginSearch/libraries()``; a directory that cannot be read with its place. Blocks.
    func pluginLibraries() throws(ConfigurationErrors) -> [String] {
        do throws(PluginSearch.Failure) {
            return try pluginSearch.libraries()
        } catch {
            throw ConfigurationErrors(problems: [problem(with: "plugin_dir", index: error.index, error.reason)])
        }
    }
}

extension PluginSearch.Directory {
    struct Unreadable: Error {
        var code: Int32
    }

    func libraries() throws(Unreadable) -> [String] {
        guard let stream = opendir(path) else { throw Unreadable(code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if counts(name) { names.append(name) }
        }
        return names.sorted().map { "\(path)/\($0)" }
    }

    /// Whether a file of that name is a plugin.
    func counts(_ name: String) -> Bool {
        guard !name.hasPrefix(".") else { return false }
        if name.hasSuffix(WorkerManifest.suffix) { return true }
        guard name.hasSuffix(".so") else { return false }
        return !onlyPluginNames || (name.hasPrefix("lib") && name.hasSuffix("Plugin.so"))
    }
}
