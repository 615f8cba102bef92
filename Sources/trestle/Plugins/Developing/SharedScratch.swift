import EventLoop
import Glibc
import PrivateDaemon
import Sodium

/// A build folder that Swift plugins share, so that `TaskKit` is built only once.
///
/// There is one for each combination of toolchain, Trestle version and path of `TaskKit`, in `~/.cache/trestle/swift`,
/// for debugging and release. SwiftPM runs builds in it one after the other. A plugin gets its own build folder in
/// three cases: it was already built in one; it depends on other packages, which would alternate in the shared one; or
/// another plugin has the same name and its library would be overwritten.
struct SharedScratch: Sendable, Equatable {
    /// The number of days after which an unused one is removed.
    private static let keptDays = 30

    /// The folder, for `swift build --scratch-path`.
    let path: String
    /// The library's name in the package.
    private let product: String
    private let isRelease: Bool

    /// The path of the built library.
    var library: String { "\(path)/\(isRelease ? "release" : "debug")/lib\(product).so" }

    /// Finds or creates the folder for a package. Blocks.
    ///
    /// - Returns: `nil` if the package is built in its own folder.
    init?(
        for package: String, isRelease: Bool = false, cache: String?,
        searchPath: [String] = TrestlePrograms.searchPath
    ) {
        guard let cache, access("\(package)/.build/workspace-state.json", F_OK) != 0,
            let manifest = Self.text(of: "\(package)/Package.swift"),
            let dependency = Self.onlyDependency(in: manifest),
            let product = Self.library(in: manifest),
            let toolchain = Self.toolchain(searchPath)
        else { return nil }
        var hash = SHA256()
        Array("\(toolchain)\n\(dependency)".utf8).withUnsafeBytes { hash.update($0) }
        path = "\(cache)/\(Trestle.version)-\(hash.finish().prefix(12))"
        self.product = product
        self.isRelease = isRelease
        guard Self.makeFolder("\(path)/plugins"), claim(for: package) else { return nil }
        Self.removeUnused(in: cache, but: path)
    }

    /// Links the library to its usual place in a manual build: `.build/debug`. SwiftPM later replaces that folder by
    /// its own.
    func link(into package: String) {
        let folder = "\(package)/.build/debug"
        let link = "\(folder)/lib\(product).so"
        guard Self.makeFolder(folder), access(library, R_OK) == 0 else { return }
        // A file that is not a link was not created here.
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink(link, &target, target.count) >= 0 || errno == ENOENT else { return }
        unlink(link)
        symlink(library, link)
    }

    /// Returns `$XDG_CACHE_HOME/trestle/swift`, or the same below `~/.cache`, of the user that builds; `nil` if there
    /// is no home directory.
    static func cacheFolder(of user: BuildUser?) -> String? {
        if let user { return user.caches.map { "\($0)/trestle/swift" } }
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return (variable("XDG_CACHE_HOME") ?? variable("HOME").map { "\($0)/.cache" }).map { "\($0)/trestle/swift" }
    }

    // MARK: The manifest

    /// Returns the text after the only `.package(` of a manifest; `nil` if there is none or more than one.
    private static func onlyDependency(in manifest: String) -> String? {
        let parts = manifest.split(separator: ".package(", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = parts[1].firstIndex(of: "\n") else { return nil }
        return String(parts[1][..<end])
    }

    /// Returns the name of the only library of a manifest; `nil` if there is none or more than one.
    private static func library(in manifest: String) -> String? {
        let parts = manifest.split(separator: ".library(name: \"", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = parts[1].firstIndex(of: "\"") else { return nil }
        let name = String(parts[1][..<end])
        return name.hasSuffix("Plugin") && !name.contains("/") ? name : nil
    }

    /// Returns the compiler's file, with its size and modification time.
    private static func toolchain(_ searchPath: [String]) -> String? {
        for folder in searchPath {
            var status = stat()
            guard access("\(folder)/swift", X_OK) == 0, let real = realpath("\(folder)/swift", nil) else { continue }
            defer { free(real) }
            guard stat(real, &status) == 0 else { continue }
            return "\(String(cString: real)) \(status.st_size) \(status.st_mtim.tv_sec)"
        }
        return nil
    }

    // MARK: The folder

    /// Records that the library of this name belongs to this package. Returns false if it belongs to another existing
    /// package.
    private func claim(for package: String) -> Bool {
        let note = "\(path)/plugins/\(product)"
        if let owner = Self.text(of: note), owner != package, access("\(owner)/Package.swift", F_OK) == 0 {
            return false
        }
        let descriptor = open(note, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(package.utf8)
        return write(descriptor, bytes, bytes.count) == bytes.count
    }

    /// Removes unused folders. The folder of records is touched at each start, so its age shows the last use.
    private static func removeUnused(in cache: String, but used: String) {
        utimensat(AT_FDCWD, "\(used)/plugins", nil, 0)
        for name in (try? FolderContents.names(in: cache)) ?? [] where "\(cache)/\(name)" != used {
            var status = stat()
            let folder = "\(cache)/\(name)"
            guard stat("\(folder)/plugins", &status) == 0, time(nil) - status.st_mtim.tv_sec > keptDays * 86_400
            else { continue }
            FolderContents.remove(folder)
        }
    }

    private static func makeFolder(_ path: String) -> Bool {
        var folder = ""
        for part in path.split(separator: "/") {
            folder += "/\(part)"
            if mkdir(folder, 0o700) != 0, errno != EEXIST { return false }
        }
        return true
    }

    /// Reads a short file; returns `nil` if it cannot be read or is too long.
    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &bytes, bytes.count)
        return count >= 0 && count < bytes.count ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
