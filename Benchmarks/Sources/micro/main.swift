// The processing of a call without sockets and plugins, step by step: nanoseconds and allocations for each.
//
//     micro [--count N] [OPERATION…]
//
// Allocations are reproducible. Nanoseconds are not; instructions are, and a run under `valgrind --tool=callgrind`
// counts them: `bench --only instructions` reports the difference of two runs.
import Glibc
import MallocCount

let usage = "usage: micro [--count N] [decode|route|encode|call]…"
var count = 1_000_000
var wanted: [String] = []
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    if argument == "--count", let number = arguments.popFirst().flatMap({ Int($0) }), number > 0 {
        // Whole turns of the loop.
        count = (number + Input.lineCount - 1) / Input.lineCount * Input.lineCount
    } else if Operation.all.contains(where: { $0.name == argument }) {
        wanted.append(argument)
    } else {
        print(usage)
        exit(argument == "--help" ? 0 : 64)
    }
}

func nanosecondsNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

for operation in Operation.all where wanted.isEmpty || wanted.contains(operation.name) {
    // Allocations that are made once are not due to the calls.
    operation.run(Input.lineCount * 64)
    let (allocationsBefore, start) = (malloc_count(), nanosecondsNow())
    operation.run(count)
    let (elapsed, allocations) = (nanosecondsNow() - start, malloc_count() - allocationsBefore)
    print("operation=\(operation.name) count=\(count) ns=\(elapsed / UInt64(count)) allocations=\(allocations)")
}
