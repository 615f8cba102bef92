internal import Glibc

/// RE2 in libTrestlePatterns.so, which is loaded when the first pattern is compiled.
enum PatternEngine {
    /// The functions of Sources/C/CRE2/include/trestle_patterns.h.
    private struct Functions: Sendable {
        typealias Compile =
            @convention(c) (UnsafeRawPointer?, Int, UnsafeMutablePointer<CChar>?, Int) -> Int32
        typealias Match = @convention(c) (UnsafeRawPointer?, Int, UnsafeRawPointer?, Int, Int32) -> Int32

        let compile: Compile
        let match: Match
    }

    private static let library = "libTrestlePatterns.so"
    private static let loaded: Result<Functions, PatternError> = load()
    private static let maximumReasonBytes = 256

    /// The loader searches the directory of the program, which its run path names.
    private static func load() -> Result<Functions, PatternError> {
        guard let handle = dlopen(library, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? library
            return .failure(PatternError("patterns cannot be checked here: \(reason)"))
        }
        guard let compile = dlsym(handle, "trestle_pattern_compile"),
            let match = dlsym(handle, "trestle_pattern_match")
        else { return .failure(PatternError("patterns cannot be checked here: \(library) is of another version")) }
        // These types match the declarations in the library's header.
        return .success(
            Functions(
                compile: unsafeBitCast(compile, to: Functions.Compile.self),
                match: unsafeBitCast(match, to: Functions.Match.self)))
    }

    /// Compiles a pattern in RE2's syntax.
    ///
    /// - Returns: The number of instructions of its program.
    static func compile(_ pattern: String) throws(PatternError) -> Int {
        let functions = try loaded.get()
        var reason = [CChar](repeating: 0, count: maximumReasonBytes)
        var pattern = pattern
        let count = pattern.withUTF8 { functions.compile($0.baseAddress, $0.count, &reason, reason.count) }
        if count >= 0 { return Int(count) }
        let bytes = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        throw PatternError("it is refused: \(String(decoding: bytes, as: UTF8.self))")
    }

    /// Whether a text (UTF-8) contains a match.
    ///
    /// - Parameters:
    ///   - pattern: A pattern that has been compiled before.
    ///   - atOnce: Whether the thread must not wait: it does not compile a pattern that has left the cache, and
    ///     does not wait for a pattern that another thread matches.
    static func matches(
        _ pattern: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer, atOnce: Bool
    ) throws(SchemaExcess) -> Bool {
        guard case .success(let functions) = loaded else { throw .memory }
        switch functions.match(pattern.baseAddress, pattern.count, text.baseAddress, text.count, atOnce ? 1 : 0) {
        case 0: return false
        case 1: return true
        case -2: throw .waiting
        default: throw .memory
        }
    }
}

/// The reason why a pattern is refused.
struct PatternError: Error, Equatable {
    /// The reason as the end of a sentence.
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
