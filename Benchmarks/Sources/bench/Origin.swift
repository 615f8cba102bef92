/// The HTTP server that stands for the internet, and the programs that use it.
final class Origin {
    private let process: ChildProcess
    private let port: Int

    /// - Parameter addresses: How many hosts it is.
    init(_ bench: Bench, addresses: Int = 1) throws {
        process = try ChildProcess(bench.ahead() + [bench.place.program("origin"), String(addresses)])
        guard let port = keyedNumbers(process.firstLine())["port"] else { throw Failure("origin prints no port") }
        self.port = Int(port)
    }

    /// The URL of a path, such as `plain/150`.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    func stop() { process.stop() }
}

/// What `curl-direct` found out.
struct CurlFigures {
    var callsPerSecond, megabytesPerSecond, p50, cpu: Double
}

extension Bench {
    /// Bare libcurl, which fetches a URL again and again.
    ///
    /// - Parameter field: A further line of the request.
    func curl(_ url: String, inFlight: Int, field: String? = nil) throws -> CurlFigures {
        let command = [place.program("curl-direct"), url, String(inFlight), String(seconds)]
        let line = try ChildProcess(ahead() + command + (field.map { [$0] } ?? [])).finish()
        let values = keyedNumbers(line)
        guard let calls = values["calls_per_second"], let bytes = values["megabytes_per_second"],
            let p50 = values["p50_us"], let cpu = values["cpu_us"]
        else { throw Failure("curl-direct says nothing that is known: \(line)") }
        return CurlFigures(callsPerSecond: calls, megabytesPerSecond: bytes, p50: p50, cpu: cpu)
    }

    /// A daemon whose plugin Fetch reaches ``Origin``.
    ///
    /// - Parameter section: Further settings of the plugin.
    func startFetchDaemon(_ section: String = "") throws -> Server {
        let settings = "[plugins.fetch]\nprivate_networks = [\"127.0.0.0/8\"]\n\(section)"
        return try startDaemon(DaemonSettings(configuration: settings, isPinned: false))
    }
}

extension Calls {
    /// `http.fetch`, answered with status 200.
    ///
    /// - Parameter more: Further options, each behind a comma.
    static func fetch(_ url: String, _ more: String = "") -> CallTemplate {
        call("http.fetch", options: #"{"url":"\#(url)"\#(more)}"#, result: #"{"status":200,%*}"#)
    }
}
