internal import BridgeJSON
internal import WebKitViews

extension WebCookie.Key {
    /// Reads a key in the format of the plugin Cookies; `nil` if the engine does not support such cookies.
    init?(_ json: JSON) {
        guard let name = json["name"]?.stringValue, let host = json["host"]?.stringValue, json["partition"] == nil
        else { return nil }
        self.init(
            name: name, host: host, isHostOnly: json["hostOnly"]?.boolValue ?? true,
            path: json["path"]?.stringValue ?? "/")
    }

    /// The key in the format of the plugin Cookies.
    var json: JSONObject {
        ["name": .string(name), "host": .string(host), "hostOnly": .bool(isHostOnly), "path": .string(path)]
    }
}

extension WebCookie {
    /// Reads a cookie in the format of the plugin Cookies; `nil` if the engine does not support it: the engine has no
    /// cookies with bytes that are not UTF-8, and no partitions.
    init?(_ json: JSON) {
        guard let key = Key(json), let value = json["value"]?.stringValue else { return nil }
        self.init(key, value: value)
        expires = json["expires"]?.int64Value
        isSecure = json["secure"]?.boolValue ?? false
        isHTTPOnly = json["httpOnly"]?.boolValue ?? false
        // The engine treats a cookie without this attribute as lax.
        sameSite = json["sameSite"]?.stringValue.flatMap { SameSite(rawValue: $0) } ?? .lax
    }

    /// The cookie in the format of the plugin Cookies.
    var json: JSON {
        var members = key.json
        members["value"] = .string(value)
        members["secure"] = .bool(isSecure)
        members["httpOnly"] = .bool(isHTTPOnly)
        // Without `secure`, `none` is not allowed.
        members["sameSite"] = .string(sameSite == .none && !isSecure ? "unset" : sameSite.rawValue)
        members["expires"] = expires.map { JSON.number(JSONNumber($0)) }
        return .object(members)
    }
}
