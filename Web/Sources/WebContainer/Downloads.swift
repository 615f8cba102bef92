public import BridgeJSON
internal import Glibc
internal import MainLoop
internal import WebKitViews

/// The downloads of a container. They go into one folder and never overwrite a file.
@MainActor
public final class Downloads {
    /// The maximum number of running downloads.
    static let maximum = 16
    /// The maximum number of files of one name: `name`, `name (1)` …
    private static let maximumCopies = 1_000

    private struct Entry {
        var download: WebDownload
        var page: Page?
        var progress = RateLimit(.milliseconds(100))
    }

    private let folder: String
    private weak var container: Container?
    private var entries: [Int: Entry] = [:]
    private var lastNumber = 0
    private let beginning = ContinuousClock.now

    init(_ folder: String, _ container: Container) {
        self.folder = folder
        self.container = container
    }

    /// The running downloads, as JSON.
    public var list: [JSON] { entries.sorted { $0.key < $1.key }.map { .object(members($0.key, $0.value.download)) } }

    /// Cancels a download; returns false if it does not exist.
    ///
    /// - Parameter number: The download's number.
    public func cancel(_ number: Int) -> Bool {
        guard let entry = entries[number] else { return false }
        entry.download.cancel()
        return true
    }

    /// Begins a download; returns false if too many are running.
    func begin(_ download: WebDownload) -> Bool {
        guard entries.count < Self.maximum else { return false }
        lastNumber += 1
        let number = lastNumber
        let page = container?.pages.values.first { download.isOf($0.view) }
        entries[number] = Entry(download: download, page: page)
        download.onDestination = { [weak self] in self?.destination(number, $0) }
        download.onProgress = { [weak self] in self?.progressed(number) }
        download.onEnd = { [weak self] in self?.ended(number, $0) }
        return true
    }

    private func destination(_ number: Int, _ suggested: String) -> String? {
        let name = DownloadName.cleaned(suggested)
        let paths = (0..<Self.maximumCopies).lazy.map { copy -> String in
            "\(self.folder)/\(DownloadName.copy(name, copy))"
        }
        guard let path = paths.first(where: { access($0, F_OK) != 0 }), let entry = entries[number] else { return nil }
        var members = members(number, entry.download)
        members["path"] = .string(path)
        publish("web.download.started", entry, members)
        return path
    }

    private func progressed(_ number: Int) {
        guard let entry = entries[number] else { return }
        guard entries[number]?.progress.admits(at: beginning.duration(to: .now)) == true else { return }
        publish("web.download.progress", entry, members(number, entry.download))
    }

    private func ended(_ number: Int, _ error: EngineError?) {
        guard let entry = entries.removeValue(forKey: number) else { return }
        var members = members(number, entry.download)
        if let error { members["message"] = .string(error.description) }
        publish(error == nil ? "web.download.finished" : "web.download.failed", entry, members)
    }

    private func members(_ number: Int, _ download: WebDownload) -> JSONObject {
        var members: JSONObject = [
            "download": .number(JSONNumber(Int64(number))), "uri": .string(download.uri),
            "receivedBytes": .number(JSONNumber(Int64(download.receivedBytes))),
        ]
        members["path"] = download.path.map { .string($0) }
        return members
    }

    private func publish(_ name: String, _ entry: Entry, _ members: JSONObject) {
        container?.publish(name, entry.page, members)
    }
}
