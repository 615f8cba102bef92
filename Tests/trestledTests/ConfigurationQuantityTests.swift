import Testing

@testable import trestled

@Suite("Durations and sizes as text")
struct ConfigurationQuantityTests {
    @Test(
        "A duration is a whole number and a unit",
        arguments: [
            ("0s", Duration.zero), ("250ms", .milliseconds(250)), ("5s", .seconds(5)), ("2m", .seconds(120)),
            ("1h", .seconds(3_600)), ("0090s", .seconds(90)),
        ])
    func durations(text: String, duration: Duration) {
        #expect(Quantity.duration(text) == duration)
    }

    @Test(
        "Any other text is not a duration",
        arguments: ["", "5", "s", "-5s", "+5s", "1.5s", "5 s", "5S", "5sec", "٥s", "9999999999999999999s", "5s "])
    func noDurations(text: String) {
        #expect(Quantity.duration(text) == nil)
    }

    @Test(
        "A size is a whole number and a binary unit",
        arguments: [("0B", 0), ("512B", 512), ("64KiB", 65_536), ("1MiB", 1_048_576), ("2GiB", 2_147_483_648)])
    func sizes(text: String, bytes: Int) {
        #expect(Quantity.bytes(text) == bytes)
    }

    @Test(
        "Decimal units and overflows are not sizes", arguments: ["1MB", "1", "KiB", "-1KiB", "9223372036854775807GiB"])
    func noSizes(text: String) {
        #expect(Quantity.bytes(text) == nil)
    }

    @Test("Written quantities are read as the same values, and use the largest unit that fits")
    func roundTrip() {
        for milliseconds in [0, 1, 999, 1_000, 1_500, 60_000, 61_000, 3_600_000, 86_400_000] {
            let duration = Duration.milliseconds(milliseconds)
            #expect(Quantity.duration(Quantity.text(duration)) == duration)
        }
        for bytes in [0, 1, 1_023, 1_024, 1_025, 1 << 20, 3 << 20, 1 << 30] {
            #expect(Quantity.bytes(Quantity.text(bytes: bytes)) == bytes)
        }
        #expect(Quantity.text(.milliseconds(120_000)) == "2m")
        #expect(Quantity.text(bytes: 1_536) == "1536B")
    }
}
