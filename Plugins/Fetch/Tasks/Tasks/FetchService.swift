import Glibc
import HTTPRules
import Synchronization
import TaskKit

/// What the tasks share. Any thread.
final class FetchService: Sendable {
    private let currentSettings = Mutex(FetchSettings())
    private let sharedMetrics = SharedMetrics()
    private let now: @Sendable () -> UnixTime
    private let network: Network
    let quota: TransferQuota
    /// Which sites there are; nil: nobody knows, and each origin is a site of its own.
    let suffixes = PublicSuffixList()

    /// What each hop passes, from the caller's side to the network.
    let way: HopWay
    /// The same behind the interceptors.
    let inner: HopWay
    /// The hops that are shown to interceptors, or that the policy is asked about.
    let pending = PendingHops()
    /// The stored responses.
    let cache: HTTPCache
    let shared = SharedLoads()
    private let late = LateCookies()
    private let cookieless = CookielessHosts()
    let packages = PackageRoom()
    let replays = ReplayRoom()
    /// What is kept for sites.
    let data: WebsiteData
    /// The hosts that want to be reached by TLS alone.
    let strictHosts: StrictHosts
    private let strictFile: StateFile
    /// The name of this installation.
    let install: InstallID
    private let installFile: StateFile
    /// Where callers' files are read and written: their disk may be a slow one.
    let fileThreads = BlockingThreads(name: "fetch-files")
    /// The user that this process runs as.
    let owner: UInt32

    /// - Parameters:
    ///   - owner: The user that this process runs as.
    ///   - now: The time.
    init(owner: UInt32 = geteuid(), now: @escaping @Sendable () -> UnixTime = { WallClock.now }) {
        self.owner = owner
        let metrics = sharedMetrics
        self.now = now
        network = Network(metrics: { metrics.value })
        quota = TransferQuota(metrics: { metrics.value })
        cache = HTTPCache(metrics: { metrics.value })
        let hosts = StrictHosts(now: now)
        let strictFile = StateFile("fetch-strict-hosts.json") { try hosts.text() }
        (strictHosts, self.strictFile) = (hosts, strictFile)
        let stores: [any WebsiteDataStore] = [
            PackageData(packages: packages), CacheData(cache: cache, shared: shared),
            StrictData(hosts: hosts) { strictFile.noteChange() }, CookieData(late: late),
        ]
        data = WebsiteData(stores: stores, sites: SiteNames(suffixes: suffixes))
        let install = InstallID()
        let installFile = StateFile("fetch-install") { install.saved }
        install.whenMade { installFile.noteChange() }
        (self.install, self.installFile) = (install, installFile)
        let stages: [any HopStage] = [
            CheckStage(), StrictStage(hosts: hosts) { strictFile.noteChange() }, PageStage(),
            ReplayStage(room: replays), PackageStage(packages: packages),
            CacheStage(
                cache: cache, shared: shared, suffixes: suffixes, now: now,
                isOffline: { [replays] in replays.isOffline($0) }), OfflineStage(room: replays),
            CookieStage(late: late, cookieless: cookieless), CredentialsStage(), ClearSiteDataStage(data: data),
            NetworkStage(network: network),
        ]
        inner = HopWay(stages)
        way = HopWay(
            [ParametersStage(install: install), TraceStage(), InterceptorStage(pending: pending)] + stages)
    }

    var settings: FetchSettings { currentSettings.withLock { $0 } }
    var metrics: FetchMetrics { sharedMetrics.value }

    /// Takes over a configuration that has been checked. Fetches that run go on with the old one.
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
        await strictFile.open(context) { [strictHosts] in try strictHosts.take(text: $0) }
        await installFile.open(context) { [install] in install.take($0) }
    }

    /// Opens what is on the disk.
    func open(_ context: PluginContext) async {
        await cache.open(directory: context.stateDirectory, settings: settings.cache, now: now) {
            context.log.warning($0)
        }
    }

    func stop() async {
        await network.stop()
        await cache.close()
        await strictFile.write()
        await installFile.write()
    }
}

/// The figures, which there are once the plugin has started. Any thread.
private final class SharedMetrics: Sendable {
    private let metrics = Mutex(FetchMetrics())

    var value: FetchMetrics {
        get { metrics.withLock { $0 } }
        set { metrics.withLock { $0 = newValue } }
    }
}
