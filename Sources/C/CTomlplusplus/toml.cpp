// SPDX-License-Identifier: Apache-2.0
//
// toml++ behind a C interface. toml_document.h documents it.
#include "toml_document.h"

#include <algorithm>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

namespace {

toml_text borrowed(std::string_view text) {
    return {text.data(), text.size()};
}

toml_place place(const toml::source_position &position) {
    return {position.line, position.column};
}

class Walk {
  public:
    explicit Walk(const toml_visitor &visitor) : visitor_(visitor) {}

    // Returns false if the visitor has ended the walk.
    bool show(const toml::node &value, const toml::key *key) {
        toml_node shown{};
        shown.place = place(value.source().begin);
        if (key != nullptr) {
            shown.has_key = true;
            shown.key = borrowed(key->str());
            shown.key_place = place(key->source().begin);
        }
        return value.visit([&](const auto &typed) { return this->enter(typed, shown); });
    }

  private:
    const toml_visitor &visitor_;

    bool enter(const toml::table &table, toml_node &shown) {
        shown.kind = TOML_KIND_TABLE;
        if (!visitor_.enter(visitor_.context, &shown)) {
            return false;
        }
        for (const auto &[key, value] : in_document_order(table)) {
            if (!show(*value, key)) {
                return false;
            }
        }
        visitor_.leave(visitor_.context);
        return true;
    }

    bool enter(const toml::array &array, toml_node &shown) {
        shown.kind = TOML_KIND_ARRAY;
        if (!visitor_.enter(visitor_.context, &shown)) {
            return false;
        }
        for (const auto &item : array) {
            if (!show(item, nullptr)) {
                return false;
            }
        }
        visitor_.leave(visitor_.context);
        return true;
    }

    bool enter(const toml::value<std::string> &value, toml_node &shown) {
        shown.kind = TOML_KIND_STRING;
        shown.text = borrowed(value.get());
        return visitor_.enter(visitor_.context, &shown);
    }

    bool enter(const toml::value<int64_t> &value, toml_node &shown) {
        shown.kind = TOML_KIND_INTEGER;
        shown.integer = value.get();
        return visitor_.enter(visitor_.context, &shown);
    }

    bool enter(const toml::value<double> &value, toml_node &shown) {
        shown.kind = TOML_KIND_FLOAT;
        shown.real = value.get();
        return visitor_.enter(visitor_.context, &shown);
    }

    bool enter(const toml::value<bool> &value, toml_node &shown) {
        shown.kind = TOML_KIND_BOOLEAN;
        shown.boolean = value.get();
        return visitor_.enter(visitor_.context, &shown);
    }

    // The three kinds of dates and times.
    template <typename Date>
    bool enter(const toml::value<Date> &value, toml_node &shown) {
        std::ostringstream stream;
        stream << value.get();
        const std::string text = stream.str();
        shown.kind = TOML_KIND_DATE;
        shown.text = borrowed(text);
        return visitor_.enter(visitor_.context, &shown);
    }

    // toml++ keeps a table's keys sorted by name; their positions give the order in which they were written.
    static std::vector<std::pair<const toml::key *, const toml::node *>> in_document_order(const toml::table &table) {
        std::vector<std::pair<const toml::key *, const toml::node *>> entries;
        entries.reserve(table.size());
        for (const auto &[key, value] : table) {
            entries.emplace_back(&key, &value);
        }
        std::sort(entries.begin(), entries.end(), [](const auto &left, const auto &right) {
            return left.first->source().begin < right.first->source().begin;
        });
        return entries;
    }
};

} // namespace

void toml_read(toml_text text, const toml_visitor *visitor) {
    try {
        const toml::table root = toml::parse(std::string_view(text.data, text.size));
        Walk(*visitor).show(root, nullptr);
    } catch (const toml::parse_error &error) {
        visitor->fail(visitor->context, place(error.source().begin), borrowed(error.description()));
    } catch (const std::exception &error) {
        visitor->fail(visitor->context, toml_place{}, borrowed(error.what()));
    } catch (...) {
        visitor->fail(visitor->context, toml_place{}, borrowed("toml++ failed without a reason"));
    }
}
