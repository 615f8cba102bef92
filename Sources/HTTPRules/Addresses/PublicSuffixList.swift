import CPublicSuffix

/// The list of public suffixes: below which names others may register, `com`, `co.uk`. It decides what a site is, and
/// which cookies would be too wide.
public final class PublicSuffixList: Sendable {
    /// libpsl's list. `nonisolated(unsafe)`: it is only read after `init`, and libpsl keeps no other state.
    private nonisolated(unsafe) let list: OpaquePointer
    /// Whether the list was loaded and must be freed; the built-in one is libpsl's own.
    private let isLoaded: Bool

    /// The list that libpsl was built with; nil where it was built without one.
    public init?() {
        guard let list = psl_builtin() else { return nil }
        self.list = list
        isLoaded = false
    }

    /// The list of a file, as publicsuffix.org publishes it or compiled by libpsl.
    ///
    /// - Parameter file: Its path; nil is returned where the file cannot be read, or has no list.
    public init?(file: String) {
        guard let list = psl_load_file(file) else { return nil }
        guard psl_suffix_count(list) != 0 else {
            psl_free(list)
            return nil
        }
        self.list = list
        isLoaded = true
    }

    deinit { if isLoaded { psl_free(list) } }

    /// Whether a host is a public suffix. A name of one label that no rule names is one; an address is none.
    ///
    /// - Parameter host: The host.
    public func isPublicSuffix(_ host: Host) -> Bool {
        host.isName && psl_is_public_suffix(list, host.text) != 0
    }

    /// The domain that somebody registered: the public suffix and one label more; nil of addresses and of suffixes.
    ///
    /// - Parameter host: The host.
    public func registrableDomain(of host: Host) -> Host? {
        guard host.isName else { return nil }
        return host.text.withCString { name in
            // The result points into the name.
            psl_registrable_domain(list, name).map { Host(checkedName: String(cString: $0)) }
        }
    }

    /// The site of an origin (HTML, "obtain a site").
    ///
    /// - Parameter origin: The origin.
    public func site(of origin: WebOrigin) -> Site {
        Site(scheme: origin.scheme, host: registrableDomain(of: origin.host) ?? origin.host)
    }

    /// Whether two origins are of the same site, the scheme included (HTML, "same site").
    ///
    /// - Parameters:
    ///   - one: The one.
    ///   - other: The other.
    public func isSameSite(_ one: WebOrigin, _ other: WebOrigin) -> Bool { site(of: one) == site(of: other) }

    /// Whether a pattern means all that is below a public suffix, and so the domains of strangers.
    ///
    /// - Parameter pattern: The pattern.
    public func isTooWide(_ pattern: OriginPattern) -> Bool { pattern.isBelow && isPublicSuffix(pattern.origin.host) }
}
