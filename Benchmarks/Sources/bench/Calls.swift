/// A call in the template language of the load generator.
struct CallTemplate {
    var message: String
    var reply: String
    /// Whether replies have no number.
    var isInOrder = false
    /// Further arguments of the load generator.
    var arguments: [String] = []
}

/// The calls that are measured.
enum Calls {
    /// The length of a call with its line end, if its number has seven digits.
    static let callBytes = 150
    static let forwardedTask = "bench.forwarded"

    /// `Echo`, of ``callBytes``.
    static let echo = {
        let echo = call("Echo", options: echoOptions)
        // The template has two bytes for the seven digits, and two for the line feed.
        precondition(echo.message.utf8.count + 5 - 1 == callBytes)
        return echo
    }()
    /// The same call of a task that a client provides; longer by its name.
    static let forwarded = call(forwardedTask, options: echoOptions)
    /// The call of the floor, with the message of Echo.
    static let floor = CallTemplate(message: echo.message, reply: echo.message)

    private static let echoOptions =
        #"{"content":"Hello, this is a message of usual size.","btn":["OK","Cancel"],"number":12345,"flag":true}"#

    static func call(_ task: String, options: String, result: String? = nil) -> CallTemplate {
        CallTemplate(
            message: #"{"task":"\#(task)","options":\#(options),"callbackId":%I}\n"#,
            reply: #"{"callbackId":%I,"result":\#(result ?? options)}\n"#)
    }

    // MARK: Typed and raw

    private static let content = "A message of the usual size, for a person to read"
    private static let order = #"{"content":"\#(content)","buttons":["OK","Cancel"],"number":12345,"flag":true}"#
    private static let confirmation = #"{"content":"\#(content)","number":12347,"flag":false}"#

    static let typed = call("bench.typed", options: order, result: confirmation)
    static let constant = call("bench.constant", options: order, result: confirmation)

    // MARK: Dialects

    /// The task of ``constant``, called in each dialect; the native one first.
    static let dialects: [(name: String, call: CallTemplate)] = [
        ("native", constant),
        (
            "WebViewJavascriptBridge",
            CallTemplate(
                message: #"{"handlerName":"bench.constant","data":\#(order),"callbackId":%I}\n"#,
                reply: #"{"responseId":%I,"responseData":\#(confirmation)}\n"#)
        ),
        (
            "JSON-RPC",
            CallTemplate(
                message: #"{"jsonrpc":"2.0","method":"bench.constant","params":\#(order),"id":%I}\n"#,
                reply: #"{"jsonrpc":"2.0","id":%I,"result":\#(confirmation)}\n"#)
        ),
        (
            "URL",
            CallTemplate(
                message: #"{"url":"jxaction://bench/constant?content=A+message+of+the+usual+size+for+a+person"#
                    + #"+to+read&number=12345&flag=true","callbackId":%I}\n"#,
                reply: #"{"callbackId":%I,"result":\#(confirmation)}\n"#)
        ),
        (
            "function call",
            CallTemplate(
                message: #"{"funName":"bench.constant","value":\#(order),"callbackId":%I}\n"#,
                reply: #"{"callbackId":%I,"result":\#(confirmation)}\n"#)
        ),
        (
            "Capacitor",
            CallTemplate(
                message: #"{"callbackId":%I,"pluginId":"bench","methodName":"constant","options":\#(order)}\n"#,
                reply: #"{"callbackId":%I,"pluginId":"bench","methodName":"constant","save":false,"success":true,"#
                    + #""data":\#(confirmation)}\n"#)
        ),
    ]

    // MARK: Redis

    private static let redisValueBytes = echo.reply.utf8.count - #"%I\n"#.utf8.count + 8
    private static let redisValue = String(repeating: "x", count: redisValueBytes)
    static let redisSet = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$\(redisValueBytes)\r\n\(redisValue)\r\n"
    static let redisGet = CallTemplate(
        message: #"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"#, reply: #"$\#(redisValueBytes)\r\n\#(redisValue)\r\n"#,
        isInOrder: true)
    static let redisPing = CallTemplate(message: #"*1\r\n$4\r\nPING\r\n"#, reply: #"+PONG\r\n"#, isInOrder: true)

    // MARK: Records

    private static let record =
        #"{"name":"record %V","number":1234567,"text":"0123456789abcdef0123456789abcdef0123456789abcdef"}"#
    private static let key = "00000000-0000-7000-8000-%V"

    static let create = call(
        "persistence.create", options: #"{"table":"bench","record":\#(record)}"#, result: #"{"key":"%*","version":%*}"#)
    /// Creates a record for ``read``; its key contains the number that the load generator counts.
    static let fill = call(
        "persistence.create", options: #"{"table":"bench","key":"\#(key)","record":\#(record)}"#,
        result: #"{"key":"\#(key)","version":%*}"#)
    static let read = call(
        "persistence.read", options: #"{"table":"bench","key":"\#(key)"}"#,
        result: #"{"key":"\#(key)","version":%*,"record":\#(record)}"#)

    // MARK: Large messages

    /// Returns Echo with the content of a file, and the same for the floor.
    static func large(_ file: String) -> (echo: CallTemplate, floor: CallTemplate) {
        var echo = call("Echo", options: "%P")
        echo.arguments = ["--payload-file", file]
        let floor = CallTemplate(message: echo.message, reply: echo.message, arguments: echo.arguments)
        return (echo, floor)
    }

    // MARK: Readiness

    static let probe = (line: #"{"task":"Echo","callbackId":1}"# + "\n", answer: #""result""#)
    static let probeOfPlugin = (line: #"{"task":"bench.constant","callbackId":1}"# + "\n", answer: #""result""#)
}
