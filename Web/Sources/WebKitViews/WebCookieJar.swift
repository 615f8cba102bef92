internal import CWebKitGTK
internal import MainLoop

/// The engine's cookies. Changes are sent to the network process, which applies them in their order; ``all()`` returns
/// the result.
@MainActor
public final class WebCookieJar {
    private let session: GObjectBox
    private let signals: GObjectBox
    /// Called when any program or page has set or removed a cookie.
    public var onChange: (@MainActor () -> Void)?

    init(_ session: GObjectBox) {
        guard let manager = webkit_network_session_get_cookie_manager(session.opaque) else {
            preconditionFailure("WebKit has a cookie manager for each session")
        }
        self.session = session
        signals = GObjectBox(retaining: UnsafeMutableRawPointer(manager))
        signals.observe("changed") { [weak self] _ in self?.onChange?() }
    }

    private var manager: OpaquePointer { signals.opaque }

    /// Stores cookies in a file; without it, they end with the process.
    ///
    /// - Parameter path: The file.
    func persist(in path: String) {
        webkit_cookie_manager_set_persistent_storage(manager, path, WEBKIT_COOKIE_PERSISTENT_STORAGE_SQLITE)
    }

    /// Refuses all cookies of servers and scripts.
    func refuseAll() { webkit_cookie_manager_set_accept_policy(manager, WEBKIT_COOKIE_POLICY_ACCEPT_NEVER) }

    /// Returns all cookies.
    public func all() async -> [WebCookie.Key: WebCookie] {
        let manager = manager
        return await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { outcome in
                var cookies: [WebCookie.Key: WebCookie] = [:]
                let list = webkit_cookie_manager_get_all_cookies_finish(manager, outcome, nil)
                var item = list
                while let entry = item {
                    if let raw = entry.pointee.data.map({ OpaquePointer($0) }) {
                        let cookie = WebCookie(raw)
                        cookies[cookie.key] = cookie
                        soup_cookie_free(raw)
                    }
                    item = entry.pointee.next
                }
                g_list_free(list)
                continuation.resume(returning: cookies)
            }
            webkit_cookie_manager_get_all_cookies(manager, nil, AsyncResult.callback, data)
        }
    }

    /// Sets and removes cookies, in this order.
    ///
    /// - Parameters:
    ///   - set: The cookies to set.
    ///   - removed: The cookies to remove, as the jar stores them: a cookie with another value stays.
    public func change(set: [WebCookie], removed: [WebCookie]) async {
        let manager = manager
        guard set.count + removed.count > 0 else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            // The individual results are not needed: callers read the jar.
            let countdown = Countdown(set.count + removed.count, continuation)
            for cookie in set {
                cookie.withMade {
                    let data = AsyncResult.pointer { outcome in
                        webkit_cookie_manager_add_cookie_finish(manager, outcome, nil)
                        countdown.count()
                    }
                    webkit_cookie_manager_add_cookie(manager, $0, nil, AsyncResult.callback, data)
                }
            }
            for cookie in removed {
                cookie.withMade {
                    let data = AsyncResult.pointer { outcome in
                        webkit_cookie_manager_delete_cookie_finish(manager, outcome, nil)
                        countdown.count()
                    }
                    webkit_cookie_manager_delete_cookie(manager, $0, nil, AsyncResult.callback, data)
                }
            }
        }
    }
}

/// Resumes a continuation after a number of operations.
@MainActor
private final class Countdown {
    private var left: Int
    private let continuation: CheckedContinuation<Void, Never>

    init(_ count: Int, _ continuation: CheckedContinuation<Void, Never>) {
        left = count
        self.continuation = continuation
    }

    func count() {
        left -= 1
        if left == 0 { continuation.resume() }
    }
}
