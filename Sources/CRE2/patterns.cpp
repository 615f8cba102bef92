// SPDX-License-Identifier: Apache-2.0
//
// RE2, behind a C face: see trestle_patterns.h for what it promises.
#include "trestle_patterns.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <re2/re2.h>

namespace {

// What RE2 may use for one pattern: its program, and the automaton that grows as texts are matched. Most patterns fit the
// smaller amount; a class of many characters needs the larger one.
constexpr size_t small_bytes = 64 << 10;
constexpr size_t large_bytes = 1 << 20;
// Of all patterns together. The patterns that one schema may have fit at the same time.
constexpr size_t cache_bytes = 16 << 20;

std::unique_ptr<re2::RE2> compiled(std::string_view pattern, size_t bytes) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_max_mem(static_cast<int64_t>(bytes));
    return std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

class Cache {
  public:
    // A pattern, which may be a broken one; valid until the next call.
    const re2::RE2 &find(std::string_view pattern) {
        auto known = index_.find(pattern);
        if (known != index_.end()) {
            entries_.splice(entries_.begin(), entries_, known->second);
            return *entries_.front().program;
        }
        Entry entry{compiled(pattern, small_bytes), small_bytes};
        if (entry.program->error_code() == re2::RE2::ErrorPatternTooLarge) {
            entry = Entry{compiled(pattern, large_bytes), large_bytes};
        }
        entries_.push_front(std::move(entry));
        try {
            // The key is the text that the entry itself keeps.
            index_.emplace(entries_.front().program->pattern(), entries_.begin());
        } catch (...) {
            entries_.pop_front();
            throw;
        }
        bytes_ += entries_.front().bytes;
        while (bytes_ > cache_bytes) {
            bytes_ -= entries_.back().bytes;
            index_.erase(entries_.back().program->pattern());
            entries_.pop_back();
        }
        return *entries_.front().program;
    }

  private:
    struct Entry {
        std::unique_ptr<re2::RE2> program;
        size_t bytes;
    };

    // The most recently used one first.
    std::list<Entry> entries_;
    std::unordered_map<std::string_view, std::list<Entry>::iterator> index_;
    size_t bytes_ = 0;
};

std::mutex mutex;

Cache &cache() {
    // Never freed: threads may still match while the process ends.
    static Cache *const shared = new Cache;
    return *shared;
}

}  // namespace

extern "C" int32_t trestle_pattern_compile(const char *pattern, size_t size, char *reason, size_t reason_size) {
    std::string said = "there is not enough memory";
    try {
        const std::lock_guard<std::mutex> lock(mutex);
        const re2::RE2 &program = cache().find({pattern, size});
        if (program.ok()) return program.ProgramSize();
        said = program.error();
    } catch (const std::exception &) {
        // Said above.
    }
    if (reason_size > 0) {
        const size_t count = std::min(said.size(), reason_size - 1);
        std::memcpy(reason, said.data(), count);
        reason[count] = 0;
    }
    return -1;
}

extern "C" int32_t trestle_pattern_match(const char *pattern, size_t size, const char *text, size_t text_size) {
    try {
        const std::lock_guard<std::mutex> lock(mutex);
        const re2::RE2 &program = cache().find({pattern, size});
        const re2::StringPiece whole(text, text_size);
        return program.ok() && program.Match(whole, 0, text_size, re2::RE2::UNANCHORED, nullptr, 0) ? 1 : 0;
    } catch (const std::exception &) {
        return -1;
    }
}
