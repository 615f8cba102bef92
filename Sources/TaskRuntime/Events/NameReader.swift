import BridgeJSON

/// An array of strings in a task's options, of which a job reads a few in each step. It keeps the options' text.
struct NameReader: Decodable {
    private var rest: any UnkeyedDecodingContainer

    /// How many strings are left.
    var count: Int { (rest.count ?? 0) - rest.currentIndex }

    init(from decoder: any Decoder) throws { rest = try decoder.unkeyedContainer() }

    /// The next string and its index in the array; nil: there is none.
    ///
    /// - Throws: `options.invalid`, where it is no string.
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
