// A value that rarely differs from the default `T()`, which then needs no memory of its size. Uses base/ only.
#ifndef GPB_SELDOM_H
#define GPB_SELDOM_H

#include <memory>
#include <utility>

#include "base/types.h"

namespace gpb {

inline bool is_usual(const VectorXd& values) { return values.size() == 0; }

// is_usual(const T&) defines which values are not stored.
template <class T>
class Seldom {
 public:
  Seldom() = default;
  Seldom(T value) { *this = std::move(value); }  // NOLINT(runtime/explicit)
  Seldom(const Seldom& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  Seldom(Seldom&&) noexcept = default;
  Seldom& operator=(const Seldom& other) {
    if (this != &other) held_ = other.held_ ? std::make_unique<T>(*other.held_) : nullptr;
    return *this;
  }
  Seldom& operator=(Seldom&&) noexcept = default;
  ~Seldom() = default;
  Seldom& operator=(T value) {
    if (is_usual(value)) held_.reset();
    else if (held_) *held_ = std::move(value);
    else held_ = std::make_unique<T>(std::move(value));
    return *this;
  }
  const T& get() const {
    static const T usual = T();
    return held_ ? *held_ : usual;
  }
  operator const T&() const { return get(); }  // NOLINT(google-explicit-constructor)
  const T* operator->() const { return &get(); }
  // For changes to the stored value. A value that becomes the default again stays stored.
  T& edit() {
    if (!held_) held_ = std::make_unique<T>();
    return *held_;
  }

 private:
  std::unique_ptr<T> held_;
};

}  // namespace gpb

#endif
