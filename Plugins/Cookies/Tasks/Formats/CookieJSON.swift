import HTTPRules
import TaskKit

/// Bytes as JSON: a string if they are UTF-8, otherwise base 64 in a member with another name.
enum ByteText {
    /// Returns the member that represents the bytes.
    static func member(_ name: String, _ bytes: [UInt8]) -> (String, JSON) {
        if let text = String(validating: bytes, as: UTF8.self) { return (name, .string(text)) }
        var base64: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &base64) }
        return (name + "Base64", .string(String(decoding: base64, as: UTF8.self)))
    }

    /// Returns the bytes that one of two members represents; `nil` if neither is present.
    ///
    /// - Throws: `options.invalid`, if both are present, or the base 64 is invalid.
    static func bytes(
        _ name: String, _ text: String?, _ base64: String?, at path: String
    ) throws(BridgeError) -> [UInt8]? {
        guard let base64 else { return text.map { Array($0.utf8) } }
        let bytes = Array(base64.utf8).withUnsafeBytes { Base64Coding.decode($0) }
        guard text == nil, let bytes else {
            throw .unfit(
                "\(path).\(name)Base64", expected: "base 64, and no \(name)",
                got: text == nil ? "invalid base 64" : "both")
        }
        return bytes
    }
}

/// A cookie's key in the options of callers.
struct KeyText: Codable, Sendable {
    var name: String?
    var nameBase64: String?
    var host: String
    var hostOnly: Bool?
    var path: String?
    var partition: String?

    /// Returns the key.
    ///
    /// - Throws: `options.invalid`.
    func key(at path: String) throws(BridgeError) -> Cookie.Key {
        Cookie.Key(
            partition: partition ?? "", host: try Self.host(host, at: "\(path).host"), hostOnly: hostOnly ?? true,
            path: self.path ?? "/", name: try ByteText.bytes("name", name, nameBase64, at: path) ?? [])
    }

    /// Returns the host that a text names.
    ///
    /// - Throws: `options.invalid`.
    static func host(_ text: String, at path: String) throws(BridgeError) -> Host {
        do throws(AddressRefusal) {
            return try Host(ascii: text)
        } catch {
            throw .unfit(path, expected: "a host", got: "an invalid string")
        }
    }
}

/// A cookie in the options of callers and in the format `json`.
struct CookieText: Codable, Sendable {
    var name: String?
    var nameBase64: String?
    var value: String?
    var valueBase64: String?
    var host: String
    var hostOnly: Bool?
    var path: String?
    var partition: String?
    var expires: Int64?
    var created: Int64?
    var accessed: Int64?
    var secure: Bool?
    var httpOnly: Bool?
    var sameSite: SameSiteText?
    var sourceSecure: Bool?
    var persist: Bool?
    var pin: Bool?
    /// The version of the cookie. It is accepted and ignored.
    var version: UInt64?

    /// Returns the cookie, with default values for missing members.
    ///
    /// - Throws: `options.invalid`.
    func cookie(at place: String, now: UnixTime) throws(BridgeError) -> Cookie {
        let host = try KeyText.host(host, at: "\(place).host")
        var cookie = Cookie(
            name: try ByteText.bytes("name", name, nameBase64, at: place) ?? [],
            value: try ByteText.bytes("value", value, valueBase64, at: place) ?? [], host: host,
            hostOnly: hostOnly ?? true, path: path ?? "/",
            created: created.map { min(UnixTime(seconds: $0), now) } ?? now)
        cookie.partition = partition ?? ""
        cookie.expires = expires.map { UnixTime(seconds: $0) }
        cookie.accessed = accessed.map { min(UnixTime(seconds: $0), now) } ?? now
        cookie.secure = secure ?? false
        cookie.httpOnly = httpOnly ?? false
        cookie.sameSite = sameSite?.sameSite ?? .unset
        cookie.sourceSecure = sourceSecure ?? cookie.secure
        cookie.persist = persist ?? false
        cookie.pin = pin ?? false
        return cookie
    }
}

/// The attribute `SameSite` in the options of callers.
enum SameSiteText: String, Codable, CaseIterable, Sendable {
    case unset
    case none
    case lax
    case strict

    var sameSite: SameSite {
        switch self {
        case .unset: .unset
        case .none: .none
        case .lax: .lax
        case .strict: .strict
        }
    }

    init(_ sameSite: SameSite) {
        self =
            switch sameSite {
            case .unset: .unset
            case .none: .none
            case .lax: .lax
            case .strict: .strict
            }
    }
}

extension Cookie.Key {
    /// The JSON for callers.
    var json: JSON { .object(members) }

    fileprivate var members: JSONObject {
        var object = JSONObject()
        let (member, text) = ByteText.member("name", name)
        object[member] = text
        object["host"] = .string(host.text)
        object["hostOnly"] = .bool(hostOnly)
        object["path"] = .string(path)
        if !partition.isEmpty { object["partition"] = .string(partition) }
        return object
    }
}

extension Cookie {
    /// Returns the JSON for callers.
    ///
    /// - Parameters:
    ///   - version: The version of the cookie; `nil` to omit it.
    ///   - showsSecrets: Whether the value of an HttpOnly cookie is included.
    func json(version: UInt64? = nil, showsSecrets: Bool) -> JSON {
        var object = key.members
        if showsSecrets || !httpOnly {
            let (member, text) = ByteText.member("value", value)
            object[member] = text
        }
        if let expires { object["expires"] = .number(JSONNumber(expires.seconds)) }
        object["created"] = .number(JSONNumber(created.seconds))
        object["accessed"] = .number(JSONNumber(accessed.seconds))
        object["secure"] = .bool(secure)
        object["httpOnly"] = .bool(httpOnly)
        object["sameSite"] = .string(SameSiteText(sameSite).rawValue)
        object["sourceSecure"] = .bool(sourceSecure)
        object["persist"] = .bool(persist)
        object["pin"] = .bool(pin)
        if let version { object["version"] = .number(JSONNumber(version)) }
        return .object(object)
    }
}
