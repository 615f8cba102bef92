internal import BridgeJSON
internal import WebKitViews

extension WebCookie.Key {
    /// A key as the plugin Cookies writes it; nil: the engine has no such cookies.
    init?(_ json: JSON) {
        guard let name = json["name"]?.stringValue, let host = json["host"]?.stringValue, json["partition"] == nil
        else { return nil }
        self.init(
            name: name, host: host, isHostOnly: json["hostOnly"]?.boolValue ?? true,
            path: json["path"]?.stringValue ?? "/")
    }

    /// As the plugin Cookies writes it.
    var json: JSONObject {
        ["name": .string(name), "host": .string(host), "hostOnly": .bool(isHostOnly), "path": .string(path)]
    }
}

extension WebCookie {
    /// A cookie as the plugin Cookies writes it; nil: the engine has no such cookies. It has none of bytes that are no
    /// UTF-8, and no partitions.
    init?(_ json: JSON) {
        guard let key = Key(json), let value = json["value"]?.stringValue else { return nil }
        self.init(key, value: value)
        expires = json["expires"]?.int64Value
        isSecure = json["secure"]?.boolValue ?? false
        isHTTPOnly = json["httpOnly"]?.boolValue ?? false
        // To the engine, a cookie that does not say is lax.
        sameSite = json["sameSite"]?.stringValue.flatMap { SameSite(rawValue: $0) } ?? .lax
    }

    /// As the plugin Cookies writes it.
    var json: JSON {
        var members = key.json
        members["value"] = .string(value)
        members["secure"] = .bool(isSecure)
        members["httpOnly"] = .bool(isHTTPOnly)
        // Without secure there is no `none`.
        members["sameSite"] = .string(sameSite == .none && !isSecure ? "unset" : sameSite.rawValue)
        members["expires"] = expires.map { JSON.number(JSONNumber($0)) }
        return .object(members)
    }
}
