import Testing
import PluginInterface

@Suite("Numbers of calls that a process is handed")
struct WorkerCallNumberTests {
    @Test(
        "tell their place, grow with each use of it, and are doubles that lose nothing",
        arguments: [0, 1, 65_535, (1 << 20) - 1])
    func grow(place: Int) {
        var number = WorkerCallNumber(0)
        for _ in 0..<1_000 {
            let next = WorkerCallNumber(place: place, after: number)
            #expect(next.place == place)
            #expect(next.value > number.value)
            #expect(UInt64(exactly: Double(next.value)) == next.value)
            number = next
        }
    }

    @Test("begin anew after the last use, and none is 0", arguments: [0, 7])
    func wrap(place: Int) {
        let last = WorkerCallNumber((1 << 53) - 1 << 20 | UInt64(place))
        let next = WorkerCallNumber(place: place, after: last)
        #expect(next.place == place)
        #expect(next.value == 1 << 20 | UInt64(place))
    }

    @Test("of another's making have a place within the bound", arguments: [0, 1, UInt64.max, 1 << 63, 0x000F_FFFF])
    func foreign(value: UInt64) {
        #expect((0..<(1 << 20)).contains(WorkerCallNumber(value).place))
    }
}
