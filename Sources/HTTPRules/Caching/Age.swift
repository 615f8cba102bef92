/// The age of a response: RFC 9111, section 4.2.3.
public enum Age {
    /// Returns the age of a stored response.
    ///
    /// If the clock was set back since the response arrived, the difference between the two times is the best estimate
    /// of the elapsed time. So a response from the future ages as fast as one from the past.
    ///
    /// - Parameters:
    ///   - fields: The response's fields.
    ///   - requestedAt: The time at which its request was sent.
    ///   - receivedAt: The time at which it arrived.
    ///   - now: The time.
    public static func current(
        of fields: HeaderList, requestedAt: UnixTime, receivedAt: UnixTime, now: UnixTime
    ) -> Duration {
        let resident = TimeSpan.between(receivedAt, now)
        return initial(of: fields, requestedAt: requestedAt, receivedAt: receivedAt)
            + (resident < .zero ? .zero - resident : resident)
    }

    /// Returns the age of a response at its arrival: the larger of the ages that its `Date` and its `Age` give.
    static func initial(of fields: HeaderList, requestedAt: UnixTime, receivedAt: UnixTime) -> Duration {
        let date = Freshness.date(of: fields, receivedAt: receivedAt)
        let apparent = max(.zero, TimeSpan.between(date, receivedAt))
        let delay = max(.zero, TimeSpan.between(requestedAt, receivedAt))
        return max(apparent, value(of: fields) + delay)
    }

    /// Returns the value of `Age`: RFC 9111, section 5.1. Of several values the first is used; an invalid number counts
    /// as zero.
    static func value(of fields: HeaderList) -> Duration {
        fields.first(named: FieldName.age).flatMap { line in
            FieldScanner.members(of: line).first.flatMap { DeltaSeconds.parse($0) }
        } ?? .zero
    }
}
