import BridgeJSON

/// The JSON of a call's options and result. `JSON` itself is not written and read again.
enum CallJSON {
    /// - Throws: `options.invalid` where the options have no JSON.
    static func options(_ options: some Encodable, of task: String) throws(BridgeError) -> JSON {
        if let json = options as? JSON { return json }
        do throws(JSONEncodingError) {
            return try JSONCoding.json(options)
        } catch {
            throw BridgeError(
                .optionsInvalid, "the options for \(task) have no JSON: \(error)", data: ["started": false])
        }
    }

    /// - Throws: `result.invalid` where the result does not fit its type.
    static func result<Result: Decodable>(_ json: JSON, of task: String) throws(BridgeError) -> Result {
        do throws(JSONMismatch) {
            return try value(Result.self, json)
        } catch {
            throw BridgeError(.resultInvalid, "the result of \(task) does not fit: \(error)")
        }
    }

    static func value<Value: Decodable>(
        _ type: Value.Type, _ json: JSON, unknownKeys: UnknownKeys = .ignore
    ) throws(JSONMismatch) -> Value {
        if Value.self == JSON.self, let value = json as? Value { return value }
        return try JSONCoding.decode(Value.self, from: json, unknownKeys: unknownKeys)
    }
}
