import HTTPRules
import Synchronization
import TaskKit

/// Holds the public suffix list that the configuration names. Any thread.
final class SuffixHolder: Sendable {
    private struct State {
        var list: PublicSuffixList?
        var trustsLoopback = true
    }

    private let state = Mutex(State())

    /// Loads the list.
    ///
    /// - Throws: `configuration.invalid`, if there is none.
    func load(_ settings: CookieSettings) throws(BridgeError) -> PublicSuffixList {
        let list = settings.publicSuffixFile.map { PublicSuffixList(file: $0) } ?? PublicSuffixList()
        guard let list else {
            let file = settings.publicSuffixFile ?? "the list that libpsl was built with"
            throw BridgeError(
                .configurationInvalid, "$.public_suffix_file: \(file) cannot be read, or has no public suffixes")
        }
        state.withLock { $0 = State(list: list, trustsLoopback: settings.secureLocalhost) }
        return list
    }

    /// Returns the page of an origin; `nil` if the list is not loaded yet.
    func page(_ origin: WebOrigin) -> CookiePage? {
        state.withLock { state in
            state.list.map { CookiePage(origin: origin, suffixes: $0, trustsLoopback: state.trustsLoopback) }
        }
    }
}
