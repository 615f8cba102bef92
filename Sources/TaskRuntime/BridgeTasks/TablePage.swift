import BridgeJSON

/// The part of a table that is requested: the options of every task that answers with a table.
struct PageRequest: Decodable {
    /// The maximum number of entries.
    var limit: Int?
    /// The end of the previous page; `nil` for the first page.
    var cursor: String?

    /// Returns the number of the entry at which the previous page ended; 0 for the first page.
    ///
    /// - Throws: `options.invalid` if the cursor is not a number.
    func number() throws(BridgeError) -> UInt64 {
        guard let cursor else { return 0 }
        guard let number = UInt64(cursor) else { throw Self.badCursor(cursor) }
        return number
    }

    /// Returns the error for a cursor that no page of the table had.
    static func badCursor(_ cursor: String) -> BridgeError {
        BridgeError(
            JSONMismatch(path: "$.cursor", expected: "a cursor of this table", got: "\"\(cursor.prefix(64))\""))
    }
}

/// One page of a table, as text.
///
/// The examined entries and the bytes are limited: a page takes the loop less than a millisecond, for any length and
/// contents of the table. If entries are left, the page has a cursor.
struct TablePage {
    /// The maximum number of entries that are examined for one page. Those that the caller may not see count as well.
    static let maximumEntries = 128
    /// The maximum length of a page, unless its first entry alone is longer.
    static let maximumBytes = 256 << 10
    /// Returns the room in a message beside ids and cursor.
    fileprivate static func roomBytes(in messageBytes: Int) -> Int { messageBytes - min(2_048, messageBytes / 4) }

    private let maximumShown: Int
    private let maximumBytes: Int
    private var text: [UInt8]
    private var lookedAt = 0
    private var shown = 0
    private var lastPosition = ""
    private var hasMore = false

    /// An empty page.
    ///
    /// - Parameters:
    ///   - member: The name of the list.
    ///   - head: The members of the result before the list.
    ///   - messageBytes: The maximum length of a message.
    /// - Throws: `options.invalid` if the requested limit is out of range.
    init(
        _ member: String, after head: JSONObject = [:], _ request: PageRequest, messageBytes: Int
    ) throws(BridgeError) {
        let limit = request.limit ?? Self.maximumEntries
        guard (1...Self.maximumEntries).contains(limit) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.limit", expected: "an integer from 1 to \(Self.maximumEntries)", got: "number \(limit)"))
        }
        maximumShown = limit
        text = JSON.object(head).bytes
        text.removeLast()
        if !head.isEmpty { text.append(UInt8(ascii: ",")) }
        JSONText.appendQuoted(member, to: &text)
        text += ":[".utf8
        maximumBytes = max(text.count, min(Self.maximumBytes, Self.roomBytes(in: messageBytes)))
    }

    /// Adds the next entry of the table.
    ///
    /// - Parameters:
    ///   - position: The entry's position in the table's order, for the cursor.
    ///   - entry: Returns its text; `nil` if the caller may not see it.
    /// - Returns: False if the page was full; the entry belongs to the next page.
    mutating func add(_ position: @autoclosure () -> String, _ entry: () -> [UInt8]?) -> Bool {
        guard lookedAt < Self.maximumEntries, shown < maximumShown else { return end() }
        lookedAt += 1
        if let entry = entry() {
            if shown > 0 {
                guard text.count + entry.count < maximumBytes else { return end() }
                text.append(UInt8(ascii: ","))
            }
            text += entry
            shown += 1
        }
        lastPosition = position()
        return true
    }

    private mutating func end() -> Bool {
        hasMore = true
        return false
    }

    /// Returns the complete result.
    consuming func finished() -> [UInt8] {
        text.append(UInt8(ascii: "]"))
        if hasMore {
            text += #","cursor":"#.utf8
            JSONText.appendQuoted(lastPosition, to: &text)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}

extension TaskRuntime {
    /// Returns a page of the entries of a table, in their order.
    ///
    /// - Parameters:
    ///   - position: Returns an entry's position in that order, for the cursor.
    ///   - text: Returns an entry's text; `nil` if the caller may not see it.
    ///   - name: Returns the members that are shown, with `cut`, of an entry that is longer than a message.
    func page<Entry>(
        _ member: String, after head: JSONObject = [:], _ request: PageRequest, of entries: some Sequence<Entry>,
        position: (Entry) -> String, text: (Entry) -> [UInt8]?, name: (Entry) -> JSONObject = { _ in [:] }
    ) throws(BridgeError) -> [UInt8] {
        var page = try TablePage(member, after: head, request, messageBytes: quotas.limits.messageBytes)
        for entry in entries {
            let isTaken = page.add(position(entry)) {
                guard let text = text(entry) else { return nil }
                guard text.count > TablePage.roomBytes(in: quotas.limits.messageBytes) else { return text }
                var cut = name(entry)
                cut["cut"] = true
                return JSON.object(cut).bytes
            }
            if !isTaken { break }
        }
        return page.finished()
    }
}
