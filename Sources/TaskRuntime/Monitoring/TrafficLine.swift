import BridgeJSON
import Glibc

/// The data of one event `bridge.traffic`, assembled member by member.
struct TrafficLine {
    private(set) var bytes: [UInt8]
    private let payloadBytes: Int

    /// - Parameters:
    ///   - kind: `call`, `ask`, `decision`, `forward`, `progress`, `callback`, `event` or `refused`.
    ///   - payloadBytes: The maximum number of bytes shown of a payload.
    init(_ kind: StaticString, payloadBytes: Int) {
        self.payloadBytes = payloadBytes
        bytes = Array(#"{"kind":""#.utf8)
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: kind.utf8Start, count: kind.utf8CodeUnitCount))
        bytes.append(contentsOf: Array(#"","wallMs":\#(WallClock.milliseconds)"#.utf8))
    }

    /// Returns the complete line.
    consuming func finished() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    mutating func add(_ name: String, _ value: JSON) {
        begin(name)
        value.write(to: &bytes)
    }

    mutating func add(_ name: String, _ number: some BinaryInteger) { add(name, .number(JSONNumber(number))) }

    /// Adds a payload with masked secrets: as JSON or, if it is too long, its beginning as a string and its length as
    /// `NAMEBytes`.
    mutating func add(_ name: String, payload: UnsafeRawBufferPointer, isPrivate: Bool) {
        guard !isPrivate else { return add(name, .string(TrafficMask.placeholder)) }
        let shown = TrafficMask.apply(payload, atMost: payloadBytes)
        guard shown.isCut else {
            begin(name)
            return bytes.append(contentsOf: shown.text)
        }
        add(name, .string(String(decoding: shown.text, as: UTF8.self) + "…"))
        add(name + "Bytes", payload.count)
    }

    /// Adds an error. For a private task only its code is shown: its message may contain options, as may the message of
    /// any task about a secret option.
    mutating func add(_ error: BridgeError, isPrivate: Bool) {
        var shown = error
        if isPrivate || error.data?["path"]?.stringValue.map(SecretNames.isOne) == true {
            shown.message = TrafficMask.placeholder
            shown.data = nil
        }
        shown.json.bytes.withUnsafeBytes { add("error", payload: $0, isPrivate: false) }
    }

    private mutating func begin(_ name: String) {
        bytes.append(contentsOf: Array(#","\#(name)":"#.utf8))
    }
}

/// The time of day.
enum WallClock {
    /// Milliseconds since 1970, UTC.
    static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
