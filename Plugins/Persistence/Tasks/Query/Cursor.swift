import Foundation
import TaskKit

/// The end of a page, in a form that the caller receives and sends back. It contains the last record's position in the
/// order, so that the next page begins right after it, whatever was changed in the meantime.
///
/// Opaque to callers. It contains only data that the caller has received, and everything in it is checked when it is
/// sent back. A modified cursor can only refer to another position in the caller's own table.
enum Cursor {
    /// The version of the form, so that later versions of the plugin can recognise it.
    private static let form: JSON = 1

    /// Returns the text for a position in the order of `ordering`.
    static func text(_ position: Ordering.Position, in path: TablePath, _ ordering: Ordering) -> String {
        let json: JSON = [
            "form": form,
            "of": fingerprint(path, ordering),
            "values": .array(position.values.map(\.json)),
            "key": .string(String(decoding: position.key, as: UTF8.self)),
        ]
        return Data(json.bytes).base64EncodedString()
    }

    /// - Throws: `options.invalid` if it is not a cursor, or one of another query.
    static func parse(
        _ text: String, in path: TablePath, _ ordering: Ordering
    ) throws(BridgeError) -> Ordering.Position {
        let unfit = BridgeError.unfit("$.cursor", expected: "a cursor that a query gave out", got: "something else")
        guard let bytes = Data(base64Encoded: text), let json = try? JSON(parsing: Array(bytes)),
            json["form"] == form, case .string(let fingerprint)? = json["of"],
            case .array(let values)? = json["values"], case .string(let key)? = json["key"],
            key.utf8.count <= Limits.keyBytes
        else { throw unfit }
        guard .string(fingerprint) == self.fingerprint(path, ordering) else {
            throw .unfit("$.cursor", expected: "a cursor of this table and order", got: "one of another")
        }
        let position = Ordering.Position(values: values.compactMap { SortValue(json: $0) }, key: Array(key.utf8))
        guard position.values.count == values.count, values.count == ordering.texts.count else { throw unfit }
        return position
    }

    /// Returns a hash (FNV-1a, 64 bits) of the table and the order, so that a cursor of another query is rejected with
    /// a clear error. It is not a security measure: none is needed.
    private static func fingerprint(_ path: TablePath, _ ordering: Ordering) -> JSON {
        let parts = [path.namespace.text, path.table.text] + ordering.texts
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in JSON.array(parts.map { .string($0) }).bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return .string(String(hash, radix: 16))
    }
}
