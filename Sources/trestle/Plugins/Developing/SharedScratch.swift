import EventLoop
import Glibc
import PrivateDaemon
import Sodium

/// A build folder that Swift plugins share, so that `TaskKit` is built once and not once for each of them.
///
/// There is one for each toolchain, version of Trestle and path of `TaskKit`, in `~/.cache/trestle/swift`, for debugging
/// and for release; SwiftPM has builds in it take turns. A plugin has a build folder of its own where it was built in one
/// before, where it depends on other packages too, which would take turns in the shared one, or where a plugin elsewhere
/// has the same name, whose library would be overwritten.
struct SharedScratch: Sendable, Equatable {
    /// One that has not been used for so long is removed.
    private static let keptDays = 30

    /// The folder, as `swift build --scratch-path` takes it.
    let path: String
    /// The library's name, as the package says.
    private let product: String
    private let isRelease: Bool

    /// The library, once it has been built.
    var library: String { "\(path)/\(isRelease ? "release" : "debug")/lib\(product).so" }

    /// The folder for a package, made where it is missing. Blocks.
    ///
    /// - Returns: nil where the package is built in a folder of its own.
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

    /// Puts the library where a build by hand would have it: `.build/debug`. SwiftPM replaces that folder by its own.
    func link(into package: String) {
        let folder = "\(package)/.build/debug"
        let link = "\(folder)/lib\(product).so"
        guard Self.makeFolder(folder), access(library, R_OK) == 0 else { return }
        // What is no link was not put there by us.
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink(link, &target, target.count) >= 0 || errno == ENOENT else { return }
        unlink(link)
        symlink(library, link)
    }

    /// `$XDG_CACHE_HOME/trestle/swift`, or the same below `~/.cache`, of the user that builds; nil: there is no home.
    static func cacheFolder(of user: BuildUser?) -> String? {
        if let user { return user.caches.map { "\($0)/trestle/swift" } }
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return (variable("XDG_CACHE_HOME") ?? variable("HOME").map { "\($0)/.cache" }).map { "\($0)/trestle/swift" }
    }

    // MARK: What a manifest says

    /// What stands behind the only `.package(` of a manifest; nil: there are none, or several.
    private static func onlyDependency(in manifest: String) -> String? {
        let parts = manifest.split(separator: ".package(", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = parts[1].firstIndex(of: "\n") else { return nil }
        return String(parts[1][..<end])
    }

    /// The name of the only library of a manifest.
    private static func library(in manifest: String) -> String? {
        let parts = manifest.split(separator: ".library(name: \"", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = parts[1].firstIndex(of: "\"") else { return nil }
        let name = String(parts[1][..<end])
        return name.hasSuffix("Plugin") && !name.contains("/") ? name : nil
    }

    /// The compiler's file, and when it was installed.
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

    /// Notes that the library of this name is this package's. False: it is another's, which is still there.
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

    /// The folder of notes is written at each start, so that its age shows when a scratch was last used.
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

    /// A short file; nil: it cannot be read, or is long.
    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &bytes, bytes.count)
        return count >= 0 && count < bytes.count ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
