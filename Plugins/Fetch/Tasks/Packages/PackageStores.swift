import Glibc
import HTTPRules
import OfflinePackages
import Synchronization
import TaskKit

/// The packages of all users. Each user has a separate store. Any thread.
final class PackageStores: Sendable {
    private struct State {
        var keys: [PackageKey] = []
        var limits = PackageLimits()
        /// The folder of the stores; `nil` if the plugin has not started.
        var folder: String?
        var log: PluginLog?
        /// The stores by user. The value is `nil` if the user has none.
        var stores: [UInt32: PackageStore?] = [:]
    }

    /// A file of a package.
    struct Found: Sendable {
        var package: InstalledPackage
        var file: PackageManifest.File
    }

    private let state = Mutex(State())
    /// The thread that opens and changes the stores, one change at a time.
    private let threads = BlockingThreads(name: "fetch-packages")

    func start(_ context: PluginContext) {
        state.withLock { state in
            state.folder = context.stateDirectory + "/packages"
            state.log = context.log
        }
    }

    /// Applies settings. Packages of keys that are no longer in the settings are not used.
    func configure(_ settings: FetchSettings) {
        state.withLock { state in
            guard state.keys != settings.packageKeys || state.limits.storeBytes != settings.packageBytes else { return }
            state.keys = settings.packageKeys
            state.limits.storeBytes = settings.packageBytes
            state.limits.contentBytes = settings.packageBytes
            state.stores = [:]
        }
    }

    // MARK: Looking up

    /// Returns whether a user may have packages. It is true until the user's store was looked up.
    func mayHave(_ user: UInt32) -> Bool {
        if case .some(.none) = state.withLock({ $0.stores[user] }) { false } else { true }
    }

    /// Returns the file that answers a URL; `nil` if no package contains it.
    func find(_ url: WebURL, of user: UInt32) async throws(BridgeError) -> Found? {
        guard let store = try await store(of: user) else { return nil }
        var best: (base: String, package: InstalledPackage)?
        for package in store.packages.values.map(\.current) {
            guard let base = package.manifest.head.base, url.text.utf8.starts(with: base.utf8) else { continue }
            if best.map({ $0.base.utf8.count < base.utf8.count }) ?? true { best = (base, package) }
        }
        guard let best, let path = Self.path(of: url, below: best.base) else { return nil }
        return best.package.manifest.file(at: path).map { Found(package: best.package, file: $0) }
    }

    /// Returns the path of a file; `nil` if the URL cannot name one.
    static func path(of url: WebURL, below base: String) -> String? {
        let rest = url.text.utf8.dropFirst(base.utf8.count).prefix { $0 != UInt8(ascii: "?") }
        var bytes: [UInt8] = []
        var index = rest.startIndex
        while index < rest.endIndex {
            var byte = rest[index]
            if byte == UInt8(ascii: "%") {
                let digits = rest[index...].dropFirst().prefix(2)
                guard digits.count == 2, let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
                    return nil
                }
                // No file name contains a slash that is not a separator.
                guard code != UInt8(ascii: "/") else { return nil }
                byte = code
                index = rest.index(index, offsetBy: 2)
            }
            bytes.append(byte)
            index = rest.index(after: index)
        }
        if bytes.last ?? UInt8(ascii: "/") == UInt8(ascii: "/") { bytes += Array("index.html".utf8) }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the store of a user, and opens it if it exists; `nil` if there is none.
    func store(of user: UInt32) async throws(BridgeError) -> PackageStore? {
        if let known = state.withLock({ $0.stores[user] }) { return known }
        return try await run(of: user) { () throws(PackageFault) in try self.open(user, makes: false) }
    }

    /// Opens the store of a user. Runs on the thread of changes.
    private func open(_ user: UInt32, makes: Bool) throws(PackageFault) -> PackageStore? {
        let (known, folder, keys, limits) = state.withLock { ($0.stores[user], $0.folder, $0.keys, $0.limits) }
        if let known, known != nil || !makes { return known }
        guard let folder else { return nil }
        let path = "\(folder)/\(user)"
        var store: PackageStore?
        if makes || access(path, F_OK) == 0 {
            mkdir(folder, 0o700)
            store = try PackageStore(path, keys: keys, limits) { [weak self] body in self?.threads.submit(body) }
        }
        let (isCurrent, log) = state.withLock { state in
            // The settings may have changed meanwhile; the store is then not kept.
            guard state.keys == keys, state.limits == limits else { return (false, state.log) }
            state.stores[user] = .some(store)
            return (true, state.log)
        }
        if isCurrent { for fault in store?.faults ?? [] { log?.warning("of uid \(user), \(fault)") } }
        return store
    }

    // MARK: Changing

    /// Runs an operation on the store of a user, on the thread of changes.
    func change<T: Sendable>(
        of user: UInt32, _ body: @escaping @Sendable (PackageStore) throws(PackageFault) -> T
    ) async throws(BridgeError) -> T {
        try await run(of: user) { () throws(PackageFault) in
            guard let store = try self.open(user, makes: true) else {
                throw PackageFault(.storage, "the plugin has no folder for packages")
            }
            return try body(store)
        }
    }

    /// Runs an operation on the thread of changes.
    func run<T: Sendable>(
        of user: UInt32, _ body: @escaping @Sendable () throws(PackageFault) -> T
    ) async throws(BridgeError) -> T {
        do { return try await threads.run(of: user) { try body() } } catch let fault as PackageFault {
            throw BridgeError(fault)
        } catch {
            throw .fetchCancelled
        }
    }

    /// Cancels an installation.
    func cancel(_ installation: PackageInstallation, of user: UInt32) {
        threads.submit(of: user) { installation.cancel() }
    }
}
