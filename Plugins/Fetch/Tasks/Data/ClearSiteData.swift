import HTTPRules

/// The field `Clear-Site-Data` of a response: the data of its origin that must be removed.
struct ClearSiteData: Equatable {
    var clearsCache = false
    var clearsCookies = false
    var clearsStorage = false

    /// Reads the field.
    ///
    /// - Parameter headers: The fields of a response over https.
    init(_ headers: HeaderList) {
        for member in headers.members(named: "Clear-Site-Data") {
            switch member {
            case "\"cache\"": clearsCache = true
            case "\"cookies\"": clearsCookies = true
            case "\"storage\"": clearsStorage = true
            case "\"*\"": (clearsCache, clearsCookies, clearsStorage) = (true, true, true)
            default: break
            }
        }
    }

    /// The types whose data are removed for the origin only.
    var originTypes: Set<String> {
        var types: Set<String> = []
        if clearsCache { types.formUnion(["diskCache", "memoryCache", "fetchCache"]) }
        if clearsStorage {
            types.formUnion(["sessionStorage", "localStorage", "indexedDB", "serviceWorkers", "webSQL"])
        }
        return types
    }
}
