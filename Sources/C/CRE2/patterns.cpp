// SPDX-License-Identifier: Apache-2.0
//
// RE2 behind a C interface. trestle_patterns.h documents it.
#include "trestle_patterns.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <re2/re2.h>

namespace {

// The memory that RE2 may use for one pattern: its program, and the automaton that grows as texts are matched. The
// smaller amount is sufficient for most patterns; a class of many characters needs the larger one.
constexpr size_t small_bytes = 64 << 10;
constexpr size_t large_bytes = 1 << 20;
// The limit for all patterns together. The patterns of one schema fit at the same time.
constexpr size_t cache_bytes = 16 << 20;

std::unique_ptr<re2::RE2> compiled(std::string_view pattern, size_t bytes) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_max_mem(static_cast<int64_t>(bytes));
    return std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

// A compiled pattern, possibly an invalid one.
struct Program {
    explicit Program(std::string_view pattern) : program(compiled(pattern, small_bytes)), bytes(small_bytes) {
        if (program->error_code() == re2::RE2::ErrorPatternTooLarge) {
            program = compiled(pattern, large_bytes);
            bytes = large_bytes;
        }
    }

    // Locked during a match. RE2 locks the automaton for a whole text, so a thread that may not wait must not use it at
    // the same time as another thread.
    std::mutex in_use;
    std::unique_ptr<re2::RE2> program;
    size_t bytes;
};

// The mutex is locked only for a look-up: patterns are compiled, matched and freed without it.
class Cache {
  public:
    // Returns null if the pattern is not in the cache.
    std::shared_ptr<Program> find(std::string_view pattern) {
        const std::lock_guard<std::mutex> lock(mutex_);
        auto known = index_.find(pattern);
        if (known == index_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, known->second);
        return entries_.front();
    }

    // Returns the pattern, and compiles it if it is not in the cache. An invalid pattern is not stored.
    std::shared_ptr<Program> make(std::string_view pattern) {
        if (auto known = find(pattern)) return known;
        auto made = std::make_shared<Program>(pattern);
        // An invalid pattern is never matched, and RE2 does not limit the memory that it keeps for it.
        if (!made->program->ok()) return made;
        // The entries that leave the cache, freed after the mutex is unlocked.
        std::list<std::shared_ptr<Program>> left;
        const std::lock_guard<std::mutex> lock(mutex_);
        auto known = index_.find(pattern);
        if (known != index_.end()) return *known->second;
        entries_.push_front(made);
        try {
            // The key is the text that the program itself stores.
            index_.emplace(made->program->pattern(), entries_.begin());
        } catch (...) {
            entries_.pop_front();
            throw;
        }
        bytes_ += made->bytes;
        while (bytes_ > cache_bytes) {
            bytes_ -= entries_.back()->bytes;
            index_.erase(entries_.back()->program->pattern());
            left.splice(left.begin(), entries_, std::prev(entries_.end()));
        }
        return made;
    }

  private:
    std::mutex mutex_;
    // The most recently used entry first.
    std::list<std::shared_ptr<Program>> entries_;
    std::unordered_map<std::string_view, std::list<std::shared_ptr<Program>>::iterator> index_;
    size_t bytes_ = 0;
};

Cache &cache() {
    // Never freed: threads may still match while the process ends.
    static Cache *const shared = new Cache;
    return *shared;
}

}  // namespace

extern "C" int32_t trestle_pattern_compile(const char *pattern, size_t size, char *reason, size_t reason_size) {
    std::string said = "there is not enough memory";
    try {
        const auto made = cache().make({pattern, size});
        if (made->program->ok()) return made->program->ProgramSize();
        said = made->program->error();
    } catch (const std::exception &) {
        // `said` already contains the reason.
    }
    if (reason_size > 0) {
        const size_t count = std::min(said.size(), reason_size - 1);
        std::memcpy(reason, said.data(), count);
        reason[count] = 0;
    }
    return -1;
}

extern "C" int32_t trestle_pattern_match(
    const char *pattern, size_t size, const char *text, size_t text_size, int32_t at_once) {
    try {
        const auto known = at_once ? cache().find({pattern, size}) : cache().make({pattern, size});
        if (!known) return -2;
        std::unique_lock<std::mutex> lock(known->in_use, std::defer_lock);
        if (at_once ? !lock.try_lock() : (lock.lock(), false)) return -2;
        const re2::RE2 &program = *known->program;
        const re2::StringPiece whole(text, text_size);
        return program.ok() && program.Match(whole, 0, text_size, re2::RE2::UNANCHORED, nullptr, 0) ? 1 : 0;
    } catch (const std::exception &) {
        return -1;
    }
}
