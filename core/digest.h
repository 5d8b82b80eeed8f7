// core/digest.h - SHA-1 and SHA-256, by which others name files (libcrypto's).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace agon {

class Digest {
 public:
  enum class Kind { sha1, sha256 };
  explicit Digest(Kind kind);
  ~Digest();
  void add(std::string_view bytes);
  std::string hex();  // once, at the end; lower case

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace agon
