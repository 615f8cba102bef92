import Glibc
import HTTPRules
import Synchronization
import TaskKit

/// The state that the tasks share. Any thread.
final class FetchService: Sendable {
    private let currentSettings = Mutex(FetchSettings())
    private let sharedMetrics = SharedMetrics()
    private let now: @Sendable () -> UnixTime
    private let network: Network
    let quota: TransferQuota
    /// The public suffix list that defines sites; `nil` if there is none, and each origin is a site.
    let suffixes = PublicSuffixList()

    /// The stages of each hop, from the caller to the network.
    let way: HopWay
    /// The stages after the interceptors.
    let inner: HopWay
    /// The hops that interceptors or the policy decide about.
    let pending = PendingHops()
    /// The stored responses.
    let cache: HTTPCache
    let shared = SharedLoads()
    private let late = LateCookies()
    private let cookieless = CookielessHosts()
    let packages = PackageStores()
    let replays = ReplayRegistry()
    /// The stored data of sites.
    let data: WebsiteData
    /// The hosts that require TLS.
    let hstsHosts: HSTSHosts
    private let hstsFile: StateFile
    /// The name of this installation.
    let install: InstallID
    private let installFile: StateFile
    /// The threads that read and write callers' files, whose disk may be slow.
    let fileThreads = BlockingThreads(name: "fetch-files")
    /// The user that this process runs as.
    let owner: UInt32

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - owner: The user that this process runs as.
    ///   - now: Returns the current time.
    init(owner: UInt32 = geteuid(), now: @escaping @Sendable () -> UnixTime = { WallClock.now }) {
        self.owner = owner
        let metrics = sharedMetrics
        self.now = now
        network = Network(metrics: { metrics.value })
        quota = TransferQuota(metrics: { metrics.value })
        cache = HTTPCache(metrics: { metrics.value })
        let hosts = HSTSHosts(now: now)
        let hstsFile = StateFile("fetch-strict-hosts.json") { try hosts.text(maximumBytes: StateFile.maximumBytes) }
        (hstsHosts, self.hstsFile) = (hosts, hstsFile)
        let stores: [any WebsiteDataStore] = [
            PackageData(packages: packages), CacheData(cache: cache, shared: shared),
            HSTSData(hosts: hosts) { hstsFile.noteChange() }, CookieData(late: late),
        ]
        data = WebsiteData(stores: stores, sites: SiteNames(suffixes: suffixes))
        let install = InstallID()
        let installFile = StateFile("fetch-install") { install.saved }
        install.whenMade { installFile.noteChange() }
        (self.install, self.installFile) = (install, installFile)
        let stages: [any HopStage] = [
            CheckStage(), HSTSStage(hosts: hosts) { hstsFile.noteChange() }, PageStage(),
            ReplayStage(replays: replays), PackageStage(packages: packages),
            CacheStage(
                cache: cache, shared: shared, suffixes: suffixes, now: now,
                isOffline: { [replays] in replays.isOffline($0) }), OfflineStage(replays: replays),
            CookieStage(late: late, cookieless: cookieless), CredentialsStage(), ClearSiteDataStage(data: data),
            NetworkStage(network: network),
        ]
        inner = HopWay(stages)
        way = HopWay(
            [ParametersStage(install: install), TraceStage(), InterceptorStage(pending: pending)] + stages)
    }

    var settings: FetchSettings { currentSettings.withLock { $0 } }
    var metrics: FetchMetrics { sharedMetrics.value }

    /// Applies a checked configuration. Running fetches continue with the old one.
    func configure(_ section: FetchConfiguration) {
        guard let settings = try? FetchSettings(section) else { return }
        currentSettings.withLock { $0 = settings }
        cache.configure(settings.cache)
        packages.configure(settings)
    }

    func start(_ context: PluginContext) async {
        sharedMetrics.value = FetchMetrics(context)
        cookieless.open(in: context.stateDirectory)
        packages.start(context)
        replays.start(context)
        await hstsFile.open(context) { [hstsHosts] in try hstsHosts.take(text: $0) }
        await installFile.open(context) { [install] in install.take($0) }
    }

    /// Opens the store on the disk.
    func open(_ context: PluginContext) async {
        await cache.open(directory: context.stateDirectory, settings: settings.cache, now: now) {
            context.log.warning($0)
        }
    }

    func stop() async {
        await network.stop()
        await cache.close()
        await hstsFile.write()
        await installFile.write()
    }
}

/// The metrics, which are published after the plugin has started. Any thread.
private final class SharedMetrics: Sendable {
    private let metrics = Mutex(FetchMetrics())

    var value: FetchMetrics {
        get { metrics.withLock { $0 } }
        set { metrics.withLock { $0 = newValue } }
    }
}
