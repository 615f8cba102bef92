import Testing
import PluginInterface

@Suite("Numbers of calls that a process is handed")
struct PluginProcessCallNumberTests {
    @Test(
        "name their slot, grow with each use of it, and are doubles that lose nothing",
        arguments: [0, 1, 65_535, (1 << 20) - 1])
    func grow(index: Int) {
        var number = PluginProcessCallNumber(0)
        for _ in 0..<1_000 {
            let next = PluginProcessCallNumber(index: index, after: number)
            #expect(next.index == index)
            #expect(next.value > number.value)
            #expect(UInt64(exactly: Double(next.value)) == next.value)
            number = next
        }
    }

    @Test("begin again after the last use, and none is 0", arguments: [0, 7])
    func wrap(index: Int) {
        let last = PluginProcessCallNumber((1 << 53) - 1 << 20 | UInt64(index))
        let next = PluginProcessCallNumber(index: index, after: last)
        #expect(next.index == index)
        #expect(next.value == 1 << 20 | UInt64(index))
    }

    @Test("of another's making have a position within the bound", arguments: [0, 1, UInt64.max, 1 << 63, 0x000F_FFFF])
    func foreign(value: UInt64) {
        #expect((0..<(1 << 20)).contains(PluginProcessCallNumber(value).index))
    }
}
