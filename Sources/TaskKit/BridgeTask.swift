/// A task with typed options and a typed result, the most common kind.
///
///     struct Greet: BridgeTask {
///         static let name = "greet"
///         static let summary = "Greets somebody by name."
///         struct Options: Codable, Sendable { var who: String }
///         struct Result: Codable, Sendable { var greeting: String }
///
///         func run(_ options: Options, _ call: Call) async throws -> Result {
///             Result(greeting: "Hello, \(options.who)")
///         }
///     }
///
/// One value of the type serves every call of the task. Calls can overlap at each `await`.
public protocol BridgeTask: Sendable {
    /// The type of the options that the caller sends. Options that do not fit are answered with `options.invalid`, with
    /// the path, the expected type and the value found; `run` is not called in that case. Keys that the type does not
    /// have are ignored. The default accepts any object and reads nothing of it.
    associatedtype Options: Decodable & Sendable = Empty

    /// The type of the result that the caller receives. The default: `{}`.
    associatedtype Result: Codable & Sendable = Empty

    /// The type of the intermediate results, if the task sends any: the values passed to `Call.reportProgress`,
    /// described to callers. The default: the task sends none.
    associatedtype Progress: Codable & Sendable = Never

    /// The name that callers use: letters, digits, `-` and `_`, in parts joined by dots, at most 128 bytes, beginning
    /// with a letter. The first parts `bridge`, `plugin` and `rpc` are reserved for the daemon.
    static var name: String { get }

    /// One sentence for `bridge.tasks` and `trestle tasks`.
    static var summary: String { get }

    /// Permission, deadline, concurrency, visibility. The default: callers that the policy admits, the daemon's
    /// deadline, any number of calls in parallel.
    static var settings: TaskSettings { get }

    /// The JSON Schema of the options; `nil`, the default, to derive it from `Options`.
    static var optionsSchema: JSON? { get }

    /// The JSON Schema of the result; `nil`, the default, to derive it from `Result`.
    static var resultSchema: JSON? { get }

    /// The JSON Schema of the progress; `nil`, the default, to derive it from `Progress`.
    static var progressSchema: JSON? { get }

    /// Does the work of one call.
    ///
    /// - It runs on the daemon's loop thread, as does everything it awaits that has no executor of its own. Up to its
    ///   first suspension it runs before the next call begins. It must not block: see `Call.blocking` and
    ///   `BlockingThreads`.
    /// - The value that it returns or throws is the one callback of the call. The caller receives a `BridgeError`
    ///   unchanged, a `JSONMismatch` as `options.invalid`, a `CancellationError` as `call.cancelled`, and any other
    ///   error as `internal` with its description.
    /// - When the caller cancels or disconnects, or the deadline passes, the Swift task that this runs in is cancelled.
    ///   A value returned after that is dropped.
    func run(_ options: Options, _ call: Call) async throws -> Result
}

/// A task that answers without awaiting anything, such as a lookup in memory or a sum. `run` is written without
/// `async`, so a call costs no switch to a Swift task and back.
///
///     struct Sign: ImmediateTask {
///         ...
///         func run(_ options: Options, _ call: Call) throws -> Result { Result(sign: options.number.signum()) }
///     }
public protocol ImmediateTask: BridgeTask {
    /// Does the work of one call, under the rules of `BridgeTask.run`: on the daemon's loop thread, without blocking.
    /// It runs in no Swift task that could be cancelled.
    func run(_ options: Options, _ call: Call) throws -> Result
}

extension BridgeTask {
    /// No settings of its own.
    public static var settings: TaskSettings { TaskSettings() }
    /// Derived from `Options`.
    public static var optionsSchema: JSON? { nil }
    /// Derived from `Result`.
    public static var resultSchema: JSON? { nil }
    /// Derived from `Progress`.
    public static var progressSchema: JSON? { nil }
}

/// The daemon's settings for a task.
public struct TaskSettings: Sendable, Hashable {
    /// The name by which the policy's rules refer to the task; `nil` for the task's own name.
    public var permission: String?

    /// Whether members of the group `trestle` may call the task if no policy rule matches. Use it for tasks that every
    /// page needs and that concern no other users.
    public var isPublic: Bool

    /// The options that name something that not every caller may use, each with the permission that the policy must
    /// grant for that name. The daemon checks the permission before it calls the task, so the task may use the option's
    /// value.
    public var optionPermissions: [String: OptionPermission]

    /// The deadline of a call that specifies none.
    public var timeout: Timeout

    /// The maximum number of calls of the task that run in parallel, at least 1; the others wait. `nil` if the task
    /// sets no limit.
    public var concurrency: Int?

    /// The maximum length of a call's options, in bytes of JSON, at least 1. `nil` for 65,536 bytes, which the daemon's
    /// loop can decode without delaying other calls. A task that passes its options on as text, or decodes them on its
    /// own thread, may set more, up to ``anyOptionBytes``. The daemon refuses longer options before any code reads
    /// them.
    public var optionBytes: Int?

    static let usualOptionBytes = 65_536

    /// A value of ``optionBytes`` for options as long as a message may be.
    public static let anyOptionBytes = Int(Int32.max)

    /// Whether the task's options and results are secret: the daemon does not show or log them.
    public var isPrivate: Bool

    /// Creates settings; see the properties.
    public init(
        permission: String? = nil, isPublic: Bool = false, optionPermissions: [String: OptionPermission] = [:],
        timeout: Timeout = .standard, concurrency: Int? = nil, isPrivate: Bool = false, optionBytes: Int? = nil
    ) {
        self.permission = permission
        self.isPublic = isPublic
        self.optionPermissions = optionPermissions
        self.timeout = timeout
        self.concurrency = concurrency
        self.isPrivate = isPrivate
        self.optionBytes = optionBytes
    }
}

/// The permission that a caller needs to name something in an option. An option that is absent, or `null`, names
/// nothing.
public enum OptionPermission: String, Sendable, Hashable, CaseIterable {
    /// The permission to use data stored for another user or origin. The option is a namespace: a user id, a colon and
    /// an origin, such as `1000:https://notes.example`. A caller may always name its own namespace.
    case store
    /// The permission to send a request to an origin of the web. The option is an origin, such as
    /// `https://api.example`. If the caller needs no permission for its own site, its task omits the option.
    case reach
}

/// An empty object for options, results or data: `{}`.
public struct Empty: Codable, Sendable, Hashable {
    /// Creates the only value.
    public init() {}
}
