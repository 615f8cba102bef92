import TaskKit

/// Reads options that contain secrets. Its errors do not contain the received values, unlike those of the coder.
struct SecretOptions {
    private static let known: Set = ["user", "password", "token"]
    private let object: JSONObject

    init(from decoder: any Decoder) throws {
        let json = try JSON(from: decoder)
        guard let object = json.objectValue else {
            throw JSONMismatch(path: "$", expected: "an object", got: json.typeName)
        }
        self.object = object
    }

    /// Whether the key has a value other than null.
    func has(_ key: String) -> Bool {
        object[key].map { !$0.isNull } ?? false
    }

    func userName() throws(JSONMismatch) -> UserName {
        let text = try string("user")
        guard let name = UserName(text) else {
            throw JSONMismatch(
                path: "$.user",
                expected: "a user name: 1 to \(UserName.maximumBytes) bytes, no control characters, no white space "
                    + "at either end", got: "an invalid string of \(text.utf8.count) bytes")
        }
        return name
    }

    func password() throws(JSONMismatch) -> Secret {
        let text = try string("password")
        guard (1...PasswordHasher.maximumPasswordBytes).contains(text.utf8.count) else {
            throw JSONMismatch(
                path: "$.password", expected: "a password of 1 to \(PasswordHasher.maximumPasswordBytes) bytes",
                got: "a string of \(text.utf8.count) bytes")
        }
        return Secret(text)
    }

    func token() throws(JSONMismatch) -> Secret {
        Secret(try string("token"))
    }

    private func string(_ key: String) throws(JSONMismatch) -> String {
        switch object[key] {
        case .string(let text): return text
        case nil:
            throw JSONMismatch(
                missing: key, expected: "a string", given: object.keys.filter { !Self.known.contains($0) })
        case let other?:
            throw JSONMismatch(path: "$.\(key)", expected: "a string", got: other.typeName)
        }
    }
}

/// The schemas of these options.
enum SecretSchema {
    static let user: JSON = [
        "type": "string", "minLength": 1, "description": "1 to 256 bytes, compared byte for byte",
    ]
    static let password: JSON = ["type": "string", "minLength": 1, "description": "1 to 1024 bytes"]
    static let token: JSON = ["type": "string", "description": "the result of an earlier login"]

    /// Returns the schema of an object with these members, all of them required.
    static func object(_ properties: JSONObject) -> JSON {
        [
            "type": "object", "properties": .object(properties),
            "required": .array(properties.map { .string($0.key) }),
        ]
    }
}
