import BridgeJSON

/// A reader of an array of strings in a task's options. A job reads a few strings in each step. The reader retains the
/// text of the options.
struct NameReader: Decodable {
    private var rest: any UnkeyedDecodingContainer

    /// The number of strings that are left.
    var count: Int { (rest.count ?? 0) - rest.currentIndex }

    init(from decoder: any Decoder) throws { rest = try decoder.unkeyedContainer() }

    /// Returns the next string and its index in the array; `nil` at the end.
    ///
    /// - Throws: `options.invalid` if the element is not a string.
    mutating func next() throws(BridgeError) -> (index: Int, name: String)? {
        guard !rest.isAtEnd else { return nil }
        let index = rest.currentIndex
        do {
            return (index, try rest.decode(String.self))
        } catch let mismatch as JSONMismatch {
            throw BridgeError(mismatch)
        } catch {
            throw BridgeError(JSONMismatch(path: "$", expected: "an array of strings", got: "\(error)"))
        }
    }
}
