// SPDX-License-Identifier: Apache-2.0
//
// RE2, behind a C interface: see trestle_patterns.h for what it promises.
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

// What RE2 may use for one pattern: its program, and the automaton that grows as texts are matched. Most patterns fit
// the smaller amount; a class of many characters needs the larger one.
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

// A compiled pattern, which may be a broken one.
struct Program {
    explicit Program(std::string_view pattern) : program(compiled(pattern, small_bytes)), bytes(small_bytes) {
        if (program->error_code() == re2::RE2::ErrorPatternTooLarge) {
            program = compiled(pattern, large_bytes);
            bytes = large_bytes;
        }
    }

    // Held while it is matched: a thread that may not wait must not meet another one in the automaton, which locks
    // itself for as long as a whole text takes.
    std::mutex in_use;
    std::unique_ptr<re2::RE2> program;
    size_t bytes;
};

// Locked for as long as a look-up takes: patterns are compiled, matched and freed outside.
class Cache {
  public:
    // Null: it is not here.
    std::shared_ptr<Program> find(std::string_view pattern) {
        const std::lock_guard<std::mutex> lock(mutex_);
        auto known = index_.find(pattern);
        if (known == index_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, known->second);
        return entries_.front();
    }

    // The pattern; compiled where it is not here. A broken one is not kept.
    std::shared_ptr<Program> make(std::string_view pattern) {
        if (auto known = find(pattern)) return known;
        auto made = std::make_shared<Program>(pattern);
        // Nobody matches a broken one, and RE2 does not bound what it keeps of it.
        if (!made->program->ok()) return made;
        // What leaves the cache, freed behind the lock.
        std::list<std::shared_ptr<Program>> left;
        const std::lock_guard<std::mutex> lock(mutex_);
        auto known = index_.find(pattern);
        if (known != index_.end()) return *known->second;
        entries_.push_front(made);
        try {
            // The key is the text that the program itself keeps.
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
    // The most recently used one first.
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
        // Said above.
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
