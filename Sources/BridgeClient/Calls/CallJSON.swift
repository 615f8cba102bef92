import BridgeJSON

/// Converts a call's options and result to and from JSON. A `JSON` value is not encoded or decoded again.
enum CallJSON {
    /// - Throws: `options.invalid` if the options cannot be encoded as JSON.
    static func options(_ options: some Encodable, of task: String) throws(BridgeError) -> JSON {
        if let json = options as? JSON { return json }
        do throws(JSONEncodingError) {
            return try JSONCoding.json(options)
        } catch {
            throw BridgeError(
                .optionsInvalid, "the options for \(task) cannot be encoded as JSON: \(error)", data: ["started": false]
            )
        }
    }

    /// - Throws: `result.invalid` if the result does not fit its type.
    static func result<Result: Decodable>(
        _ json: JSON, of task: String, _ streams: any StreamReaders
    ) throws(BridgeError) -> Result {
        do throws(JSONMismatch) {
            return try value(Result.self, json, streams)
        } catch {
            throw BridgeError(.resultInvalid, "the result of \(task) does not fit: \(error)")
        }
    }

    /// - Parameter streams: Makes the stream readers in the value; `nil` if it may contain none.
    static func value<Value: Decodable>(
        _ type: Value.Type, _ json: JSON, _ streams: (any StreamReaders)? = nil, unknownKeys: UnknownKeys = .ignore
    ) throws(JSONMismatch) -> Value {
        if Value.self == JSON.self, let value = json as? Value { return value }
        let userInfo: [CodingUserInfoKey: Any] = streams.map { [.streamReaders: $0] } ?? [:]
        return try JSONCoding.decode(Value.self, from: json, unknownKeys: unknownKeys, userInfo: userInfo)
    }
}
