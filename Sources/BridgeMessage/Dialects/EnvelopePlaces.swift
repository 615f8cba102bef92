import CBridgeJSON

/// The fields of a message, and their positions among the members of its line. Borrows the same memory as the line.
struct EnvelopePlaces {
    /// One bit for each field that the message has.
    private(set) var present: UInt64
    /// The fields among them that occur more than once.
    private(set) var twice: UInt64
    private var places: UnsafePointer<UInt32>?

    /// - Parameters:
    ///   - memory: Memory for the positions if names of members have escapes: one for each field.
    ///   - scratch: Memory for such names.
    @inline(__always)
    init(_ line: ParsedLine, _ memory: UnsafeMutablePointer<UInt32>, _ scratch: inout EscapeScratch) {
        present = line.text.pointee.found
        twice = line.text.pointee.repeated
        places = line.text.pointee.places
        if line.text.pointee.has_escaped_keys { self = withEscaped(line, memory, &scratch) }
    }

    /// Returns the same, including the fields whose names have escapes.
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
            // If a field occurs several times, the last one counts, with or without an escape.
            memory[field.rawValue] = all.has(field) ? max(memory[field.rawValue], place) : place
            all.twice |= all.present & field.bit
            all.present |= field.bit
        }
        all.places = UnsafePointer(memory)
        return all
    }

    @inline(__always)
    func has(_ field: EnvelopeField) -> Bool { present & field.bit != 0 }

    /// Returns the member of a field, the last one of several; nil if there is none.
    @inline(__always)
    func member(_ field: EnvelopeField, of line: ParsedLine) -> UnsafePointer<bridge_json_member>? {
        guard has(field) else { return nil }
        // If the field is present, there are positions and members.
        let index = Int(places.unsafelyUnwrapped[field.rawValue])
        return line.text.pointee.members.unsafelyUnwrapped + index
    }
}
