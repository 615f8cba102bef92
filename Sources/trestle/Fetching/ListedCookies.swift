import BridgeClient
import BridgeJSON

/// Cookies for lists.
enum ListedCookies {
    /// Returns all cookies that match options of `cookies.get`, page by page.
    static func all(_ options: JSONObject, _ client: Bridge) async throws -> [JSON] {
        var options = options
        var cookies: [JSON] = []
        while true {
            let page = try await client.callJSON("cookies.get", .object(options))
            cookies += page["cookies"]?.arrayValue ?? []
            guard page["more"] == true else { return cookies }
            options["after"] = page["version"]
        }
    }

    /// Returns a cookie for programs, with all its members.
    static func line(_ cookie: JSON, showsValue: Bool) -> JSON {
        var members = cookie.objectValue ?? [:]
        if !showsValue { for name in ["value", "valueBase64"] { members[name] = nil } }
        return .object(members)
    }

    /// Returns a cookie for people, as a row of a table.
    static func row(_ cookie: JSON, showsValue: Bool) -> JSON {
        let isHostOnly = cookie["hostOnly"] == true
        var row: JSONObject = [
            "domain": .string((isHostOnly ? "" : ".") + (cookie["host"]?.stringValue ?? "")),
            "path": cookie["path"] ?? nil, "name": cookie["name"] ?? cookie["nameBase64"] ?? nil,
        ]
        if showsValue { row["value"] = cookie["value"] ?? cookie["valueBase64"] }
        if let expires = cookie["expires"]?.int64Value {
            row["expiresAt"] = .number(JSONNumber(expires &* 1000))
        }
        let flags = ["secure": "Secure", "httpOnly": "HttpOnly", "persist": "persist", "pin": "pin"]
        var attributes = ["secure", "httpOnly", "persist", "pin"].filter { cookie[$0] == true }.compactMap { flags[$0] }
        if let sameSite = cookie["sameSite"]?.stringValue, sameSite != "unset" {
            attributes.append("SameSite=\(sameSite)")
        }
        if let partition = cookie["partition"]?.stringValue { attributes.append("partition=\(partition)") }
        if !attributes.isEmpty { row["attributes"] = .string(attributes.joined(separator: ", ")) }
        return .object(row)
    }
}
