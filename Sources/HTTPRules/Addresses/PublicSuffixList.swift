import CPublicSuffix

/// The list of public suffixes: the names below which others may register names, such as `com` or `co.uk`. It
/// determines the site of an origin, and the cookies whose domain would be too wide.
public final class PublicSuffixList: Sendable {
    /// libpsl's list.
    private nonisolated(unsafe) let list: OpaquePointer  // Only read after `init`; libpsl has no other state.
    /// Whether the list was loaded and must be freed; the built-in one is libpsl's own.
    private let isLoaded: Bool

    /// Uses the list that libpsl was built with; `nil` if it was built without one.
    public init?() {
        guard let list = psl_builtin() else { return nil }
        self.list = list
        isLoaded = false
    }

    /// Loads the list from a file, in the form of publicsuffix.org or compiled by libpsl; `nil` if the file cannot be
    /// read or contains no list.
    ///
    /// - Parameter file: The file's path.
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

    /// Returns whether a host is a public suffix. A name of one label without a rule is a public suffix; an address is
    /// not.
    ///
    /// - Parameter host: The host.
    public func isPublicSuffix(_ host: Host) -> Bool {
        host.isName && psl_is_public_suffix(list, host.text) != 0
    }

    /// Returns the domain that was registered, the public suffix and one more label; `nil` for addresses and suffixes.
    ///
    /// - Parameter host: The host.
    public func registrableDomain(of host: Host) -> Host? {
        guard host.isName else { return nil }
        return host.text.withCString { name in
            // The result points into the name.
            psl_registrable_domain(list, name).map { Host(checkedName: String(cString: $0)) }
        }
    }

    /// Returns the site of an origin (HTML, "obtain a site").
    ///
    /// - Parameter origin: The origin.
    public func site(of origin: WebOrigin) -> Site {
        Site(scheme: origin.scheme, host: registrableDomain(of: origin.host) ?? origin.host)
    }

    /// Returns whether two origins are of the same site, including the scheme (HTML, "same site").
    ///
    /// - Parameters:
    ///   - one: The first origin.
    ///   - other: The second origin.
    public func isSameSite(_ one: WebOrigin, _ other: WebOrigin) -> Bool { site(of: one) == site(of: other) }

    /// Returns whether a pattern matches everything below a public suffix, and so domains of different owners.
    ///
    /// - Parameter pattern: The pattern.
    public func isTooWide(_ pattern: OriginPattern) -> Bool { pattern.isBelow && isPublicSuffix(pattern.origin.host) }
}
