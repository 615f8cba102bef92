// JSON and its numbers as members of Codable types. The coders of this module pass them through unchanged. Any other
// coder processes the value piece by piece, with numbers of that coder's precision.

extension JSON: Codable {
    /// Reads any value.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? TapeDecoder {
            self = decoder.json()
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let number = try? container.decode(JSONNumber.self) {
            self = .number(number)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            let members = try container.decode([String: JSON].self)
            self = .object(members.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = $1.value })
        }
    }

    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? TextEncoder {
            return try encoder.text.single(in: encoder.id) { writeText(to: &encoder.text.bytes) }
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let object):
            try container.encode(Dictionary(object.map { ($0.key, $0.value) }) { _, last in last })
        }
    }
}

extension JSONNumber: Codable {
    /// Reads any number.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? TapeDecoder {
            self = try decoder.number()
            return
        }
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self.init(integer)
        } else if let integer = try? container.decode(UInt64.self) {
            self.init(integer)
        } else {
            let value = try container.decode(Double.self)
            guard let number = JSONNumber(value) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON has no number \(value)")
            }
            self = number
        }
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? TextEncoder {
            return try encoder.text.single(in: encoder.id) { JSONText.write(digits: text, to: &encoder.text.bytes) }
        }
        var container = encoder.singleValueContainer()
        if let integer = int64 {
            try container.encode(integer)
        } else if let integer = uint64 {
            try container.encode(integer)
        } else {
            try container.encode(double)
        }
    }
}
