/// The HTTP server that represents the internet, and the programs that use it.
final class Origin {
    private let process: ChildProcess
    private let port: Int

    /// - Parameter addresses: The number of hosts that it represents.
    init(_ bench: Bench, addresses: Int = 1) throws {
        process = try ChildProcess(bench.ahead() + [bench.place.program("origin"), String(addresses)])
        guard let port = keyedNumbers(process.firstLine())["port"] else { throw Failure("origin prints no port") }
        self.port = Int(port)
    }

    /// Returns the URL of a path, such as `plain/150`.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    func stop() { process.stop() }
}

/// The results of `curl-direct`.
struct CurlFigures {
    var callsPerSecond, megabytesPerSecond, p50, cpu: Double
}

extension Bench {
    /// Fetches a URL repeatedly with bare libcurl.
    ///
    /// - Parameters:
    ///   - field: A further line of the request.
    ///   - seconds: The length of the measurement; `nil` for that on the command line.
    func curl(_ url: String, inFlight: Int, field: String? = nil, seconds: Double? = nil) throws -> CurlFigures {
        let command = [place.program("curl-direct"), url, String(inFlight), String(seconds ?? self.seconds)]
        let line = try ChildProcess(ahead() + command + (field.map { [$0] } ?? [])).finish()
        let values = keyedNumbers(line)
        guard let calls = values["calls_per_second"], let bytes = values["megabytes_per_second"],
            let p50 = values["p50_us"], let cpu = values["cpu_us"]
        else { throw Failure("curl-direct printed an unknown line: \(line)") }
        return CurlFigures(callsPerSecond: calls, megabytesPerSecond: bytes, p50: p50, cpu: cpu)
    }

    /// Starts a daemon whose plugin Fetch reaches ``Origin``.
    ///
    /// - Parameter section: Further settings of the plugin.
    func startFetchDaemon(_ section: String = "") throws -> Server {
        let settings = "[plugins.fetch]\nprivate_networks = [\"127.0.0.0/8\"]\n\(section)"
        return try startDaemon(DaemonSettings(configuration: settings, isPinned: false))
    }
}

extension Calls {
    /// Returns a call of `http.fetch` that is answered with status 200.
    ///
    /// - Parameter more: Further options, each after a comma.
    static func fetch(_ url: String, _ more: String = "") -> CallTemplate {
        call("http.fetch", options: #"{"url":"\#(url)"\#(more)}"#, result: #"{"status":200,%*}"#)
    }
}
