import HTTPRules

/// A moment in 2026.
let now = UnixTime(seconds: 1_790_000_000)

extension UnixTime {
    /// Returns the moment this number of seconds later.
    func after(_ seconds: Int64) -> UnixTime { UnixTime(seconds: self.seconds + seconds) }
}

extension CookieContext {
    /// Creates the context of a request of the user.
    init(_ url: String) throws { self.init(url: try WebURL(url)) }

    /// Creates the context of a request of a page.
    init(_ url: String, from page: String, navigation: Bool = false, method: String = "GET") throws {
        let site = suffixes.site(of: try WebURL(page).origin)
        self.init(url: try WebURL(url), initiator: .site(site), topLevelSite: site)
        isNavigation = navigation
        self.method = method
    }

    /// The same context for a script.
    var script: CookieContext {
        var context = self
        context.isHTTP = false
        return context
    }
}

extension CookieJar {
    /// Creates a jar with the built-in list of suffixes.
    init() { self.init(suffixes: HTTPRulesTests.suffixes) }

    /// Sets the cookie of one line of a response.
    @discardableResult mutating func put(_ line: String, _ context: CookieContext, at time: UnixTime = now) -> Outcome {
        put([Array(line.utf8)], in: context, at: time)[0]
    }

    /// Returns the header as text.
    mutating func header(_ context: CookieContext, at time: UnixTime = now) -> String {
        String(decoding: header(for: context, at: time), as: UTF8.self)
    }
}

extension CookieJar.Outcome {
    /// The name of the reason; `nil` if the cookie was accepted.
    var reason: String? {
        if case .failure(let refusal) = self { refusal.reason.name } else { nil }
    }
}
