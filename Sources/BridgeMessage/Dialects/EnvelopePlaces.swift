import CBridgeJSON

/// Which fields a message has, and where they stand among the members of its line. Borrows what the line borrows.
struct EnvelopePlaces {
    /// A bit for each field that there is.
    private(set) var present: UInt64
    /// Those of them that stand there more than once.
    private(set) var twice: UInt64
    private var places: UnsafePointer<UInt32>?

    /// - Parameters:
    ///   - memory: for the places of a message that has escapes in names of members: room for one of each field.
    ///   - scratch: for such names.
    @inline(__always)
    init(_ line: ParsedLine, _ memory: UnsafeMutablePointer<UInt32>, _ scratch: inout EscapeScratch) {
        present = line.text.pointee.found
        twice = line.text.pointee.repeated
        places = line.text.pointee.places
        if line.text.pointee.has_escaped_keys { self = withEscaped(line, memory, &scratch) }
    }

    /// The same, with the fields whose names have escapes.
    @inline(never)
    private func withEscaped(
        _ line: ParsedLine, _ memory: UnsafeMutablePointer<UInt32>, _ scratch: inout EscapeScratch
    ) -> EnvelopePlaces {
        var all = self
        if let places { memory.update(from: places, count: EnvelopeField.allCases.count) }
        for (index, member) in line.members.enumerated() where member.key_escaped {
            let name = scratch.unescape(line.slice(member.key_start, member.key_length))
            guard let field = EnvelopeField(name) else { continue }
            let place = UInt32(truncatingIfNeeded: index)
            // Of several the last, with an escape or without.
            memory[field.rawValue] = all.has(field) ? max(memory[field.rawValue], place) : place
            all.twice |= all.present & field.bit
            all.present |= field.bit
        }
        all.places = UnsafePointer(memory)
        return all
    }

    @inline(__always)
    func has(_ field: EnvelopeField) -> Bool { present & field.bit != 0 }

    /// The member of a field, of several the last; nil: there is none.
    @inline(__always)
    func member(_ field: EnvelopeField, of line: ParsedLine) -> UnsafePointer<bridge_json_member>? {
        guard has(field) else { return nil }
        // There are places and members: one of them is the field's.
        let index = Int(places.unsafelyUnwrapped[field.rawValue])
        return line.text.pointee.members.unsafelyUnwrapped + index
    }
}
